/** The job ahead: lets the next job follow while the printer prints its last labels (`succession.ts`). */
import type { PrinterLink } from '../printer/link.ts';
import type { PickedUpJob } from '../source/job-source.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { Row } from './row.ts';
import type { Sender } from './sender.ts';
import type { Stop } from './stop.ts';
import type { Succession } from './succession.ts';

interface LeadingParts {
  delivery: Pick<PickedUpJob, 'follow' | 'waited'>;
  ledger: Pick<Ledger, 'sent' | 'total' | 'printed' | 'odometer' | 'underWay' | 'cleared' | 'followedBy'>;
  row: Pick<Row, 'pending' | 'doubtful'>;
  link: Pick<PrinterLink, 'documents'>;
  sender: { readonly handover: Pick<Sender['handover'], 'follow'> };
  outcome: Pick<Outcome, 'progress'>;
  stop: Pick<Stop, 'lost' | 'leave' | 'end' | 'leaveIfTold'>;
  /** No other agent wants the printer: one that took over could not tell the two jobs' labels apart. */
  alone(): boolean;
  held(): boolean;
}

export class Leading {
  readonly #parts: LeadingParts;
  #lets = false;
  #behind: Succession | null = null;
  #ended: { goesBack: boolean } | null = null;

  constructor(parts: LeadingParts) {
    this.#parts = parts;
  }

  /** The next job may be made ready, to follow it at the printer. */
  get letsFollow(): boolean {
    return this.#lets && this.#behind === null && !this.#parts.stop.lost;
  }

  /** The job is done with the printer. @returns whether the job behind drives, and has it from now on */
  handsOver(): boolean {
    return this.#behind?.handOver() === true;
  }

  /** Called after each burst. After the last one, where jobs wait, the next is prepared while this one prints. */
  labelsSent(): void {
    if (this.#parts.delivery.waited && this.#mayBeFollowed) this.#let();
  }

  /** The job behind has left something unfinished on the connection. */
  get unclear(): boolean {
    return this.#behind?.unclear === true;
  }

  followedBy(behind: Succession): void {
    this.#behind = behind;
    // The station hears of this job's end a moment later; one that comes in between would wait for a word until the term ends.
    if (this.#ended !== null) behind.end(this.#ended.goesBack);
  }

  /**
   * Lets the next job follow at a printer that is busy with the last labels of this one.
   * @returns whether all labels of this job are out by then; the job behind keeps the printer
   * @throws JobFaultError, TransportError, Interrupted
   */
  async gaveWay(pace: Pace): Promise<boolean> {
    const { ledger, row } = this.#parts;
    const lasts = ledger.underWay && row.pending;
    if (!lasts || pace.blocked || row.doubtful || !this.#mayBeFollowed) return false;
    this.#let();
    const behind = this.#behind;
    if (behind === null || !(await behind.offer())) return false;
    await this.#ride(behind);
    pace.moves();
    return ledger.cleared;
  }

  get #mayBeFollowed(): boolean {
    const { ledger, link, stop, alone, held } = this.#parts;
    // Without a counter, a cut connection would leave two jobs uncertain instead of one.
    const counted = !link.documents && ledger.odometer !== null;
    return ledger.sent === ledger.total && counted && alone() && !held() && !stop.leave.aborted;
  }

  #let(): void {
    if (!this.#lets) this.#parts.delivery.follow();
    this.#lets = true;
  }

  /** Listens to the job behind until all labels of this job are out, or this job drives again. */
  async #ride(behind: Succession): Promise<void> {
    const { ledger, sender, outcome, stop } = this.#parts;
    let stuck = false;
    while (!ledger.cleared) {
      stop.leaveIfTold(true, stuck);
      const word = await behind.listen(stop.end);
      if (word === null) continue;
      if (word.kind === 'fault') throw word.error;
      if (word.kind === 'back') {
        if (word.error !== null) throw word.error;
        return;
      }
      stuck = word.stuck;
      outcome.progress(word.reasons);
      // Where labels are missing, the counter does not tell which, and the note to the next agent must say
      // so.
      void sender.handover.follow(ledger.printed);
    }
  }

  /** Called before it is found out what became of this job's labels. */
  recovers(): void {
    if (this.#behind !== null) this.#parts.ledger.followedBy(this.#behind.pages);
  }

  /** This job's labels are settled by this counter reading of a printer at rest. */
  settled(odometer: number | null): void {
    this.#behind?.settle(odometer);
  }

  /** @param goesBack whether the job goes back to its queue, to be delivered again */
  end(goesBack: boolean): void {
    this.#ended = { goesBack };
    this.#behind?.end(goesBack);
  }
}
