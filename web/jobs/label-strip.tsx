/** A strip with pictures of a job's labels, as the printer gets them. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';

/** Width of a picture in a strip, pixels: enough for screens with two pixels per CSS pixel. */
const WIDTH = 360;

/** `fixed`: it cannot be chosen. */
export type Shown = { index: number; note?: string; doubt?: boolean; fixed?: boolean };

export function pictureOf(job: string, index: number, width?: number): string {
  return `/app/jobs/${encodeURIComponent(job)}/labels/${index}.png${width === undefined ? '' : `?width=${width}`}`;
}

type Choosing = {
  chosen?: (index: number) => boolean;
  /** A click on a picture chooses its label; its number leads to every dot. Left out: the picture does. */
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

type LabelProps = Choosing & { job: string; index: number; note: string | undefined; doubt: boolean };

function Label({ job, index, note, doubt, chosen, onChoose }: LabelProps) {
  const { job: words } = t.value;
  const missing = useSignal(false);
  const picture = missing.value ? (
    <div class="no-picture muted small">{words.noPicture}</div>
  ) : (
    <img
      class="paper"
      loading="lazy"
      decoding="async"
      src={pictureOf(job, index, WIDTH)}
      alt={words.picture(index + 1)}
      onError={() => {
        missing.value = true;
      }}
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
          aria-label={words.picture(index + 1)}
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
