/**
 * A person has canceled a job of which something is under way. A printer with jobs of its own ends ours. One that
 * takes bytes can only delete all that waits in it, so it is told to only where all of that is this job's; then
 * the label under the head comes out, and the counter tells how many did. Elsewhere what is under way comes out.
 */
import type { TimingConfig } from '../config.ts';
import { pause } from '../pause.ts';
import { isBlocked } from '../printer/status.ts';
import { Rest } from './rest.ts';
import type { Row } from './row.ts';
import type { LoopEntry } from './sender.ts';
import { InterruptedError } from './stop-signals.ts';

/**
 * @param blocked the printer stands still: what is half out may come out once it goes on, whatever it was told
 * @returns whether the printer was asked to end its job, and says what comes of that
 * @throws InterruptedError where it has forgotten what is not out; TransportError, JobFaultError `outcome-unknown`
 */
export async function cancelUnderWay(
  job: LoopEntry,
  row: Row,
  timings: TimingConfig,
  blocked: boolean,
): Promise<boolean> {
  const { ledger, link, stop } = job;
  const alone = !blocked && !stop.lost && ledger.odometer !== null && row.holdsOnly(ledger);
  if (!(await link.cancel(alone))) return false;
  if (link.documents) return true;
  await settle(job, timings);
  if (ledger.printed < ledger.total) throw new InterruptedError();
  return false;
}

/** Where the printer comes to no rest, or stands still now, what is under way stays uncertain. */
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
