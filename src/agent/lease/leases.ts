/**
 * The leases of an agent's printers: asked for where the agent has none, renewed where it has one, in one
 * loop for all. What a lease is: `src/queue/lease.ts`; that of one printer: `printer-lease.ts`; how its time is
 * counted: `lease-term.ts`.
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
import { ALONE, printerOf } from '../../contract/lane.ts';
import type { Logger } from '../../log.ts';
import type { DeliveryQueue } from '../../queue/index.ts';
import { pause } from '../pause.ts';
import { now } from './lease-term.ts';
import { type LeasedPrinter, PrinterLease, RENEW } from './printer-lease.ts';

interface LeasesOptions {
  queue: Pick<DeliveryQueue, 'askLeases' | 'giveLeaseBack'>;
  agentId: string;
  /** Length of a lease while another agent wants it, ms. */
  leaseMs: number;
  logger: Logger;
}

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

  /** The server answers again: asks at once about every lease whose last question has had no answer. */
  reached(): void {
    for (const lease of this.#leases) lease.reached();
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
    const { queue, agentId, logger } = this.#options;
    this.#leases.delete(lease);
    // A question under way might be granted after the lease was given back.
    await this.#asking;
    try {
      await queue.giveLeaseBack(agentId, lease.lane, term);
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
        // Also asks for all leases whose time is half over, so that in the end all are asked for together, in one command.
        this.#asking = this.#ask(all.filter((lease) => lease.isDueSoon()));
        await this.#asking;
        continue;
      }
      // The lease of a printer that has begun to print is due earlier than before.
      const next = Math.min(leaseMs * RENEW, ...all.map((lease) => lease.dueIn()));
      await pause(next, this.#stopped.signal, this.#news.signal);
    }
  }

  /** Never rejects. */
  async #ask(due: readonly PrinterLease[]): Promise<void> {
    const { queue, agentId, leaseMs, logger } = this.#options;
    const at = now();
    const question = ++this.#questions;
    const asks = due.map((lease) => lease.ask(at, question));
    try {
      const answers = await queue.askLeases(agentId, asks, { contended: leaseMs, alone: leaseMs * ALONE });
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
