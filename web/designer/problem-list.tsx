/** The problems that the service finds with the label, each with its element and, if there is one, its fix. */
import { templateWords } from '../templates/problem-words.ts';
import { t } from '../texts/texts.ts';
import { placed } from './document.ts';
import type { Found } from './drawing.ts';
import type { Editor } from './editor.ts';
import { fixOf } from './fixes.ts';
import { nameOf } from './naming.ts';

/** The problems of one element, in words. */
export function problemsOf(editor: Editor, key: number): string[] {
  const all = editor.drawing.last.value?.problems ?? [];
  return all.filter((problem) => problem.key === key).map(templateWords);
}

/** @param of the key of one element; left out: the problems of all elements are listed, each with the element's name */
export function ProblemList({ editor, of }: { editor: Editor; of?: number }) {
  const { designer: words } = t.value;
  const all = editor.drawing.last.value?.problems ?? [];
  const found = of === undefined ? all : all.filter(({ key }) => key === of);
  if (found.length === 0) return of === undefined ? <p class="muted">{words.noProblems}</p> : null;
  const names = new Map(placed(editor.scene.value).map(({ key, element }) => [key, nameOf(element)]));
  return (
    <ul class="stack tight problems" aria-label={words.problems}>
      {found.map((problem) => (
        <li
          key={`${problem.pointer} ${problem.message}`}
          class={problem.severity === 'error' ? 'note bad small' : 'note warn small'}
        >
          {of === undefined && problem.key !== undefined && (
            <button
              type="button"
              class="link anywhere"
              onClick={() => {
                if (problem.key !== undefined) editor.select([problem.key]);
              }}
            >
              {names.get(problem.key) ?? words.label}
            </button>
          )}
          <span>{templateWords(problem)}</span>
          <Fix editor={editor} problem={problem} />
        </li>
      ))}
    </ul>
  );
}

/** A button that mends the problem, if exactly one change does. */
function Fix({ editor, problem }: { editor: Editor; problem: Found }) {
  const { designer: words } = t.value;
  const scene = editor.scene.value;
  const own = placed(scene).find(({ key }) => key === problem.key);
  const checked = editor.drawing.last.value?.scene ?? scene;
  const fix = fixOf(problem, scene, own && editor.frame(own), editor.dpi.value, checked);
  if (fix === undefined) return null;
  const { word, about, mend } = fix;
  return (
    <div class="row">
      <button type="button" class="button" onClick={() => editor.do(mend)}>
        {about === undefined ? words.fixes[word] : words.about(words.fixes[word], about)}
      </button>
    </div>
  );
}
