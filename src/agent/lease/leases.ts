/**
 * The leases of an agent's printers: asked for where the agent has none, renewed where it has one, in one
 * loop for all. What a lease is: `src/queue/lease.ts`; how its time is counted: `lease-term.ts`.
 *
 *   sought ──granted──▶ held ──┬─ not renewed in time, or another's ──────────▶ ended
 *     ▲                        └─ the printer is not reached, another reaches it ─▶ ended
 *     └───────────────── given back, once nothing is under way ◀────────────────────┘
 *
 * An agent keeps a lease as long as it renews it. It gives the lease up when it has not reached the printer
 * for the length of a lease while another agent did, unless labels are under way: only this agent can find
 * out what became of them.
 */
import { randomUUID } from 'node:crypto';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import { ALONE, type Lane, printerOf } from '../../contract/lane.ts';
import type { Logger } from '../../log.ts';
import type { LeaseAnswer, LeaseAsk } from '../../queue/index.ts';
import { pause } from '../pause.ts';
import type { JobSource } from '../source/job-source.ts';
import { elapsed, type Instant, LeaseTerm, now } from './lease-term.ts';

/** What a lease has to know of its printer. */
interface LeasedPrinter {
  lane: Lane;
  reached(): boolean;
  /** Labels are under way. */
  busy(): boolean;
  /** Called with whether another agent serves the printer. */
  onServedElsewhere(elsewhere: boolean): void;
  /** Jobs of the lane, by their names in the queue, that are not to be printed any more: all of them, each time. */
  onCanceled(queueIds: readonly string[]): void;
  /** Whether a person holds the printer; told each time. */
  onHeld(held: boolean): void;
}

interface LeasesOptions {
  source: Pick<JobSource, 'askLeases' | 'giveLeaseBack'>;
  agentId: string;
  /** Length of a lease while another agent wants it, ms. */
  leaseMs: number;
  logger: Logger;
}

/**
 * Fractions of a lease's length after which the agent asks again: for a lease that it holds; for one that it
 * holds while no other agent wants it and no labels are under way; for one that it does not hold.
 */
const RENEW = 1 / 4;
const RENEW_IDLE = 2 / 3;
const SEEK = 1 / 15;

export class Leases {
  readonly #options: LeasesOptions;
  readonly #process = randomUUID();
  #terms = 0;
  #questions = 0;
  readonly #leases = new Set<PrinterLease>();
  readonly #stopped = new AbortController();
  #news = new AbortController();
  #asking: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();
  #away = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** To be called after every lease was given back. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  /** The lease of a printer; not sought yet. */
  of(printer: LeasedPrinter): PrinterLease {
    const { leaseMs } = this.#options;
    return new PrinterLease(printer, leaseMs, {
      newTerm: () => `${this.#process}.${++this.#terms}`,
      seek: (lease) => {
        this.#leases.add(lease);
        this.#news.abort();
      },
      giveBack: (lease, term) => this.#giveBack(lease, term),
      due: () => this.#news.abort(),
    });
  }

  async #giveBack(lease: PrinterLease, term: string): Promise<void> {
    const { source, agentId, logger } = this.#options;
    this.#leases.delete(lease);
    // A question under way might be granted after the lease was given back.
    await this.#asking;
    try {
      await source.giveLeaseBack(agentId, lease.lane, term);
    } catch (error) {
      logger.debug({ err: error, printer: printerOf(lease.lane) }, 'lease not given back; it ends by itself');
    }
  }

  async #run(): Promise<void> {
    const { leaseMs } = this.#options;
    while (!this.#stopped.signal.aborted) {
      this.#news = new AbortController();
      const all = [...this.#leases];
      if (all.some((lease) => lease.dueIn() <= 0)) {
        // With all whose time is half over: in this way they come to be asked for together, in one command.
        this.#asking = this.#ask(all.filter((lease) => lease.isDueSoon()));
        await this.#asking;
        continue;
      }
      // A printer that has begun to print is due earlier than it was.
      const next = Math.min(leaseMs * RENEW, ...all.map((lease) => lease.dueIn()));
      await pause(next, this.#stopped.signal, this.#news.signal);
    }
  }

  /** Never rejects. */
  async #ask(due: readonly PrinterLease[]): Promise<void> {
    const { source, agentId, leaseMs, logger } = this.#options;
    const at = now();
    const question = ++this.#questions;
    const asks = due.map((lease) => lease.ask(at, question));
    try {
      const answers = await source.askLeases(agentId, asks, { contended: leaseMs, alone: leaseMs * ALONE });
      const byLane = new Map(answers.map((answer) => [answer.lane, answer]));
      for (const [index, lease] of due.entries()) {
        const [ask, answer] = [asks[index], byLane.get(lease.lane)];
        if (ask !== undefined && answer !== undefined) lease.answered(at, ask.term, answer);
      }
      if (this.#away) logger.info({ printers: due.length }, 'leases can be asked for again');
      this.#away = false;
    } catch (error) {
      if (!this.#away) logger.warn({ err: error, printers: due.length }, 'leases cannot be asked for');
      this.#away = true;
    }
  }
}

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
    // It may have been granted meanwhile.
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

  /** Something of the lane has changed that an answer tells. */
  askNow(): void {
    if (this.#term === null) return;
    this.#awaited = true;
    this.#keeper.due();
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
  ask(at: Instant, question: number): LeaseAsk {
    this.#asked = at;
    this.#unanswered = true;
    this.#shortened = this.#awaited = false;
    const keeps = { ms: this.#term?.keep(at) ?? 0, question };
    const term = this.#term?.id ?? this.#sought?.term ?? '';
    return { lane: this.lane, term, fresh: this.#fresh, keeps, reaches: this.#printer.reached() };
  }

  answered(at: Instant, asked: string, { granted, wanted, canceled, held }: LeaseAnswer): void {
    this.#unanswered = false;
    if (granted !== null) {
      this.#printer.onCanceled(canceled);
      this.#printer.onHeld(held);
    }
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
