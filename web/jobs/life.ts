/** The lines that say what happened to a job. What repeats itself is folded. */
import type { JobEvent } from '../../src/contract/job-details.ts';

/** Of so many waits in a row, or more, only the first and the last are shown. */
const ROW = 4;

/** One event, or several that are folded into one line until somebody wants to see them. */
type LifeLine = JobEvent | readonly JobEvent[];

/** A cover that is opened and closed makes many waits. Those between the first and the last of a row are folded. */
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
