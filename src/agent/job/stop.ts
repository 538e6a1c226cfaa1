/**
 * When a job has to leave its printer: the agent stops or the printer is another agent's, a person cancels
 * the job, or the queue took it away. It leaves in stages: waiting ends at once, sending stops at a label
 * boundary, all ends.
 */
import { pause } from '../pause.ts';
import type { Signals } from '../printer/link.ts';

/** The agent stops, a person cancels the job, or the queue took it away. */
export class Interrupted extends Error {}

interface StopOptions {
  /** Of the station. */
  signals: Signals;
  /** Aborted when the queue gives the job to someone else. */
  lost: AbortSignal;
  /** Aborted when a person does not want the job any more. */
  cancel: AbortSignal;
  /** Whether the printer is still this agent's; if it is not, `signals` are aborted when it returns. */
  checkTerm(): void;
  /** How long what is under way may take to be confirmed after the queue took the job away, ms. */
  confirmMs: number;
}

const NEVER = new AbortController().signal;

export class Stop implements Signals {
  readonly #options: StopOptions;
  readonly #leave: AbortSignal;
  readonly #boundary: AbortSignal;
  readonly #end: AbortSignal;
  readonly #lostForGood = new AbortController();
  readonly #onLost: () => void;

  constructor(options: StopOptions) {
    const { signals, lost, cancel, confirmMs } = options;
    this.#options = options;
    this.#leave = AbortSignal.any([signals.leave, lost, cancel]);
    this.#boundary = AbortSignal.any([signals.boundary, lost, cancel]);
    this.#end = AbortSignal.any([signals.end, this.#lostForGood.signal]);
    this.#onLost = () => setTimeout(() => this.#lostForGood.abort(), confirmMs).unref();
    if (lost.aborted) this.#onLost();
    else lost.addEventListener('abort', this.#onLost, { once: true });
  }

  // Each looks at the clock: in a process that was stopped for a while, the term's timer has not fired yet.
  get leave(): AbortSignal {
    this.#options.checkTerm();
    return this.#leave;
  }

  get boundary(): AbortSignal {
    this.#options.checkTerm();
    return this.#boundary;
  }

  get end(): AbortSignal {
    this.#options.checkTerm();
    return this.#end;
  }

  /** Ends the pause that is under way when the job is told to go, and no later one. */
  get soon(): AbortSignal {
    return this.boundary.aborted ? NEVER : this.#boundary;
  }

  get canceled(): boolean {
    return this.#options.cancel.aborted;
  }

  get lost(): boolean {
    return this.#options.lost.aborted;
  }

  /** Waits while nothing moves. @throws Interrupted */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.leave);
    if (this.leave.aborted) throw new Interrupted();
  }

  /** @throws Interrupted when the job has to go, and either nothing is under way or nothing moves there */
  leaveIfTold(underWay: boolean, stuck: boolean): void {
    const waits = !underWay || stuck;
    if (this.end.aborted || (this.boundary.aborted && waits) || (this.leave.aborted && stuck))
      throw new Interrupted();
  }

  /** Whether the run has ended because the job has to leave, and not by a fault. */
  interrupts(error: unknown): boolean {
    const aborted = this.leave.aborted && error === this.leave.reason;
    return error instanceof Interrupted || aborted || this.end.aborted;
  }

  close(): void {
    this.#options.lost.removeEventListener('abort', this.#onLost);
  }
}
