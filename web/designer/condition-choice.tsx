/** Chooses when an element is drawn: always, or only if a field is filled, is empty, or has a certain value. */
import { Choice, Field } from '../controls/field.tsx';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { CONDITIONS, conditionOf, readCondition } from './filters.ts';

type Props = { editor: Editor; when: string | undefined; onWhen: (when: string | undefined) => void };

export function ConditionChoice({ editor, when, onWhen }: Props) {
  const { designer: words } = t.value;
  const fields = (editor.scene.value.document.fields ?? []).map(({ name }) => name);
  const read = when === undefined ? undefined : readCondition(when);
  if (fields.length === 0 || (when !== undefined && read === undefined)) return null;
  const names = [...new Set([...fields, ...(read === undefined ? [] : [read.field])])];
  return (
    <fieldset class="row condition">
      <legend class="unseen">{words.property.when}</legend>
      <Choice
        aria-label={words.conditionField}
        value={read?.field ?? ''}
        options={[{ value: '', words: words.always }, ...names.map((name) => ({ value: name, words: name }))]}
        onChoice={(field) =>
          onWhen(
            field === '' ? undefined : conditionOf(field, read?.condition ?? 'filled', read?.value ?? ''),
          )
        }
      />
      {read !== undefined && (
        <Choice
          aria-label={words.condition}
          value={read.condition}
          options={CONDITIONS.map((condition) => ({ value: condition, words: words.conditions[condition] }))}
          onChoice={(condition) =>
            onWhen(
              conditionOf(read.field, CONDITIONS.find((one) => one === condition) ?? 'filled', read.value),
            )
          }
        />
      )}
      {read?.condition === 'equals' && (
        <Field label={words.conditionValue}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              class="input"
              value={read.value}
              onInput={({ currentTarget }) => onWhen(conditionOf(read.field, 'equals', currentTarget.value))}
            />
          )}
        </Field>
      )}
    </fieldset>
  );
}
