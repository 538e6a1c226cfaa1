import { inFull, when } from '../texts/texts.ts';

/** A time in the viewer's zone, in full for who points at it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inFull(at)}>
      {when(at)}
    </time>
  );
}
