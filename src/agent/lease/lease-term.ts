/**
 * The time in which this agent may print on a printer, as the agent counts it.
 *
 *   asked ──────────────────────── ending ──────── over ──── the server lets another have it
 *           prints, asks again       │ no new label  │ connection closed
 *                                    └ what is under way is confirmed, the job goes back
 *
 * The time counts from the moment before the agent asked for the lease. The faster of two clocks counts: the monotonic clock
 * stands still while a machine sleeps, and the other one may be set. Timers are late in a process that was stopped (SIGSTOP, a
 * machine that sleeps), so whoever is about to send something calls `check` first.
 *
 * What this cannot prevent: bytes that the kernel has taken still go out; a process that is stopped inside of a
 * label goes on with the rest of the piece (4 KB) that it was handing over; a virtual machine that is paused with
 * both of its clocks does not know.
 */
export class LeaseTerm {
  /** The term's name in the queue. */
  readonly id: string;
  readonly #ending = new AbortController();
  readonly #over = new AbortController();
  readonly #leaseMs: number;
  #granted: { at: Instant; ms: number };
  #alone: boolean;
  #timer: NodeJS.Timeout | undefined;

  /** @param leaseMs length of a lease that another agent wants: margin and last part are fractions of it */
  constructor(id: string, granted: { at: Instant; ms: number }, leaseMs: number) {
    this.id = id;
    this.#granted = granted;
    this.#alone = granted.ms > leaseMs;
    this.#leaseMs = leaseMs;
    this.#arm();
  }

  /** Aborted when no label and no job may be begun any more. This is for good, even if the lease lasts longer in the end. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Aborted when nothing may be sent any more. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** No other agent wants the printer, as far as is known: the lease is longer than otherwise. */
  get alone(): boolean {
    return this.#alone;
  }

  /** Takes over a new grant in place of the one before. Returns whether it ends sooner than that one. */
  extend(granted: { at: Instant; ms: number }): boolean {
    const sooner = left(granted) < left(this.#granted);
    this.#granted = granted;
    this.#alone = granted.ms > this.#leaseMs;
    this.#arm();
    return sooner;
  }

  /** Returns the ms left from `at` on, to be told to the server. From now on this term counts on no more than that. */
  keep(at: Instant): number {
    const ms = Math.max(0, left(this.#granted));
    this.#granted = { at, ms };
    this.#arm();
    return ms;
  }

  /** Nothing new is begun; what is under way has as long as the lease lasts. */
  end(): void {
    this.#ending.abort();
  }

  /** Another agent has the lease, or may have. */
  lose(): void {
    this.#ending.abort();
    this.#over.abort();
    clearTimeout(this.#timer);
  }

  /** Looks at the clocks, and aborts what is to be aborted by now. */
  check(): void {
    const untilOver = this.#untilOver();
    if (untilOver <= this.#leaseMs * LAST_PART) this.#ending.abort();
    if (untilOver <= 0) this.#over.abort();
  }

  #untilOver(): number {
    return left(this.#granted) - this.#leaseMs * MARGIN;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.check();
    if (this.#over.signal.aborted) return;
    const untilOver = this.#untilOver();
    const untilEnding = untilOver - this.#leaseMs * LAST_PART;
    this.#timer = setTimeout(() => this.#arm(), Math.max(1, untilEnding > 0 ? untilEnding : untilOver));
  }
}

/** Of a lease: the safety margin at its end, for closing connections and for clocks that do not run quite alike. */
const MARGIN = 0.15;
/** Of a lease: the time before that, in which what is under way is confirmed and given back. */
const LAST_PART = 0.25;

interface Instant {
  monotonic: number;
  wall: number;
}

export function now(): Instant {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** ms that have passed, by the faster clock. */
export function elapsed(since: Instant): number {
  return Math.max(performance.now() - since.monotonic, Date.now() - since.wall);
}

function left({ at, ms }: { at: Instant; ms: number }): number {
  return ms - elapsed(at);
}
