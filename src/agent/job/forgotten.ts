/**
 * Ends a job that a person has canceled while something of it is under way. A printer with jobs of its own is asked to end ours. A
 * printer that takes bytes can only delete all that waits in it. So it is told to delete only if all of that is this job's; the
 * label under the head still comes out, and the counter tells how many labels did. Otherwise what is under way comes out.
 */
import type { TimingConfig } from '../config.ts';
import { pause } from '../pause.ts';
import { isBlocked } from '../printer/status.ts';
import { Rest } from './rest.ts';
import type { Row } from './row.ts';
import type { LoopEntry } from './sender.ts';
import { InterruptedError } from './stop-signals.ts';

/**
 * @param blocked the printer stands still. It is not told to delete then: a label that is half out may come out later all the same
 * @returns whether the printer was asked to end its own job: that job's end says what is out
 * @throws InterruptedError if the printer was told to delete, and not all labels are known to be out; TransportError, JobFaultError
 *   `outcome-unknown`
 */
export async function cancelUnderWay(
  job: LoopEntry,
  row: Row,
  timings: TimingConfig,
  blocked: boolean,
): Promise<boolean> {
  const { ledger, link, stop } = job;
  const only = !blocked && !stop.lost && ledger.odometer !== null && row.holdsOnly(ledger);
  if (!(await link.cancel(only))) return false;
  if (link.documents) return true;
  await settle(job, timings);
  if (ledger.printed < ledger.total) throw new InterruptedError();
  return false;
}

/** Waits for the printer's rest, to count what is out. If it does not come to rest in time, or stands still, that stays uncertain. */
async function settle({ ledger, link, stop, outcome }: LoopEntry, timings: TimingConfig): Promise<void> {
  const rest = new Rest(ledger, { settleMs: timings.settle, perFormat: 1, forgets: true });
  const late = AbortSignal.timeout(timings.vanished);
  while (!stop.end.aborted && !late.aborted) {
    const { status } = await link.ready(false);
    if (status === null || isBlocked(status)) return;
    const printed = status.odometer === null ? null : rest.printed(status, performance.now());
    if (printed !== null) {
      ledger.settle(printed, status.odometer);
      return;
    }
    outcome.progress(status.reasons);
    await pause(rest.near ? timings.settle / 4 : timings.pollMin, stop.end, late);
  }
}
