/** A dialog that shows the label with the chosen record, at several resolutions, in portrait and landscape. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Preview } from '../../src/contract/label-picture.ts';
import type { Orientation } from '../../src/contract/print-request.ts';
import { Dialog } from '../controls/dialog.tsx';
import { wordsOf } from '../controls/problem.tsx';
import { errorOf } from '../service/call.ts';
import { drawInTurn, pngAddress } from '../templates/preview.ts';
import { templateWords } from '../templates/problem-words.ts';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { RecordSteps } from './record-choice.tsx';

export const RESOLUTIONS = [203, 300, 600];
const ORIENTATIONS: readonly Orientation[] = ['portrait', 'landscape'];
/** The greatest width of a picture, in pixels. */
const WIDTH = 1_000;
/** ms without a change of the label or the record before pictures are requested. */
const PAUSE = 150;

export function SideBySide({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const { designer: words } = t.value;
  const { width, height } = editor.scene.value.document;
  return (
    <Dialog title={words.sideBySide} large closes={t.value.general.close} onClose={onClose}>
      <p class="muted small">{words.sideBySideHint}</p>
      <RecordSteps records={editor.records} />
      <div class="side-by-side">
        {ORIENTATIONS.flatMap((orientation) =>
          RESOLUTIONS.map((dpi) => (
            <One
              key={`${dpi} ${orientation}`}
              editor={editor}
              dpi={dpi}
              orientation={orientation}
              ratio={orientation === 'portrait' ? width / height : height / width}
            />
          )),
        )}
      </div>
      <p class="muted small">{words.atPrinter}</p>
    </Dialog>
  );
}

type OneProps = { editor: Editor; dpi: number; orientation: Orientation; ratio: number };

function One({ editor, dpi, orientation, ratio }: OneProps) {
  const { designer: words, general } = t.value;
  const drawn = useSignal<Preview | Error | undefined>(undefined);
  const { document } = editor.scene.value;
  const record = editor.record.value;
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const request = { template: document, dpi, orientation, width: WIDTH, ...(record && { record }) };
      drawInTurn(request, stop.signal).then(
        (preview) => {
          drawn.value = preview;
        },
        (error: unknown) => {
          if (!stop.signal.aborted) drawn.value = errorOf(error);
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [document, record, dpi, orientation]);
  const found = drawn.value;
  const says = `${words.dpi(dpi)}, ${words[orientation]}`;
  return (
    <figure>
      <div class="stage" style={{ aspectRatio: ratio }}>
        {found === undefined && <span class="muted small">{general.loading}</span>}
        {found instanceof Error && <span class="note bad small anywhere">{wordsOf(found)}</span>}
        {found !== undefined && 'png' in found && found.png === null && (
          <span class="muted small">{words.undrawable}</span>
        )}
        {found !== undefined && 'png' in found && found.png !== null && (
          <img class="paper" src={pngAddress(found.png)} alt={says} />
        )}
      </div>
      <figcaption>
        {says}
        {found !== undefined && 'problems' in found && (
          <>
            <span class="muted">, {words.dots(found.width, found.height)}</span>
            {found.problems.length > 0 && (
              <ul class="small problems">
                {found.problems.map((problem) => (
                  <li
                    key={`${problem.pointer} ${problem.message}`}
                    class={problem.severity === 'error' ? 'fault anywhere' : 'muted anywhere'}
                  >
                    {templateWords(problem)}
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </figcaption>
    </figure>
  );
}
