/**
 * What is left with a job in the queue while this agent prints it, for the agent that gets it next: which labels are
 * certainly out, which may be, and what the printer's counter showed. It is stored before what it allows is sent, so
 * that no label beyond it ever was.
 *
 * While nobody else wants the printer, the first note allows the whole job: it costs one command, and the job goes on
 * while the queue is away. While another agent does, a note allows one window beyond what is certainly out. The next
 * one is stored when half a window of that is out, while the other half keeps the printer busy: with a window of 16
 * labels, one command for every eight labels beyond the first 16.
 */

import { Backoff } from '../pause.ts';
import type { HandoverNote, PickedUpJob, UnderWay } from '../source/job-source.ts';
import type { Ledger } from './ledger.ts';

export interface HandoverOptions {
  agentId: string;
  delivery: Pick<PickedUpJob, 'setNote'>;
  ledger: Pick<Ledger, 'total' | 'intent' | 'sent' | 'printed'>;
  /** Labels. */
  window: number;
  /** Nobody else wants the printer. */
  alone(): boolean;
  /** Where the job stands, for whoever has it next; `odometer`: null where what the printer counts does not tell. */
  standing(): UnderWay;
  /** ms */
  retry: { min: number; max: number };
  onFailure(error: unknown): void;
}

export class Handover {
  readonly #options: HandoverOptions;
  readonly #backoff: Backoff;
  #left = false;
  #tried = false;
  #allowed = 0;
  /** The counter that the last note begins with. */
  #odometer: number | null = null;
  #storing: Promise<void> | null = null;
  #notBefore = 0;

  constructor(options: HandoverOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.retry.min, options.retry.max);
  }

  /** A note of this delivery is in the queue. */
  get left(): boolean {
    return this.#left;
  }

  /** No label from this one on may be sent yet. */
  get allowed(): number {
    return this.#allowed;
  }

  /** Resolves when the queue has a note that allows labels up to `upTo` at least. @throws QueueError */
  async allow(upTo: number): Promise<void> {
    await this.#store(Math.max(upTo, this.#reach(this.#options.ledger.printed)));
  }

  /**
   * Stores another note where that is worth a command: what is allowed is about to hold the job up, or is more than
   * it has to be, or the counter does not tell any more what it says. Resolves when the one under way, if there is one, has been stored or refused; never rejects.
   * @param from the label from which on the window counts
   */
  follow(from: number): Promise<void> | null {
    if (this.#storing === null && this.#left && performance.now() >= this.#notBefore) {
      const { sent, total } = this.#options.ledger;
      const half = Math.ceil(this.#options.window / 2);
      const reach = this.#reach(from);
      const more = reach - this.#allowed;
      const short = this.#allowed - sent < half && (more >= half || (more > 0 && reach === total));
      const stale = this.#options.standing().odometer !== this.#odometer;
      if (short || stale || -more >= half) this.#storing = this.#try(reach);
    }
    return this.#storing;
  }

  /** The job leaves this agent: nothing more is sent. @throws QueueError */
  async end(): Promise<void> {
    if (!this.#tried) return;
    await this.#storing;
    const { agentId, delivery, ledger } = this.#options;
    if (ledger.intent > ledger.printed) await this.#store(ledger.intent);
    else await delivery.setNote({ agentId, resumeAt: ledger.printed });
  }

  #reach(from: number): number {
    const { alone, window, ledger } = this.#options;
    const { total, intent } = ledger;
    return alone() ? total : Math.min(total, Math.max(intent, from + window));
  }

  async #try(upTo: number): Promise<void> {
    try {
      await this.#store(upTo);
      this.#backoff.reset();
    } catch (error) {
      this.#notBefore = performance.now() + this.#backoff.next();
      this.#options.onFailure(error);
    } finally {
      this.#storing = null;
    }
  }

  async #store(upTo: number): Promise<void> {
    const { agentId, delivery, standing } = this.#options;
    const underWay = { ...standing(), intent: upTo };
    const note: HandoverNote = { agentId, resumeAt: null, underWay };
    // From now on it may be there, whatever becomes of the answer.
    this.#tried = true;
    this.#allowed = Math.min(this.#allowed, upTo);
    await delivery.setNote(note);
    this.#allowed = upTo;
    this.#odometer = underWay.odometer;
    this.#left = true;
  }
}
