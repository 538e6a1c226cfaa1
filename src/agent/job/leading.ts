/** The job ahead: sends the next job's labels while the printer prints its last ones (`following.ts`). */
import type { PrinterLink } from '../printer/link.ts';
import type { PickedUpJob } from '../source/job-source.ts';
import type { Following } from './following.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { Row } from './row.ts';
import type { Stop } from './stop.ts';

interface LeadingParts {
  delivery: Pick<PickedUpJob, 'follow' | 'waited'>;
  ledger: Pick<Ledger, 'sent' | 'total' | 'odometer' | 'underWay' | 'cleared'>;
  row: Pick<Row, 'pending' | 'doubtful'>;
  link: Pick<PrinterLink, 'documents'>;
  outcome: Pick<Outcome, 'reasons'>;
  stop: Pick<Stop, 'lost' | 'leave'>;
  /** No other agent wants the printer: one that took over could not tell the two jobs' labels apart. */
  alone(): boolean;
  held(): boolean;
}

export class Leading {
  readonly #parts: LeadingParts;
  #lets = false;
  #behind: Following | null = null;
  #ended: { goesBack: boolean } | null = null;

  constructor(parts: LeadingParts) {
    this.#parts = parts;
  }

  /** The next job may be made ready, to follow it at the printer. */
  get letsFollow(): boolean {
    return this.#lets && this.#behind === null && !this.#parts.stop.lost;
  }

  /** The job that follows this one. */
  get behind(): Following | null {
    return this.#behind;
  }

  /** Called after each burst. After the last one, where jobs wait, the next is prepared while this one prints. */
  labelsSent(): void {
    if (this.#parts.delivery.waited && this.#mayBeFollowed) this.#let();
  }

  followedBy(behind: Following): void {
    this.#behind = behind;
    // The station hears of this job's end a moment later; one that comes in between would wait until the term ends.
    if (this.#ended !== null) behind.end(this.#ended.goesBack);
  }

  /**
   * Called when the printer has said how far it is: at a printer that is busy with the last labels of this job,
   * sends those of the next one behind them.
   * @returns whether all labels of this job are out, and labels of the job behind under way
   * @throws TransportError
   */
  async fills(pace: Pace): Promise<boolean> {
    const { ledger, row, outcome } = this.#parts;
    const behind = this.#behind;
    behind?.told(pace.stuck, outcome.reasons);
    if (behind?.live && ledger.cleared) return true;
    if (pace.blocked || row.doubtful) return false;
    if (!behind?.live) {
      if (!ledger.underWay || !row.pending || !this.#mayBeFollowed) return false;
      this.#let();
    }
    if (await behind?.send()) pace.moves();
    return false;
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

  /** @param goesBack whether the job goes back to its queue, to be delivered again */
  end(goesBack: boolean): void {
    this.#ended = { goesBack };
    this.#behind?.end(goesBack);
  }
}
