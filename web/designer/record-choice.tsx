/** Chooses the values with which the label is shown: samples, none, typed ones, or the rows of a file. */
import { useSignal } from '@preact/signals';
import { ChoiceField, TextField } from '../controls/field.tsx';
import { FileField } from '../controls/file-field.tsx';
import { readFile, SHEET_FILES, SheetFileError } from '../print/sheet-file.ts';
import { listed, t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { type Records, SOURCES } from './records.ts';

export function RecordChoice({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { records } = editor;
  const { fields = [] } = editor.scene.value.document;
  return (
    <section class="stack tight">
      <ChoiceField
        label={words.record}
        value={records.source.value}
        options={SOURCES.map((source) => ({ value: source, words: words.recordFrom[source] }))}
        onChoice={(source) => records.choose(SOURCES.find((one) => one === source) ?? 'samples')}
      />
      {records.source.value === 'own' &&
        fields.map(({ name }) => (
          <TextField
            key={name}
            label={name}
            value={String(records.own.value[name] ?? '')}
            onText={(text) => {
              records.own.value = { ...records.own.value, [name]: text };
            }}
          />
        ))}
      {records.source.value === 'file' && <RecordFile records={records} />}
    </section>
  );
}

function RecordFile({ records }: { records: Records }) {
  const { print, designer: words } = t.value;
  const fault = useSignal<string | undefined>(undefined);
  const take = async (file: File) => {
    fault.value = undefined;
    try {
      records.open(await readFile(file));
    } catch (error) {
      const tooLarge = error instanceof SheetFileError && error.fault === 'too-large';
      fault.value = tooLarge ? print.fileTooLarge : print.notCsv;
    }
  };
  return (
    <>
      <FileField
        label={print.file}
        fault={fault.value}
        accept={SHEET_FILES}
        onFile={(file) => void take(file)}
      />
      <RecordSteps records={records} />
      {records.table.value !== undefined && records.missing.value.length > 0 && (
        <p class="note warn small anywhere">{words.noColumn(listed(records.missing.value))}</p>
      )}
    </>
  );
}

/** Buttons for stepping through the rows of the file. There are none without a file. */
export function RecordSteps({ records }: { records: Records }) {
  const { designer: words, print } = t.value;
  const count = records.rows.value.length;
  const row = records.row.value;
  if (records.source.value !== 'file' || count === 0) return null;
  return (
    <fieldset class="row">
      <legend class="unseen">{words.recordRow}</legend>
      <button
        type="button"
        class="button square"
        aria-label={print.previous}
        disabled={row === 0}
        onClick={() => records.step(-1)}
      >
        ←
      </button>
      <input
        type="number"
        class="input numbers row-number"
        aria-label={words.recordRow}
        min={1}
        max={count}
        value={row + 1}
        onInput={({ currentTarget }) => records.go(currentTarget.valueAsNumber - 1)}
      />
      <span class="muted">{words.ofRows(count)}</span>
      <button
        type="button"
        class="button square"
        aria-label={print.next}
        disabled={row + 1 >= count}
        onClick={() => records.step(1)}
      >
        →
      </button>
    </fieldset>
  );
}
