/**
 * What every delivery of a job has in common, whatever kind of device prints it: where it stands by what journal
 * and queue know, its labels, the note in the queue, and how it ends: with a result for the queue, never with an
 * exception.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { labelsPerPage } from '../../../drivers/languages/index.ts';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import { JobFaultError } from '../../contract/fault.ts';
import { labelCount, queueIdOf } from '../../contract/queued-job.ts';
import type { Logger } from '../../log.ts';
import {
  RenderCrash,
  type RenderPool,
  type RenderSession,
  type RenderSessionOptions,
} from '../../rendering/render-pool.ts';
import type { Timings } from '../config.ts';
import { Backoff, pause } from '../pause.ts';
import type { HandlerResult, PickedUpJob } from '../source/job-source.ts';
import { Handover } from './handover.ts';
import { Ledger } from './ledger.ts';
import { Outcome, type OutcomeContext } from './outcome.ts';
import { Row, type WindowSize } from './row.ts';

export interface AttemptContext extends OutcomeContext {
  pool: Pick<RenderPool, 'open'>;
  timings: Timings;
  window: WindowSize;
  stop: { leave: AbortSignal; boundary: AbortSignal; end: AbortSignal };
  /** Aborted when a person does not want the job any more. */
  cancel: AbortSignal;
  /** Whether the printer is still this agent's; if it is not, `stop`'s signals are aborted when it returns. */
  checkTerm(): void;
  /** Nobody else wants the printer. */
  alone(): boolean;
}

/** The agent stops, a person cancels the job, or the queue took it away. */
export class Interrupted extends Error {}

const NOT_NOTED = 'the queue does not take the note how far the job may have been sent';
/** Longest wait for the queue to store the note of a hand-back, ms. */
const NOTE_MS = 2_000;

export abstract class JobAttempt {
  readonly ledger: Ledger;
  protected readonly row = new Row();
  protected readonly outcome: Outcome;
  protected readonly log: Logger;
  protected readonly delivery: PickedUpJob;
  protected readonly backoff: Backoff;
  protected session: RenderSession | null = null;
  /** The label that the session gives next. */
  protected position = 0;
  protected checked = false;
  /** Copies of a label, at most, that go out as one. */
  protected readonly maxCopies: number;
  /** This delivery's note in the queue. */
  protected readonly handover: Handover;
  readonly #signals: AttemptContext['stop'];
  readonly #context: AttemptContext;
  readonly #rendering: Pick<RenderSessionOptions, 'maxCopies' | 'documents'>;
  /** The queue took the job away, and some time has passed since. */
  readonly #lostForGood = new AbortController();
  #alone = false;

  constructor(
    context: AttemptContext,
    delivery: PickedUpJob,
    rendering: Pick<RenderSessionOptions, 'maxCopies' | 'documents'>,
  ) {
    this.#context = context;
    this.#rendering = rendering;
    this.maxCopies = rendering.maxCopies;
    this.delivery = delivery;
    const { job } = delivery;
    const total = labelCount(job);
    this.log = context.logger.child({ job: job.jobId, printer: context.printerId, tenant: job.tenantId });
    this.ledger = new Ledger({
      journal: context.journal,
      row: this.row,
      queueId: queueIdOf(job),
      printerId: context.printerId,
      delivery: delivery.delivery,
      total,
      from: Math.min(job.resume?.from ?? 0, total),
      perPage: labelsPerPage(job),
    });
    const round = job.resume?.round;
    this.outcome = new Outcome(context, this.log, this.ledger, { jobId: job.jobId, round });
    const { stop, cancel, timings } = context;
    this.#signals = {
      leave: AbortSignal.any([stop.leave, delivery.signal, cancel]),
      boundary: AbortSignal.any([stop.boundary, delivery.signal, cancel]),
      end: AbortSignal.any([stop.end, this.#lostForGood.signal]),
    };
    this.backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    this.handover = new Handover({
      agentId: context.agentId,
      delivery,
      ledger: this.ledger,
      window: context.window.labels,
      alone: () => context.alone(),
      standing: () => this.ledger.standing(rendering.documents !== true),
      retry: { min: timings.reconnectMin, max: timings.reconnectMax },
      onFailure: (error) => this.log.warn({ err: error }, NOT_NOTED),
    });
  }

  /** A person does not want the job any more. */
  protected get canceled(): boolean {
    return this.#context.cancel.aborted;
  }

  /** Ends what only waits. */
  protected get leave(): AbortSignal {
    return this.#current.leave;
  }

  /** Ends sending at a label boundary. */
  protected get boundary(): AbortSignal {
    return this.#current.boundary;
  }

  /** Ends everything. */
  protected get end(): AbortSignal {
    return this.#current.end;
  }

  /**
   * Whoever looks at a signal, or hands it to what sends something, looks at the clock first: in a process that was
   * stopped for a while, the timer that ends the agent's term has not gone off yet.
   */
  get #current(): AttemptContext['stop'] {
    this.#context.checkTerm();
    return this.#signals;
  }

  /** Prints the job to its end. @throws JobFaultError, Interrupted, RenderCrash */
  protected abstract print(): Promise<void>;

  async run(): Promise<HandlerResult> {
    const { signal } = this.delivery;
    const onLost = () => setTimeout(() => this.#lostForGood.abort(), this.#context.timings.confirm).unref();
    if (signal.aborted) onLost();
    else signal.addEventListener('abort', onLost, { once: true });
    try {
      if (this.outcome.repeat()) return 'done';
      await this.print();
      this.outcome.end({ status: 'printed' });
      return 'done';
    } catch (error) {
      if (this.canceled && !signal.aborted) {
        this.outcome.cancel(error instanceof JobFaultError ? error.fault : undefined);
        return 'done';
      }
      if (this.#isInterruption(error)) return await this.#handBack();
      this.#fail(error);
      return 'done';
    } finally {
      signal.removeEventListener('abort', onLost);
      this.session?.close();
    }
  }

  /**
   * Where the job stands by what journal and queue know. True: some of it may be under way.
   * @throws JobFaultError `outcome-unknown`
   */
  protected lookUp(): boolean {
    const { ledger } = this;
    const { note } = this.delivery;
    const { agentId } = this.#context;
    const found = note === null || note.agentId === agentId ? ledger.found : null;
    if (found !== null) {
      ledger.restore(found.entry);
      // Another kind of device may have had it, which counted from elsewhere.
      if (!ledger.uncertain) ledger.begin(null);
    } else if (note?.resumeAt === null) {
      const left = note.underWay;
      if (left === undefined) ledger.restore({ intent: ledger.total });
      else ledger.restore({ ...left, intent: Math.min(left.intent, ledger.total) });
      const counted = left !== undefined && left.odometer !== null;
      if (counted && note.agentId !== agentId && !ledger.sentOthersSince) return ledger.uncertain;
      // Which labels are out, only the agent that had it could tell.
      const who =
        note.agentId === agentId ? 'this agent, whose journal is lost' : `the agent ${note.agentId}`;
      throw new JobFaultError('outcome-unknown', `The job was being printed by ${who}`);
    } else if (note !== null) {
      const { resumeAt } = note;
      ledger.restore({ base: resumeAt, intent: resumeAt, sent: resumeAt, printed: resumeAt });
    }
    return ledger.uncertain;
  }

  /** Makes every label that is left once, before the first of them is sent. */
  protected async check(): Promise<void> {
    if (this.session === null) this.openSession(this.ledger.printed);
    await this.rendering((session) => session.check(this.leave));
    this.checked = true;
  }

  protected openSession(from: number): RenderSession {
    this.session?.close();
    const options = { from, ...this.#rendering, alone: this.#alone };
    this.session = this.#context.pool.open(this.delivery.job, options);
    this.position = from;
    return this.session;
  }

  /** Something with the render session; once, after a crash, on a thread of its own. */
  protected async rendering<T>(work: (session: RenderSession) => Promise<T>): Promise<T> {
    try {
      return await work(this.session ?? this.openSession(this.position));
    } catch (error) {
      if (!(error instanceof RenderCrash) || this.#alone) throw error;
      this.#alone = true;
      return await work(this.openSession(this.position));
    }
  }

  /**
   * Resolves when the queue has a note that this agent may have sent the job's labels up to `upTo`. For when nothing
   * is under way. @throws Interrupted
   * @param again with what the printer's counter shows by now, whatever the queue has
   */
  protected async note(upTo: number, again = false): Promise<void> {
    const { timings } = this.#context;
    const backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    // It may allow more than it has to, since another agent came.
    await this.handover.follow(this.ledger.base);
    while (again || this.handover.allowed < upTo) {
      try {
        await orAborted(this.handover.allow(upTo), this.leave);
        again = false;
      } catch (error) {
        if (this.leave.aborted) throw new Interrupted();
        this.log.warn({ err: error }, NOT_NOTED);
        await this.wait(backoff.next());
      }
    }
  }

  /** Waits while nothing moves: a stop ends it at once. @throws Interrupted */
  protected async wait(ms: number): Promise<void> {
    await pause(ms, this.leave);
    if (this.leave.aborted) throw new Interrupted();
  }

  /** Waits while the printer prints: only the last end of all ends it. @throws Interrupted */
  protected async sleep(ms: number): Promise<void> {
    await pause(ms, this.end);
    if (this.end.aborted) throw new Interrupted();
  }

  #isInterruption(error: unknown): boolean {
    const aborted = this.leave.aborted && error === this.leave.reason;
    return error instanceof Interrupted || aborted || this.end.aborted;
  }

  /** Gives the job back to the queue, with a note where to go on, if that is certain. */
  async #handBack(): Promise<HandlerResult> {
    const lost = this.delivery.signal.aborted;
    try {
      this.outcome.handBack(lost);
      if (!lost) {
        const note = this.handover.end();
        await Promise.race([note, sleep(NOTE_MS, undefined, { ref: false })]);
      }
    } catch (error) {
      this.log.warn({ err: error }, 'handed back without a note where the job goes on');
    }
    return 'hand-back';
  }

  #fail(error: unknown): void {
    if (error instanceof JobFaultError) {
      this.outcome.fail(error.fault);
      return;
    }
    this.log.error({ err: error }, 'job held after an unforeseen failure');
    const message = error instanceof RenderCrash ? error.message : 'The agent failed while printing';
    this.outcome.fail({ code: 'internal', message });
  }
}
