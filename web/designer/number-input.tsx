/** A number that one types, with a point or a comma; what is no number yet stays in the field, and changes nothing. */
import { useSignal } from '@preact/signals';
import { Field } from '../controls/field.tsx';
import { t } from '../texts/texts.ts';
import { rounded } from './document.ts';

type Props = {
  label: string;
  value: number | undefined;
  /** What stands there in grey where nothing is said. */
  fallback?: string | undefined;
  hint?: string | undefined;
  step?: number;
  /** @returns whether it was taken */
  onNumber: (value: number | undefined) => boolean;
  /** Whether it may be left empty. */
  optional?: boolean;
};

export function NumberInput({ label, value, fallback, hint, step = 0.5, onNumber, optional = false }: Props) {
  /** What is being typed, as long as the focus is here. */
  const typed = useSignal<string | undefined>(undefined);
  const fault = useSignal(false);
  const take = (text: string) => {
    typed.value = text;
    const plain = text.trim().replace(',', '.');
    const number = plain === '' ? undefined : Number(plain);
    const fits = plain === '' ? optional : Number.isFinite(number);
    fault.value = !fits || !onNumber(number);
  };
  const steps = (event: KeyboardEvent) => {
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
          value={typed.value ?? (value === undefined ? '' : String(value))}
          placeholder={fallback}
          onInput={({ currentTarget }) => take(currentTarget.value)}
          onKeyDown={steps}
          onBlur={() => {
            typed.value = undefined;
            fault.value = false;
          }}
        />
      )}
    </Field>
  );
}
