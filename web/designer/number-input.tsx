/** A number field that takes a decimal point or comma. Text that is no number stays in the field, and changes nothing. */
import { useSignal } from '@preact/signals';
import { Field } from '../controls/field.tsx';
import { numeral, t } from '../texts/texts.ts';
import { rounded } from './document.ts';

type Props = {
  label: string;
  value: number | undefined;
  /** Shown while the field is empty: the default that counts then. */
  fallback?: string | undefined;
  hint?: string | undefined;
  step?: number;
  /** @returns whether the number was taken */
  onNumber: (value: number | undefined) => boolean;
  optional?: boolean;
};

export function NumberInput({ label, value, fallback, hint, step = 0.5, onNumber, optional = false }: Props) {
  /** What is being typed, as long as the field has the focus. */
  const typed = useSignal<string | undefined>(undefined);
  const fault = useSignal(false);
  const take = (text: string) => {
    typed.value = text;
    const plain = text.trim().replace(',', '.');
    const number = plain === '' ? undefined : Number(plain);
    const fits = plain === '' ? optional : Number.isFinite(number);
    fault.value = !fits || !onNumber(number);
  };
  const leave = () => {
    typed.value = undefined;
    fault.value = false;
  };
  const press = (event: KeyboardEvent) => {
    // Undo and redo are those of the label, not of the field, which shows the number that they lead to.
    if ((event.ctrlKey || event.metaKey) && /^[yz]$/i.test(event.key)) leave();
    const by = { ArrowUp: step, ArrowDown: -step }[event.key];
    if (by === undefined || value === undefined) return;
    event.preventDefault();
    if (onNumber(rounded(value + by))) typed.value = undefined;
  };
  return (
    <Field label={label} hint={hint} fault={fault.value ? t.value.designer.notValid : undefined}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          inputMode="decimal"
          class="input numbers"
          value={typed.value ?? (value === undefined ? '' : numeral(value))}
          placeholder={fallback}
          onInput={({ currentTarget }) => take(currentTarget.value)}
          onKeyDown={press}
          onBlur={leave}
        />
      )}
    </Field>
  );
}
