/** The dialog that imports templates from files: Platen's own JSON, or a label in ZPL. */
import { useSignal } from '@preact/signals';
import { type TemplateView, templateView } from '../../src/contract/admin.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Field } from '../controls/field.tsx';
import { placeWords } from '../controls/place-words.ts';
import { Problem } from '../controls/problem.tsx';
import { call, errorOf } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { templateWords } from './problem-words.ts';

type Outcome = { file: string; view?: TemplateView; problem?: Error };

export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { templates: words, general } = t.value;
  const outcomes = useSignal<readonly Outcome[]>([]);
  const take = async (files: FileList | null) => {
    for (const file of files ?? []) {
      const outcome = await imported(file);
      outcomes.value = [...outcomes.value, outcome];
    }
    onDone();
  };
  return (
    <Dialog title={words.importTitle} closes={general.close} onClose={onClose}>
      <Field label={words.importTitle} hint={words.importHint}>
        {(attributes) => (
          <input
            {...attributes}
            class="input"
            type="file"
            multiple
            accept=".json,.zpl,.prn,.txt,application/json"
            onChange={({ currentTarget }) => void take(currentTarget.files)}
          />
        )}
      </Field>
      <div class="stack tight" aria-live="polite">
        {outcomes.value.map(({ file, view, problem }, at) =>
          problem === undefined ? (
            <div key={`${file} ${at}`} class="note good">
              {words.imported(view?.name ?? file)}
              {view?.warnings !== undefined && view.warnings.length > 0 && (
                <ul class="small">
                  <li>{words.warnings}</li>
                  {view.warnings.slice(0, 10).map((problem) => (
                    <li key={`${problem.pointer} ${problem.message}`}>
                      {placeWords(problem.pointer, templateWords(problem))}
                    </li>
                  ))}
                </ul>
              )}
            </div>
          ) : (
            <div key={`${file} ${at}`} class="stack tight">
              <strong class="anywhere">{words.notTemplate(file)}</strong>
              <Problem problem={problem} />
            </div>
          ),
        )}
      </div>
    </Dialog>
  );
}

async function imported(file: File): Promise<Outcome> {
  try {
    const text = (await file.text()).replace(/^\uFEFF/, '');
    const body: unknown = text.trimStart().startsWith('{')
      ? JSON.parse(text)
      : { name: file.name.replace(/\.[a-z]{1,5}$/i, ''), language: 'zpl', source: text };
    return { file: file.name, view: await call(templateView, ofTenant('/templates'), { body }) };
  } catch (error) {
    // The browser's own message for bad JSON is not translated, and quotes the file.
    const problem = error instanceof SyntaxError ? new Error(t.value.templates.notJson) : error;
    return { file: file.name, problem: errorOf(problem) };
  }
}
