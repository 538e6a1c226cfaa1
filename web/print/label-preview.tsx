/** A preview of the label that would be printed, with its problems. */
import type { LabelRecord } from '../../src/contract/print-request.ts';
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { Problem } from '../controls/problem.tsx';
import { type Drawn, pngAddress, usePreview } from '../templates/preview.ts';
import { templateWords } from '../templates/problem-words.ts';
import { t } from '../texts/texts.ts';
import type { Route } from './request.ts';

const WIDTH = 720;
/** Problems that keep a label from being printed. The picture then lacks the element. */
const UNPRINTABLE: ReadonlySet<string> = new Set(['template-invalid', 'value-invalid', 'does-not-fit']);
/** At most this many problems are shown; the others mostly follow from the first ones. */
const MOST = 8;

/** @param record the values; undefined: the samples of the fields */
export function useLabel(route: Route, record: LabelRecord | undefined): Drawn {
  const request = {
    templateId: route.idT,
    dpi: route.dpi,
    orientation: route.orientation ?? 'portrait',
    width: WIDTH,
    ...(record === undefined ? {} : { record }),
  };
  return usePreview(request, route.version);
}

/** The problems because of which the service would refuse to print this record. */
export function refusedOf({ preview }: Drawn): TemplateProblem[] {
  return (preview?.problems ?? []).filter(({ code }) => UNPRINTABLE.has(code));
}

const PLACE = 'label-preview';

/** A small preview for narrow screens, where the large one is below the fields; a click leads there. */
export function ToPreview({ drawn: { preview } }: { drawn: Drawn }) {
  if (preview?.png == null) return null;
  const show = () => document.getElementById(PLACE)?.scrollIntoView({ block: 'center' });
  return (
    <button type="button" class="button to-preview" aria-label={t.value.print.toPreview} onClick={show}>
      <img class="paper" src={pngAddress(preview.png)} alt="" />
    </button>
  );
}

type LabelPreviewProps = { drawn: Drawn; wrong: readonly TemplateProblem[]; samples?: boolean };

/**
 * @param wrong the problems to list below the label
 * @param samples the label is drawn with the samples of its fields, so it is not the label that will be printed
 */
export function LabelPreview({
  drawn: { preview, problem, busy },
  wrong,
  samples = false,
}: LabelPreviewProps) {
  const { print: words } = t.value;
  return (
    <section id={PLACE} class="stack tight preview" aria-label={words.preview}>
      <div class="row spread">
        <h2>{words.preview}</h2>
        <span class="small muted" role="status">
          {busy ? words.drawing : ''}
        </span>
      </div>
      <div class={`stage-large card${busy ? ' old' : ''}${samples ? ' samples' : ''}`}>
        {preview?.png != null && (
          <img
            class="paper"
            src={pngAddress(preview.png)}
            alt={samples ? words.previewOfSamples : words.preview}
          />
        )}
        {samples && preview?.png != null && <p class="badge">{words.samples}</p>}
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
