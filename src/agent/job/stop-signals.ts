/**
 * Tells a job when it has to leave its printer: the agent stops, the printer is another agent's, a person cancels the job, or the
 * queue has given it to somebody else. It leaves in stages: waiting ends at once, sending stops at a label boundary, and in the end
 * everything stops. A canceled job does not come again. So if its connection broke, it still waits for a bounded time, to find out
 * which of its labels are out.
 */
import { pause } from '../pause.ts';
import type { Signals } from '../printer/link.ts';

/** The job has to leave: no fault of its own has ended it. */
export class InterruptedError extends Error {}

interface StopOptions {
  /** Of the station. */
  signals: Signals;
  /** Aborted when the queue gives the job to someone else. */
  lost: AbortSignal;
  /** Aborted when a person does not want the job any more. */
  cancel: AbortSignal;
  /** Whether the printer is still this agent's; if it is not, `signals` are aborted when it returns. */
  checkTerm(): void;
  /**
   * ms. Once the queue has given the job to somebody else: how long labels under way may take to be confirmed. Once it is canceled:
   * how long a label that is being sent may take, and after its connection broke the search for what became of its labels.
   */
  confirmMs: number;
}

const NEVER = new AbortController().signal;

export class StopSignals implements Signals {
  readonly #options: StopOptions;
  /** Labels were under way on a connection that is gone, and nobody knows yet what became of them. */
  recovers: () => boolean = () => false;
  readonly #leave: AbortSignal;
  readonly #recovering: AbortSignal;
  readonly #boundary: AbortSignal;
  readonly #sending: AbortSignal;
  readonly #end: AbortSignal;
  readonly #lostForGood: Later;
  readonly #canceledForGood: Later;

  constructor(options: StopOptions) {
    const { signals, lost, cancel, confirmMs } = options;
    this.#options = options;
    this.#leave = AbortSignal.any([signals.leave, lost, cancel]);
    this.#boundary = AbortSignal.any([signals.boundary, lost, cancel]);
    [this.#lostForGood, this.#canceledForGood] = [later(lost, confirmMs), later(cancel, confirmMs)];
    this.#end = AbortSignal.any([signals.end, this.#lostForGood.signal]);
    this.#sending = AbortSignal.any([this.#end, this.#canceledForGood.signal]);
    this.#recovering = AbortSignal.any([signals.leave, lost, this.#canceledForGood.signal]);
  }

  // Each looks at the clock: in a process that was stopped for a while, the term's timer has not fired yet.
  get leave(): AbortSignal {
    this.#options.checkTerm();
    return this.recovers() ? this.#recovering : this.#leave;
  }

  get boundary(): AbortSignal {
    this.#options.checkTerm();
    return this.#boundary;
  }

  get end(): AbortSignal {
    this.#options.checkTerm();
    return this.#end;
  }

  get sending(): AbortSignal {
    this.#options.checkTerm();
    return this.#sending;
  }

  /** Ends a pause in which the job is told to go. A pause that begins after that is not cut short. */
  get soon(): AbortSignal {
    return this.boundary.aborted ? NEVER : this.#boundary;
  }

  get canceled(): boolean {
    return this.#options.cancel.aborted;
  }

  get lost(): boolean {
    return this.#options.lost.aborted;
  }

  /** Waits while nothing moves. @throws InterruptedError */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.leave);
    if (this.leave.aborted) throw new InterruptedError();
  }

  /** @throws InterruptedError when the job has to go, and either nothing is under way or nothing moves there */
  leaveIfTold(underWay: boolean, stuck: boolean): void {
    const waits = !underWay || stuck;
    if (this.end.aborted || (this.boundary.aborted && waits) || (this.leave.aborted && stuck))
      throw new InterruptedError();
  }

  /** Whether the run has ended because the job has to leave, and not by a fault. */
  interrupts(error: unknown): boolean {
    const told = [this.#leave, this.#recovering, this.#sending];
    const aborted = told.some((signal) => signal.aborted && error === signal.reason);
    return error instanceof InterruptedError || aborted || this.end.aborted;
  }

  close(): void {
    this.#lostForGood.close();
    this.#canceledForGood.close();
  }
}

interface Later {
  signal: AbortSignal;
  close(): void;
}

/** Aborted so many ms after `signal`. */
function later(signal: AbortSignal, ms: number): Later {
  const controller = new AbortController();
  const onAbort = () => setTimeout(() => controller.abort(), ms).unref();
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return { signal: controller.signal, close: () => signal.removeEventListener('abort', onAbort) };
}
