/** What happened to a job, in lines: what repeats itself is folded. */
import type { JobEvent } from '../../src/contract/job-details.ts';

/** Waits in a row, one after the other, of which the first and the last are enough. */
const ROW = 4;

/** An event, or several in the place of which one line stands until somebody wants to see them. */
type LifeLine = JobEvent | readonly JobEvent[];

/** A printer whose cover is opened and closed gives many waits; those between the first and the last of a row are folded. */
export function foldedLife(events: readonly JobEvent[]): LifeLine[] {
  const lines: LifeLine[] = [];
  for (let at = 0; at < events.length; ) {
    let end = at;
    while (events[end]?.kind === 'waits') end += 1;
    if (end - at >= ROW) {
      lines.push(...events.slice(at, at + 1), events.slice(at + 1, end - 1), ...events.slice(end - 1, end));
    } else {
      end = Math.max(end, at + 1);
      lines.push(...events.slice(at, end));
    }
    at = end;
  }
  return lines;
}
