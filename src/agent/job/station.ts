/**
 * Serves one printer. For every term in which the printer is this agent's, the station keeps a consumer on
 * the printer's lane and runs each job that it delivers: one at a time, and the next one behind it where the
 * job ahead lets it follow. Between two terms another agent serves the printer, or nobody, and this agent
 * keeps asking for it.
 */
import { once } from 'node:events';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import { type Lane, laneOf } from '../../contract/lane.ts';
import { queueIdOf } from '../../contract/queued-job.ts';
import type { Consumer, DeliveryOutcome, DeliveryQueue, LaneHandler } from '../../queue/index.ts';
import type { LeaseTerm } from '../lease/lease-term.ts';
import type { PrinterLease } from '../lease/printer-lease.ts';
import { Backoff, pause } from '../pause.ts';
import type { Signals } from '../printer/link.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { Entry, type EntryContext } from './entry.ts';
import { PrinterLoop } from './loop.ts';
import { type NotedDelivery, noteIn } from './note.ts';
import { endUnreadable } from './outcome.ts';
import { InterruptedError, StopSignals } from './stop-signals.ts';

type StationContext = Omit<EntryContext, 'device' | 'stop' | 'alone'> & {
  /** The device for the next job: another one when a better endpoint of the printer is found. */
  device(): PrinterDevice;
  /** The lane whose jobs are this printer's. */
  lane: Lane;
};

export class PrinterStation {
  readonly #queue: DeliveryQueue;
  readonly #lease: PrinterLease;
  readonly #context: StationContext;
  readonly #stopped = new AbortController();
  #graceMs = 0;
  /** In the order of their delivery. */
  readonly #entries = new Map<string, Entry>();
  #handling = 0;
  /** Resolves when all jobs delivered so far have been handled: whether one of them goes back. */
  #handled: Promise<boolean> = Promise.resolve(false);
  #serving: Promise<void> = Promise.resolve();

  constructor(queue: DeliveryQueue, lease: PrinterLease, context: StationContext) {
    [this.#queue, this.#lease, this.#context] = [queue, lease, context];
  }

  /** A job is at the printer, or about to be. */
  get busy(): boolean {
    return this.#handling > 0;
  }

  /** Labels are under way, and only this agent can find out what becomes of them. */
  get uncertain(): boolean {
    return [...this.#entries.values()].some(({ ledger }) => ledger.uncertain);
  }

  /** Takes jobs as soon as the printer is this agent's and the queue lets it. */
  start(): void {
    this.#serving = this.#serve();
  }

  /** Ends the job under way as `entry.ts` describes. Bounded: `graceMs`, the time to confirm, and a little. */
  async stop(graceMs: number): Promise<void> {
    this.#graceMs = graceMs;
    this.#stopped.abort();
    await this.#serving;
  }

  async #serve(): Promise<void> {
    const { printerId, logger } = this.#context;
    const stopped = this.#stopped.signal;
    for (;;) {
      const term = await this.#lease.next(stopped);
      if (term === null) return;
      logger.info({ printer: printerId }, 'this agent serves the printer');
      await this.#serveFor(term);
      await this.#lease.giveBack(term);
      if (!stopped.aborted)
        logger.warn({ printer: printerId }, 'this agent does not serve the printer any more');
    }
  }

  async #serveFor(term: LeaseTerm): Promise<void> {
    // Aborted in this order: a job that only waits leaves; any job stops at a label boundary; everything ends.
    const [leave, boundary, end] = [new AbortController(), new AbortController(), new AbortController()];
    const enough = AbortSignal.any([this.#stopped.signal, term.ending]);
    const signals = {
      leave: AbortSignal.any([leave.signal, term.ending]),
      boundary: AbortSignal.any([boundary.signal, term.ending]),
      end: AbortSignal.any([end.signal, term.over]),
    };
    const { timings, confirmation } = this.#context;
    const loop = new PrinterLoop({ timings, confirmation, held: () => this.#lease.held });
    this.#context.device().distrust();
    await this.#lease.becomes(false, enough);
    const consumer = await this.#consume(term, enough, (delivery) =>
      this.#handle({ ...delivery, note: noteIn(delivery.note) }, term, loop, signals),
    );
    if (consumer !== undefined) void this.#followHold(consumer, enough);
    if (!enough.aborted) await once(enough, 'abort');
    const graceMs = this.#stopped.signal.aborted ? this.#graceMs : 0;
    leave.abort();
    const atBoundary = setTimeout(() => boundary.abort(), graceMs);
    const atEnd = setTimeout(() => end.abort(), graceMs + timings.confirm);
    const handled = this.#handled;
    // The consumer waits for its handler, which ends in time.
    const stopping = consumer?.stop();
    await handled;
    clearTimeout(atBoundary);
    clearTimeout(atEnd);
    // Before the lease is over, so that the next agent finds no connection of ours at the printer.
    await this.#context.device().drop();
    await stopping;
  }

  /** While a person holds the printer, the jobs that it has are printed, and no other is taken. */
  async #followHold(consumer: Consumer, enough: AbortSignal): Promise<void> {
    const { printerId, logger } = this.#context;
    for (let held = true; ; held = !held) {
      await this.#lease.becomes(held, enough);
      if (enough.aborted) return;
      logger.info({ printer: printerId }, held ? 'the printer is held' : 'the printer is not held any more');
      try {
        await (held ? consumer.pause() : consumer.resume());
      } catch (error) {
        logger.warn({ err: error, printer: printerId }, 'the lane of the printer could not be paused');
      }
    }
  }

  async #consume(term: LeaseTerm, enough: AbortSignal, handle: LaneHandler): Promise<Consumer | undefined> {
    const { lane, printerId, timings, logger } = this.#context;
    const backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    while (!enough.aborted) {
      try {
        return await this.#queue.consume(lane, term.id, handle, {
          onUnreadable: ({ queueId, issues, note }) =>
            endUnreadable(this.#context, queueId, issues, noteIn(note)),
          onMarked: (mark) => this.#lease.rung(mark),
        });
      } catch (error) {
        logger.warn({ err: error, printer: printerId }, 'the lane of the printer cannot be served yet');
        await pause(backoff.next(), enough);
      }
    }
    return undefined;
  }

  async #handle(
    delivery: NotedDelivery,
    term: LeaseTerm,
    loop: PrinterLoop,
    signals: Signals,
  ): Promise<DeliveryOutcome> {
    const before = this.#handling === 0 ? Promise.resolve(false) : this.#handled;
    this.#handling += 1;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#handled = Promise.all([before, promise]).then((goBack) => goBack.includes(true));
    const id = queueIdOf(delivery.job);
    // A queue that took a job away (its lock was lost) may deliver it again before its first run has let go.
    const again = this.#entries.has(id);
    // Another agent had sent this job behind the one ahead: what is out of it is known when that one has ended.
    const { note } = delivery;
    const told = note?.underWay?.ahead === undefined || note.agentId === this.#context.agentId;
    const admitted = told && this.#entries.size > 0 && loop.admits(delivery.job, this.#context.device());
    const follows = admitted && !again;
    const cancel = this.#lease.canceled(id);
    let goesBack = true;
    try {
      // A job that has begun waits: only the printer can tell what is out of it, and those ahead have it first.
      const waits = !follows && !again && note === null;
      const canceled = waits && (await canceledBefore(before, cancel, delivery.signal));
      const aheadGoesBack = !follows && !canceled && (await before) && !again;
      // A job that was canceled while it waited gets no place: those ahead keep the printer.
      term.check();
      if (signals.leave.aborted) return 'hand-back';
      if (aheadGoesBack) throw new InterruptedError('it comes again, after the job ahead of it');
      if (laneOf(delivery.job) !== this.#context.lane) {
        goesBack = false;
        return this.#refuse(delivery);
      }
      const confirmMs = this.#context.timings.confirm;
      const device = this.#context.device();
      const [checkTerm, alone] = [() => term.check(), () => term.alone];
      const stop = new StopSignals({ signals, lost: delivery.signal, cancel, checkTerm, confirmMs });
      const entry = new Entry({ ...this.#context, device, stop, alone }, loop, delivery);
      if (!canceled) entry.place = loop.place(entry, device, follows);
      this.#entries.set(id, entry);
      const result = await entry.run();
      goesBack = result === 'hand-back';
      // After a hand-back the consumer waits until the term or a hold ends. After an exception the job comes again.
      const goesOn = !signals.leave.aborted && !delivery.signal.aborted && !this.#lease.held;
      if (goesBack && goesOn) throw new InterruptedError('it comes again, after the job ahead of it');
      return result;
    } finally {
      this.#lease.letGo(cancel);
      this.#entries.delete(id);
      this.#handling -= 1;
      resolve(goesBack);
    }
  }

  /** Refuses a job of another tenant or for another printer: its labels must not come out here. */
  #refuse({ job }: NotedDelivery): DeliveryOutcome {
    const { lane, logger } = this.#context;
    logger.error(
      { job: job.jobId, tenant: job.tenantId, lane, of: laneOf(job) },
      'job of another lane not printed',
    );
    return 'not-mine';
  }
}

/** Waits for the jobs ahead, or until the job is canceled; one that was taken away belongs to its next delivery. */
async function canceledBefore(
  ahead: Promise<unknown>,
  cancel: AbortSignal,
  lost: AbortSignal,
): Promise<boolean> {
  return orAborted(ahead, cancel).then(
    () => false,
    () => !lost.aborted,
  );
}
