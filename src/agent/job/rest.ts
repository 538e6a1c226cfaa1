/**
 * Waits for a printer to be at rest: then its counter tells which labels of a job that was cut off came out.
 *
 * Labels that did not come out are the last ones that were sent: they never arrived, or the printer lost its
 * power. That does not hold for labels that the printer had, and that are gone while it goes on with later
 * ones: those were deleted at its panel, or dropped.
 *
 * One case cannot be seen: some labels, not the last ones, were deleted between the last answer before the
 * cut and the first one after it, and all others are out by then. That looks like a loss of power.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { faultFor, type JobFaultError } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import { isIdle } from '../printer/status.ts';
import type { Ledger } from './ledger.ts';
import { pagesOf } from './page-count.ts';

interface RestOptions {
  /** How long the printer must be idle, its counter standing still, ms. */
  settleMs: number;
  /** The most pages of one pending format. */
  perFormat: number;
  /** Pages of the job behind that were in the printer, or out, before the cut. */
  behind?: number;
  /** The printer was told to delete what waited: that it is gone means nothing. */
  forgets?: boolean;
}

export class Rest {
  readonly #ledger: Ledger;
  readonly #options: RestOptions;
  /** The counter that the printer at rest shows, and since when. */
  #shown: number | null | undefined;
  #since = 0;
  /**
   * The most pages, of this job and the one behind it, that were out or pending by one answer since the cut. It is negative while
   * only labels of the job ahead, which has left, have come out.
   */
  #had = Number.NEGATIVE_INFINITY;
  /** What the counter must have reached at its next reading, for the last answer to add up. */
  #due = Number.NEGATIVE_INFINITY;

  constructor(ledger: Ledger, options: RestOptions) {
    [this.#ledger, this.#options] = [ledger, options];
  }

  /** The printer is idle, but maybe not for long enough. */
  get near(): boolean {
    return this.#shown !== undefined;
  }

  /**
   * Labels printed, once the printer is at rest; null: it is not yet.
   * @throws JobFaultError `outcome-unknown`
   */
  printed(status: DeviceStatus, now: number): number | null {
    const { odometer } = status;
    if (!this.#options.forgets) this.#check(status);
    if (!isIdle(status)) {
      this.#shown = undefined;
      return null;
    }
    if (this.#shown !== odometer) this.#since = now;
    this.#shown = odometer;
    if (now - this.#since < this.#options.settleMs) return null;
    return this.#ledger.printedAtRest(odometer);
  }

  #check({ odometer, labelsPending, formatsPending = 0, unfinished }: DeviceStatus): void {
    const { perPage, arrived, most } = this.#ledger;
    const { base, odometer: start } = this.#ledger.lasting;
    if (start === null || odometer === null || labelsPending === null || unfinished) return;
    const { perFormat, behind = 0 } = this.#options;
    const counted = odometer - start;
    if (counted < this.#due) throw gone(this.#due - counted);
    // A printer that has nothing pending may have lost its power before it answered.
    const before = pagesOf(Math.max(0, arrived - base), perPage) + behind;
    const had = labelsPending > 0 ? before : this.#had;
    // A pending format need not be a label: it may only store another format.
    this.#had = Math.max(this.#had, Math.min(counted + labelsPending, most), had);
    this.#due = this.#had - (labelsPending - formatsPending) - formatsPending * perFormat;
  }
}

/** Labels are neither out nor pending any more. */
export function gone(missing: number): JobFaultError {
  return faultFor('outcome-unknown', because('dropped', { missing }));
}
