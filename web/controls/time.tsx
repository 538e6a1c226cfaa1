import { inFull, when } from '../texts/texts.ts';

/** A time in the viewer's zone; its tooltip has the full date and the zone. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inFull(at)}>
      {when(at)}
    </time>
  );
}
