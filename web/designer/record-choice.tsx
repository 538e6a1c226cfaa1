/** Which values the label is shown with: the samples of its fields, none, or some that are typed here. */
import { useSignal } from '@preact/signals';
import { ChoiceField, TextField } from '../controls/field.tsx';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';

export function RecordChoice({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const source = useSignal('samples');
  const fields = editor.scene.value.document.fields ?? [];
  const { record } = editor;
  const samples = () => Object.fromEntries(fields.map(({ name, sample }) => [name, sample ?? '']));
  const choose = (kind: string) => {
    source.value = kind;
    // `null` is a value that is not there: the default is printed.
    const none = () => Object.fromEntries(fields.map(({ name }) => [name, null]));
    record.value = kind === 'samples' ? undefined : kind === 'empty' ? none() : samples();
  };
  return (
    <section class="stack tight">
      <ChoiceField
        label={words.record}
        value={source.value}
        options={[
          { value: 'samples', words: words.recordSamples },
          { value: 'empty', words: words.recordEmpty },
          { value: 'own', words: words.recordOwn },
        ]}
        onChoice={choose}
      />
      {source.value === 'own' &&
        fields.map(({ name }) => (
          <TextField
            key={name}
            label={name}
            value={String(record.value?.[name] ?? '')}
            onText={(text) => {
              record.value = { ...record.value, [name]: text };
            }}
          />
        ))}
    </section>
  );
}
