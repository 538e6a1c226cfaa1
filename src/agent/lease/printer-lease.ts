/**
 * The lease of one printer, as its agent has it: how long the printer is the agent's, and what people want there meanwhile, a
 * hold or the end of jobs. Answers about the lease, which come every few seconds anyway, also say this, so it costs nothing.
 * The bell tells of a canceled job at once.
 */
import { orAborted } from '../../../drivers/transports/pauses.ts';
import type { Lane } from '../../contract/lane.ts';
import type { LeaseAnswer, LeaseQuestion } from '../../queue/index.ts';
import { elapsed, LeaseTerm, now } from './lease-term.ts';

type Instant = ReturnType<typeof now>;

/** What a lease has to know of its printer. */
export interface LeasedPrinter {
  lane: Lane;
  reached(): boolean;
  /** Labels are under way. */
  busy(): boolean;
  /** Called with whether another agent serves the printer. */
  onServedElsewhere(elsewhere: boolean): void;
}

/**
 * Fractions of a lease's length after which the agent asks again: for a lease that it holds; for one that it
 * holds while no other agent wants it and no labels are under way; for one that it does not hold.
 */
export const RENEW = 1 / 4;
const RENEW_IDLE = 2 / 3;
const SEEK = 1 / 15;

interface Keeper {
  newTerm(): string;
  seek(lease: PrinterLease): void;
  giveBack(lease: PrinterLease, term: string): Promise<void>;
  /** A lease is to be asked for at once. */
  due(): void;
}

export class PrinterLease {
  readonly #printer: LeasedPrinter;
  readonly #leaseMs: number;
  readonly #keeper: Keeper;
  #asked: Instant | null = null;
  /** The last question has had no answer, so far. */
  #unanswered = false;
  /** This agent counts on less than the server knows. */
  #shortened = false;
  /** An answer is expected to say something new. */
  #awaited = false;
  #sought: { term: string; granted: PromiseWithResolvers<LeaseTerm> } | null = null;
  #term: LeaseTerm | null = null;
  #fresh = true;
  /** Since when another agent reaches the printer and this one does not. */
  #useless: Instant | null = null;
  /** Jobs that people have canceled, as the last answer named them. */
  #canceled: readonly string[] = [];
  /** Jobs in hand: one, and the one that follows it; one of them twice where the queue gave it again. */
  readonly #inHand = new Map<AbortSignal, { queueId: string; abort: AbortController }>();
  #held = false;
  #holdChanged = Promise.withResolvers<void>();

  constructor(printer: LeasedPrinter, leaseMs: number, keeper: Keeper) {
    this.#printer = printer;
    this.#leaseMs = leaseMs;
    this.#keeper = keeper;
  }

  get lane(): Lane {
    return this.#printer.lane;
  }

  /** The next term in which the printer is this agent's; null: aborted before it came. Each is to be given back. */
  async next(signal: AbortSignal): Promise<LeaseTerm | null> {
    if (signal.aborted) return null;
    const sought = { term: this.#keeper.newTerm(), granted: Promise.withResolvers<LeaseTerm>() };
    this.#sought = sought;
    this.#asked = null;
    this.#keeper.seek(this);
    const term = await orAborted(sought.granted.promise, signal).catch(() => null);
    if (term !== null) return term;
    this.#sought = null;
    // The lease may have been granted meanwhile.
    await this.#giveBack(sought.term);
    return null;
  }

  /** For another agent to take at once. */
  async giveBack(term: LeaseTerm): Promise<void> {
    await this.#giveBack(term.id);
  }

  async #giveBack(id: string): Promise<void> {
    await this.#keeper.giveBack(this, id);
    this.#term?.lose();
    this.#term = null;
    this.#useless = null;
  }

  /** A person holds the printer, as the last answer said: no further job is taken. */
  get held(): boolean {
    return this.#held;
  }

  /** Resolves when it is so that a person holds the printer (`held`) or that nobody does, or when the signal is aborted. */
  async becomes(held: boolean, signal: AbortSignal): Promise<void> {
    while (this.#held !== held && !signal.aborted) {
      await orAborted(this.#holdChanged.promise, signal).catch(() => undefined);
    }
  }

  /** A signal that is aborted once a person has canceled the job (its name in the queue), until `letGo` is called with it. */
  canceled(queueId: string): AbortSignal {
    const abort = new AbortController();
    this.#inHand.set(abort.signal, { queueId, abort });
    if (this.#canceled.includes(queueId)) abort.abort();
    return abort.signal;
  }

  /** The job is not in hand any more. */
  letGo(canceled: AbortSignal): void {
    this.#inHand.delete(canceled);
  }

  /**
   * The lane's bell has rung for a mark. If the mark names a job in hand, that job is canceled at once. The lease is asked for
   * at once too, since the answer names all canceled jobs.
   * @param mark a job, by its name in the queue; null: any job may be canceled, or a person may hold the printer
   */
  rung(mark: string | null): void {
    if (mark !== null) this.#cancel(mark);
    if (this.#term === null) return;
    this.#awaited = true;
    this.#keeper.due();
  }

  /** Questions are answered again. */
  reached(): void {
    if (!this.#unanswered) return;
    this.#awaited = true;
    this.#keeper.due();
  }

  #cancel(name: string): void {
    for (const { queueId, abort } of this.#inHand.values()) if (queueId === name) abort.abort();
  }

  #marked(canceled: readonly string[], held: boolean): void {
    this.#canceled = canceled;
    for (const name of canceled) this.#cancel(name);
    if (held === this.#held) return;
    this.#held = held;
    this.#holdChanged.resolve();
    this.#holdChanged = Promise.withResolvers();
  }

  /** ms until the lease is to be asked for. */
  dueIn(): number {
    return Math.max(0, this.#untilDue());
  }

  isDueSoon(): boolean {
    return this.#untilDue() <= this.#period() / 2;
  }

  #untilDue(): number {
    if (this.#asked === null || this.#shortened || this.#awaited) return 0;
    return this.#period() - elapsed(this.#asked);
  }

  #period(): number {
    if (this.#term === null || this.#unanswered) return SEEK * this.#leaseMs;
    const idle = this.#term.alone && !this.#printer.busy();
    return (idle ? RENEW_IDLE : RENEW) * this.#leaseMs;
  }

  /** @param question its number among the questions of this process, from 1 */
  ask(at: Instant, question: number): LeaseQuestion {
    this.#asked = at;
    this.#unanswered = true;
    this.#shortened = this.#awaited = false;
    const keeps = { ms: this.#term?.keep(at) ?? 0, question };
    const term = this.#term?.id ?? this.#sought?.term ?? '';
    return { lane: this.lane, term, fresh: this.#fresh, keeps, reaches: this.#printer.reached() };
  }

  answered(at: Instant, asked: string, { granted, wanted, canceled, held }: LeaseAnswer): void {
    this.#unanswered = false;
    if (granted !== null) this.#marked(canceled, held);
    const term = this.#term;
    if (term !== null && term.id === asked) {
      if (granted === null) term.lose();
      else {
        this.#shortened = term.extend({ at, ms: granted });
        this.#judge(term, wanted);
      }
    } else if (this.#sought?.term === asked) {
      this.#printer.onServedElsewhere(granted === null);
      if (granted === null) return;
      this.#fresh = false;
      this.#term = new LeaseTerm(asked, { at, ms: granted }, this.#leaseMs);
      this.#sought.granted.resolve(this.#term);
      this.#sought = null;
    }
  }

  #judge(term: LeaseTerm, wanted: boolean): void {
    if (!wanted || this.#printer.reached() || this.#printer.busy()) this.#useless = null;
    else {
      this.#useless ??= now();
      if (elapsed(this.#useless) >= this.#leaseMs) term.end();
    }
  }
}
