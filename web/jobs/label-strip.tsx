/** A strip with pictures of a job's labels, as the printer gets them. */
import { useSignal } from '@preact/signals';
import { t } from '../texts/texts.ts';

/** Width of a picture in a strip, pixels: enough for screens with two pixels per CSS pixel. */
const WIDTH = 360;

export type Shown = { index: number; note?: string; doubt?: boolean };

export function pictureOf(job: string, index: number, width?: number): string {
  return `/app/jobs/${encodeURIComponent(job)}/labels/${index}.png${width === undefined ? '' : `?width=${width}`}`;
}

export function LabelStrip({ job, labels, gap }: { job: string; labels: readonly Shown[]; gap?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with the keyboard too
    <section class="strip" tabIndex={0} aria-label={t.value.job.labels}>
      {labels.map(({ index, note, doubt }, at) => (
        <>
          {gap !== undefined && at > 0 && index > (labels[at - 1]?.index ?? index) + 1 && (
            <p key={`gap-${index}`} class="muted small strip-gap">
              {gap}
            </p>
          )}
          <Label key={index} job={job} index={index} note={note} doubt={doubt ?? false} />
        </>
      ))}
    </section>
  );
}

type LabelProps = { job: string; index: number; note: string | undefined; doubt: boolean };

function Label({ job, index, note, doubt }: LabelProps) {
  const { job: words } = t.value;
  const missing = useSignal(false);
  return (
    <figure class={doubt ? 'doubt' : ''}>
      {missing.value ? (
        <div class="no-picture muted small">{words.noPicture}</div>
      ) : (
        <a href={pictureOf(job, index)} target="_blank" rel="noreferrer">
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
        </a>
      )}
      <figcaption>
        {words.picture(index + 1)}
        {note !== undefined && <div class={doubt ? 'doubt-words' : ''}>{note}</div>}
      </figcaption>
    </figure>
  );
}
