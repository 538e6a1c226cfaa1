/** The label that would be printed, and what is wrong with it. */
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { Problem } from '../controls/problem.tsx';
import { pngAddress, usePreview } from '../templates/preview.ts';
import { templateWords } from '../templates/problem-words.ts';
import { t } from '../texts/texts.ts';
import type { Route } from './request.ts';

const WIDTH = 720;
/** What keeps a label from being printed with these values; the picture is then without the element. */
const UNPRINTABLE: ReadonlySet<string> = new Set(['template-invalid', 'value-invalid', 'does-not-fit']);
/** Problems that are shown; the rest of them follows from the first most times. */
const MOST = 8;

export function LabelPreview({ route, record }: { route: Route; record: LabelRecord | undefined }) {
  const { print: words } = t.value;
  const { preview, problem, busy } = usePreview({
    templateId: route.idT,
    dpi: route.dpi,
    orientation: route.orientation ?? 'portrait',
    width: WIDTH,
    ...(record === undefined ? {} : { record }),
  });
  const wrong = preview?.problems.filter(({ code }) => UNPRINTABLE.has(code)) ?? [];
  return (
    <section class="stack tight preview" aria-label={words.preview}>
      <div class="row spread">
        <h2>{words.preview}</h2>
        <span class="small muted" role="status">
          {busy ? words.drawing : ''}
        </span>
      </div>
      <div class={busy ? 'stage-large card old' : 'stage-large card'}>
        {preview?.png != null && <img class="paper" src={pngAddress(preview.png)} alt={words.preview} />}
        {preview !== undefined && preview.png === null && <span class="muted">{words.cannot}</span>}
      </div>
      {wrong.length > 0 && (
        <ul class={preview?.png === null ? 'note bad small' : 'note warn small'}>
          {wrong.slice(0, MOST).map((one) => (
            <li key={`${one.pointer} ${one.message}`}>{templateWords(one)}</li>
          ))}
        </ul>
      )}
      {problem !== undefined && <Problem problem={problem} />}
    </section>
  );
}
