/** The control for one value of a label. The kind of the field decides which it is; none of them changes what is typed. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { LIMITS } from '../../src/contract/limits.ts';
import { base64Of } from '../controls/base64.ts';
import { Choice, Field } from '../controls/field.tsx';
import type { FieldFacts } from '../templates/saved-template.ts';
import { t } from '../texts/texts.ts';
import type { FieldKind } from './field-kinds.ts';

type Props = {
  field: FieldFacts;
  kind: FieldKind;
  fault: string | undefined;
  value: string;
  onText: (text: string) => void;
};

export function FieldControl({ field, kind, fault, value, onText }: Props) {
  const typing = useSignal(false);
  const list = useId();
  // A code that is still being typed is not marked as wrong for being too short.
  const unfinished =
    typing.value && kind.kind === 'digits' && /^\d*$/.test(value) && value.length < (kind.least ?? 1);
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
    onText(currentTarget.value);
  return (
    <Field label={field.caption} hint={hintOf(field, kind, value)} fault={unfinished ? undefined : fault}>
      {(attributes) => {
        if (kind.kind === 'choice' || kind.kind === 'yes-no') {
          return <Choice {...attributes} value={value} options={optionsOf(field, kind)} onChoice={onText} />;
        }
        if (kind.kind === 'lines') {
          return (
            <textarea
              class="input"
              {...attributes}
              rows={2}
              maxLength={LIMITS.valueLength}
              value={value}
              onInput={onInput}
            />
          );
        }
        if (kind.kind === 'document') {
          return (
            <input
              type="file"
              class="input"
              {...attributes}
              accept="application/pdf,image/png,image/jpeg,.zpl,.epl,.tspl,.prn,.txt"
              onChange={async ({ currentTarget: { files } }) => {
                const [file] = files ?? [];
                if (file !== undefined) onText(await base64Of(file));
              }}
            />
          );
        }
        const shared = {
          class: 'input',
          ...attributes,
          autocomplete: 'off',
          value,
          onInput,
          onFocus: () => {
            typing.value = true;
          },
          onBlur: () => {
            typing.value = false;
          },
        } as const;
        switch (kind.kind) {
          case 'date':
            return kind.time ? (
              <input type="datetime-local" max="9999-12-31T23:59" {...shared} />
            ) : (
              <input type="date" max="9999-12-31" {...shared} />
            );
          // Not `type="number"`, which drops leading zeros.
          case 'digits':
            return <input type="text" inputMode="numeric" {...shared} />;
          case 'number':
            return <input type="text" inputMode="decimal" {...shared} />;
          case 'suggested':
            return (
              <>
                <input type="text" list={list} {...shared} />
                <datalist id={list}>
                  {kind.values.map((one) => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
              </>
            );
          default:
            return <input type="text" {...shared} />;
        }
      }}
    </Field>
  );
}

function optionsOf(field: FieldFacts, kind: FieldKind) {
  const { print: words } = t.value;
  const usual = field.default ?? '';
  const [none, no] =
    usual === '' ? [words.leaveEmpty, words.no] : [words.default(usual), words.default(usual)];
  if (kind.kind !== 'choice') {
    const options = [
      { value: '', words: no },
      { value: 'true', words: words.yes },
    ];
    // An empty value means the default, so "no" needs a value of its own.
    return usual === '' ? options : [...options, { value: 'false', words: words.no }];
  }
  return [{ value: '', words: none }, ...kind.values.map((value) => ({ value, words: value }))];
}

function hintOf(field: FieldFacts, kind: FieldKind, value: string): string | undefined {
  const { print: words } = t.value;
  if (kind.kind === 'choice' || kind.kind === 'yes-no') return undefined;
  // When people come back to the page, the value is still there, but the browser's field names no file: so the size is shown.
  if (kind.kind === 'document')
    return value === '' ? words.documentKind : words.documentSize(Math.ceil((value.length * 3) / 4 / 1_000));
  const usual = field.default ?? '';
  const sample = field.sample ?? '';
  const example = usual !== '' ? words.default(usual) : sample === '' ? undefined : words.sample(sample);
  if (kind.kind !== 'digits') return example;
  const digits = words.digits(value.length, kind.least, kind.most);
  return example === undefined ? digits : `${digits}; ${example}`;
}
