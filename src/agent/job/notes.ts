/**
 * The notes that this agent leaves with a job in the queue while it prints the job, for the agent that gets
 * the job next: which labels are certainly out, which may be, and what the printer's counter showed. A note
 * is stored before the labels that it allows are sent, so no label beyond the note was ever sent.
 *
 * While no other agent wants the printer, the first note allows the whole job: that costs one command, and
 * the job goes on while the queue is away. While another agent wants it, a note allows one window beyond the
 * labels that are certainly out. The next note is stored when half a window of those is out, while the other
 * half keeps the printer busy: with a window of 16 labels, one command for every eight labels beyond the
 * first 16. A job that is sent behind another one then has both notes stored in one command: the note of the job
 * ahead says how many pages may be out behind its own (`behind`), and this job's note says which job that is
 * (`ahead`).
 */

import { Backoff } from '../pause.ts';
import type { Ledger } from './ledger.ts';
import type { Note, NotedDelivery, NotedLedger } from './note.ts';
import { pagesOf } from './page-count.ts';

export interface NotesOptions {
  agentId: string;
  delivery: Pick<NotedDelivery, 'setNote'>;
  ledger: Pick<Ledger, 'total' | 'perPage' | 'base' | 'intent' | 'sent' | 'printed'>;
  /** Labels. */
  window: number;
  /** No other agent wants the printer. */
  alone(): boolean;
  /** Where the job stands, for the next agent; `odometer`: null where the printer's counter does not tell. */
  standing(): NotedLedger;
  /** ms */
  retry: { min: number; max: number };
  onFailure(error: unknown): void;
}

export class Notes {
  readonly #options: NotesOptions;
  readonly #backoff: Backoff;
  #stored = false;
  #tried = false;
  #allowed = 0;
  /** The last note in the queue; null: there is none, or another one may have taken its place. */
  #said: Pick<NotedLedger, 'base' | 'odometer' | 'behind'> | null = null;
  /** The job ahead in the row. `note`: its own; null: all its labels are out. `said`: its note knows of this job. */
  #ahead: { name: string; note: Notes | null; said: boolean } | null = null;
  /** Pages of the job behind that may be out too. */
  #behind = 0;
  #storing: Promise<void> | null = null;
  /** What is settled is newer than the note in the queue. */
  #untold = false;
  /** How often something was settled: a note that was on its way meanwhile covers nothing. */
  #settlings = 0;
  #notBefore = 0;

  constructor(options: NotesOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.retry.min, options.retry.max);
  }

  /** A note of this delivery is in the queue. */
  get stored(): boolean {
    return this.#stored;
  }

  /** No label from this one on may be sent yet. */
  get allowed(): number {
    return this.#allowed;
  }

  /**
   * The note in the queue is out of date: its count begins elsewhere than the job's does now, or it names labels behind this job
   * that are settled. An agent that went by it would take somebody else's labels for these.
   */
  get misleads(): boolean {
    if (!this.#stored) return false;
    const [said, now] = [this.#said, this.#options.standing()];
    if (said === null || (said.behind ?? 0) > this.#behind) return true;
    if (said.odometer === null) return false;
    const { perPage } = this.#options.ledger;
    const begin = ({ base, odometer }: Pick<NotedLedger, 'base' | 'odometer'>) =>
      (odometer ?? 0) * perPage - base;
    return now.odometer === null || begin(said) !== begin(now);
  }

  /**
   * The note of the job ahead allows fewer labels behind it than this job may send. An agent that takes over would count this
   * job's labels as a stranger's, and hold the job ahead.
   */
  get apart(): boolean {
    const { alone, ledger } = this.#options;
    const note = this.#ahead?.note;
    if (note === null || note === undefined || alone()) return false;
    return (note.#said?.behind ?? 0) < pagesOf(this.#allowed - ledger.base, ledger.perPage);
  }

  /** Labels go out behind those of another job from now on. @param name of that one in the queue */
  joins(name: string, note: Notes): void {
    const said = this.#ahead?.name === name && this.#ahead.said;
    this.#ahead = { name, note, said };
  }

  /** All labels of the job ahead are out. */
  leads(): void {
    if (this.#ahead !== null) this.#ahead.note = null;
  }

  /** Call it once it is known what is out of this job and of the one behind it. The note in the queue does not say so yet. */
  settled(): void {
    this.#behind = 0;
    this.#settlings += 1;
    // The note of the job ahead does not mention this one any more either.
    if (this.#ahead !== null && this.#ahead.note !== null) this.#ahead.said = false;
    this.#tried = this.#untold = true;
    this.tell();
  }

  /** The job waits, and nothing of it is under way: the queue may know so as well. */
  waits(): void {
    this.#untold ||= this.#stored;
    this.tell();
  }

  /**
   * Stores a note that says what is settled, if another agent wants the printer: what that agent counts later is none of this
   * job's. Call it while nothing is being sent. As long as no other agent wants the printer, the older note may stay, since it covers
   * what is sent next.
   */
  tell(): void {
    const { alone, ledger } = this.#options;
    const isSettled = ledger.intent === ledger.printed;
    if (!this.#untold || !isSettled || alone() || performance.now() < this.#notBefore) return;
    this.#untold = false;
    this.#settlings += 1;
    // No label may be sent before another note is stored.
    [this.#stored, this.#allowed, this.#said] = [false, 0, null];
    this.#stores(this.#tell(this.#storing));
  }

  async #tell(before: Promise<void> | null): Promise<void> {
    const { agentId, delivery, ledger } = this.#options;
    await before;
    await this.#try(
      () => delivery.setNote({ agentId, resumeAt: ledger.printed }),
      () => {
        this.#untold = true;
      },
    );
  }

  /** Resolves when the queue has a note that allows labels up to `upTo` at least. @throws QueueError */
  async allow(upTo: number): Promise<void> {
    await this.#store(Math.max(upTo, this.#reach(this.#options.ledger.printed)));
  }

  /**
   * Stores another note where that is worth a command: the last one is about to hold the job up, or allows
   * more than it has to, or has a reading of the counter that does not hold any more. Resolves when the note
   * under way, if there is one, has been stored or refused; never rejects.
   * @param from the label from which on the window counts
   */
  follow(from: number): Promise<void> | null {
    if (this.#storing === null && this.#stored && performance.now() >= this.#notBefore) {
      const { sent, total } = this.#options.ledger;
      const half = Math.ceil(this.#options.window / 2);
      const reach = this.#reach(from);
      const more = reach - this.#allowed;
      const short = this.#allowed - sent < half && (more >= half || (more > 0 && reach === total));
      const stale = this.#options.standing().odometer !== (this.#said?.odometer ?? null);
      if (short || stale || this.apart || -more >= half) this.#stores(this.#try(() => this.#store(reach)));
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

  /** @param storing never rejects */
  #stores(storing: Promise<void>): void {
    const own = storing.then(() => {
      if (this.#storing === own) this.#storing = null;
    });
    this.#storing = own;
  }

  async #try(store: () => Promise<void>, failed?: () => void): Promise<void> {
    try {
      await store();
      this.#backoff.reset();
    } catch (error) {
      this.#notBefore = performance.now() + this.#backoff.next();
      failed?.();
      this.#options.onFailure(error);
    }
  }

  async #store(upTo: number): Promise<void> {
    const { agentId, delivery, standing } = this.#options;
    // First, and in the same tick: the two go to the queue in one command.
    const ahead = this.#tellsAhead(upTo);
    const underWay: NotedLedger = { ...standing(), intent: upTo };
    if (this.#behind > 0) underWay.behind = this.#behind;
    if (this.#ahead !== null) underWay.ahead = this.#ahead.name;
    if (this.#ahead?.said === false) underWay.apart = true;
    const note: Note = { agentId, resumeAt: null, underWay };
    const settlings = this.#settlings;
    // From now on the note may be in the queue, even if no answer comes.
    this.#tried = true;
    this.#allowed = Math.min(this.#allowed, upTo);
    this.#said = null;
    await Promise.all([ahead, delivery.setNote(note)]);
    if (settlings !== this.#settlings) return;
    this.#untold = false;
    this.#allowed = upTo;
    this.#said = underWay;
    this.#stored = true;
  }

  /** Has the note of the job ahead say that labels of this one before `upTo` may be out too. */
  async #tellsAhead(upTo: number): Promise<void> {
    const { alone, ledger } = this.#options;
    const ahead = this.#ahead;
    if (ahead === null || ahead.note === null || alone()) return;
    ahead.said = true;
    const pages = pagesOf(upTo - ledger.base, ledger.perPage);
    const { note } = ahead;
    if ((note.#said?.behind ?? 0) >= pages) return;
    note.#behind = Math.max(note.#behind, pages);
    await note.#store(Math.max(note.#allowed, note.#options.ledger.intent));
  }
}
