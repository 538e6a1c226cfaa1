/**
 * One printer's jobs, one at a time: what becomes of a job that the queue delivers.
 *
 *   picked up ─▶ look-up ─┬─ finished before ─────────────▶ report again, done
 *                         ├─ never sent ──▶ check ────────▶ (fault: failed, nothing printed)
 *                         ├─ cut off ─────▶ ready, settled ▶ (counter does not fit: held)
 *                         └─ sent by who knows whom ──────▶ held
 *   check ─▶ connect ─▶ ready ─▶ send ⇄ confirm ─▶ printed
 *               ▲                     │ connection lost
 *               └──── back-off ◀──────┘
 *
 * A printer that is off, out of paper or unreachable fails nothing: the job waits, says why, and goes on. What
 * is not certain is never printed again by guess: the job is held, with the labels that may be out.
 *
 * What is on record, and in which order it is written:
 *   J0  journal: the job's start (only where there is no odometer, to make the start itself certain)
 *   N   queue:   a note that this agent may have sent some of it, up to which label, and what the printer had counted
 *                before; again each time before labels go out that it does not cover (`handover.ts`)
 *   J1  journal: intent, up to which label bytes are about to be sent; with the odometer before the first
 *                Where N takes long, the journal takes J1 back meanwhile, and the odometer is read again before B
 *   B   bytes of those labels; then J1, B, J1, B, …; each J1 also records what is confirmed by then
 *   J2  journal: the outcome, and the duty to report it
 *   R   queue:   the report; then journal: published
 *   D   queue:   done
 *
 * Crash points (of the agent, the machine or the network between them), and what the next delivery does:
 *   before N                  no note: nobody has sent anything. Starts from the beginning.
 *   between J0 and N, N and J1  the journal says that nothing was about to be sent. Starts from there.
 *   between J1 and B          the printer at rest has counted nothing more. Goes on where it was.
 *   inside B                  the kernel may still deliver what it has, half a label may have arrived: waits
 *                             until the printer rests, and goes on at the first label it has not counted.
 *   after B, before J2        as inside B; when all are counted the job is printed.
 *   between J2 and R          the journal has the outcome and reports it at start.
 *   between R and D           finished before: reports again (the service ignores what it knows), done.
 *   the journal is lost       a note of this agent and no entry: held.
 *   another agent has it now  the note of the first: at a clean hand-back it names the label to go on with.
 *                             Otherwise, as inside B by the odometer in the note; without one the job is held, and
 *                             at most what the note covers is uncertain.
 *   the queue loses the note  (a Redis without fsync, power loss) the journal still knows; only another agent
 *                             would not.
 *   the printer loses power   its buffer is lost, its counter is not: as inside B.
 *   the counter was moved by somebody else meanwhile, or has gone back: held.
 *   no odometer               any loss with labels under way: held.
 *   no answers at all         everything is sent, then held; or printed, where the printer's configuration says
 *                             that what its connection took counts (`confirmation: "transport"`).
 *
 * This is how a printer that takes bytes is driven; one that takes documents: `document-run.ts`.
 *
 * The printer is this agent's for a term (`lease-term.ts`). When the term ends, or the agent stops, a job that is waiting
 * for its printer is handed back at once; one that is printing has the grace time of a stop to finish, then stops at
 * a label boundary, waits a bounded time for what was sent to be confirmed, and is handed back with a note where to
 * go on.
 *
 * A job that a person cancels stops in the same way, and ends: `canceled`, with the labels named that may be out.
 */

import { type Lane, laneOf } from '../../contract/lane.ts';
import { queueIdOf } from '../../contract/queued-job.ts';
import type { CancelRequests } from '../lease/cancel-requests.ts';
import type { LeaseTerm } from '../lease/lease-term.ts';
import { DocumentDevice } from '../printer/document-device.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { Device } from '../printer/stream-device.ts';
import type { HandlerResult, PickedUpJob } from '../source/job-source.ts';
import type { JobAttempt } from './attempt.ts';
import { DocumentRun } from './document-run.ts';
import { JobRun, type RunContext } from './job-run.ts';

export type WorkContext = Omit<RunContext, 'stop' | 'device' | 'checkTerm' | 'alone' | 'cancel'> & {
  device: PrinterDevice;
  /** Of which the jobs are this printer's. */
  lane: Lane;
  cancelRequests: CancelRequests;
};

export class PrinterWorker {
  readonly #context: WorkContext;
  readonly #term: LeaseTerm;
  /** Aborted in this order: a job that only waits leaves; any job stops at a label boundary; everything ends. */
  readonly #leave = new AbortController();
  readonly #boundary = new AbortController();
  readonly #end = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #handling = 0;
  #attempt: JobAttempt | null = null;

  /** @param term the time in which the printer is this agent's */
  constructor(context: WorkContext, term: LeaseTerm) {
    this.#context = context;
    this.#term = term;
    if (context.device instanceof Device) context.device.distrust();
  }

  /** Labels are under way, and only this agent can find out what becomes of them. */
  get uncertain(): boolean {
    return this.#attempt?.ledger.uncertain ?? false;
  }

  /** A job is at the printer, or about to be. */
  get busy(): boolean {
    return this.#handling > 0;
  }

  /** The handler for the printer's consumer. */
  async handle(delivery: PickedUpJob): Promise<HandlerResult> {
    this.#handling += 1;
    const before = this.#running;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running = promise;
    try {
      // A queue that took a job away (its lock was lost) may deliver it again before its first run has let go.
      await before;
      this.#term.check();
      if (this.#leave.signal.aborted || this.#term.ending.aborted) return 'hand-back';
      if (laneOf(delivery.job) !== this.#context.lane) return this.#refuse(delivery);
      this.#attempt = this.#attemptOf(delivery);
      return await this.#attempt.run();
    } finally {
      this.#attempt = null;
      this.#handling -= 1;
      resolve();
    }
  }

  /** A job of another tenant, or for another printer: whoever it is for, its labels do not come out here. */
  #refuse({ job }: PickedUpJob): HandlerResult {
    const { lane, logger } = this.#context;
    logger.error(
      { job: job.jobId, tenant: job.tenantId, lane, of: laneOf(job) },
      'job of another lane not printed',
    );
    return 'not-mine';
  }

  #attemptOf(delivery: PickedUpJob): JobAttempt {
    const { ending, over } = this.#term;
    const stop = {
      leave: AbortSignal.any([this.#leave.signal, ending]),
      boundary: AbortSignal.any([this.#boundary.signal, ending]),
      end: AbortSignal.any([this.#end.signal, over]),
    };
    const context = {
      ...this.#context,
      stop,
      cancel: this.#context.cancelRequests.of(queueIdOf(delivery.job)),
      checkTerm: () => this.#term.check(),
      alone: () => this.#term.alone,
    };
    const { device } = context;
    if (device instanceof DocumentDevice) return new DocumentRun({ ...context, device }, delivery);
    if (!(device instanceof Device)) throw new TypeError('a device of no known kind');
    return new JobRun({ ...context, device }, delivery);
  }

  /** Ends the job under way as described above; takes at most grace + confirmation time (ms) and a little. */
  async stop(graceMs: number): Promise<void> {
    this.#leave.abort();
    const boundary = setTimeout(() => this.#boundary.abort(), graceMs);
    const end = setTimeout(() => this.#end.abort(), graceMs + this.#context.timings.confirm);
    await this.#running;
    clearTimeout(boundary);
    clearTimeout(end);
  }
}
