/** Strips with pictures of a job's labels, as the printer gets them. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { JobView } from '../../src/contract/job.ts';
import { sets } from '../controls/sets.ts';
import { t } from '../texts/texts.ts';

/** Width of a picture in a strip, in pixels: enough for a screen with two pixels per CSS pixel. */
const WIDTH = 360;
/** How many labels are shown at a time. */
const SHOWN = 8;

/** `fixed`: the label cannot be chosen. */
export type Shown = { index: number; note?: string; doubt?: boolean; fixed?: boolean };

export function pictureOf(job: string, index: number, width?: number): string {
  return `/app/jobs/${encodeURIComponent(job)}/labels/${index}.png${width === undefined ? '' : `?width=${width}`}`;
}

type Choosing = {
  chosen?: (index: number) => boolean;
  /** A click on a picture chooses its label, and the label's number opens the full picture. Left out: the picture opens it. */
  onChoose?: (index: number) => void;
};
type StripProps = Choosing & { job: string; labels: readonly Shown[]; gap?: ComponentChildren };

export function LabelStrip({ job, labels, gap, ...choosing }: StripProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with the keyboard too
    <section class="strip" tabIndex={0} aria-label={t.value.job.labels}>
      {labels.map(({ index, note, doubt, fixed }, at) => (
        <>
          {gap !== undefined && at > 0 && index > (labels[at - 1]?.index ?? index) + 1 && (
            <div key={`gap-${index}`} class="muted small strip-gap">
              {gap}
            </div>
          )}
          <Label
            key={index}
            job={job}
            index={index}
            note={note}
            doubt={doubt ?? false}
            {...(fixed ? {} : choosing)}
          />
        </>
      ))}
    </section>
  );
}

type PagesProps = Choosing & {
  job: Pick<JobView, 'id' | 'labels' | 'uncertain'>;
  /** The label that is to be seen first; the one before it is shown, too. */
  first: number;
  /** Stands beside the buttons that show more labels. */
  children?: ComponentChildren;
};

/** Some of a job's labels and, with a click, those before and after them; each uncertain one says that it is. */
export function LabelPages({ job, first, children, ...choosing }: PagesProps) {
  const { job: words, held } = t.value;
  const { total } = job.labels;
  const begin = useSignal(Math.max(0, first - 1));
  const end = useSignal(begin.value + SHOWN);
  const shown = Math.min(end.value, total);
  const labels = Array.from({ length: shown - begin.value }, (_, at) => {
    const index = begin.value + at;
    const doubt = job.uncertain !== null && job.uncertain.from <= index && index < job.uncertain.to;
    return { index, doubt, ...(doubt ? { note: held.doubt } : {}) };
  });
  return (
    <>
      <LabelStrip job={job.id} labels={labels} {...choosing} />
      {(begin.value > 0 || shown < total || children !== undefined) && (
        <div class="row">
          {begin.value > 0 && (
            <button
              type="button"
              class="button"
              onClick={() => {
                begin.value = Math.max(0, begin.value - SHOWN);
              }}
            >
              {words.labelsBefore}
            </button>
          )}
          {shown < total && (
            <button
              type="button"
              class="button"
              onClick={() => {
                end.value += SHOWN;
              }}
            >
              {words.moreLabels}
            </button>
          )}
          {children}
          {shown < total && <span class="muted small">{words.labelOf(shown, total)}</span>}
        </div>
      )}
    </>
  );
}

type LabelProps = Choosing & { job: string; index: number; note: string | undefined; doubt: boolean };

function Label({ job, index, note, doubt, chosen, onChoose }: LabelProps) {
  const { job: words } = t.value;
  const missing = useSignal(false);
  // A screen reader may read only the picture or the button, and must say the note, too.
  const name = note === undefined ? words.picture(index + 1) : `${words.picture(index + 1)}, ${note}`;
  const picture = missing.value ? (
    <div class="no-picture muted small">{words.noPicture}</div>
  ) : (
    <img
      class="paper"
      loading="lazy"
      decoding="async"
      src={pictureOf(job, index, WIDTH)}
      alt={name}
      onError={sets(missing, true)}
    />
  );
  const whole = (what: ComponentChildren) => (
    <a href={pictureOf(job, index)} target="_blank" rel="noreferrer">
      {what}
    </a>
  );
  return (
    <figure class={doubt ? 'doubt' : ''}>
      {onChoose === undefined ? (
        missing.value ? (
          picture
        ) : (
          whole(picture)
        )
      ) : (
        <button
          type="button"
          class="choose-label"
          aria-pressed={chosen?.(index) ?? false}
          aria-label={name}
          onClick={() => onChoose(index)}
        >
          {picture}
        </button>
      )}
      <figcaption>
        {onChoose === undefined ? words.picture(index + 1) : whole(words.picture(index + 1))}
        {note !== undefined && <div class={doubt ? 'doubt-words' : ''}>{note}</div>}
      </figcaption>
    </figure>
  );
}
