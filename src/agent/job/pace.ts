/** Judges by what a printer says, on one connection, when to ask it again, and when labels are gone. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { Timings } from '../config.ts';
import { isBlocked, isIdle } from '../printer/status.ts';
import { gone } from './rest.ts';
import type { Row } from './row.ts';
import type { Printable } from './sender.ts';

export class Pace {
  readonly #job: Printable;
  readonly #row: Row;
  readonly #timings: Timings;
  /** More is to be sent, of this job or of the one behind. */
  readonly #more: () => boolean;
  #moved = performance.now();
  /** When the printer last had something to print, or had printed something. */
  #printing = this.#moved;
  #outstanding = 0;
  /** The printer will not print now. */
  #blocked = false;
  /** Nothing moves. */
  stuck = false;

  /** @param before labels are under way already, at a printer that stood still or printed; null: none are */
  constructor(
    job: Printable,
    row: Row,
    timings: Timings,
    more: () => boolean,
    before: { stuck: boolean } | null,
  ) {
    [this.#job, this.#row, this.#timings, this.#more] = [job, row, timings, more];
    this.#blocked = this.stuck = before?.stuck === true;
    if (before !== null) this.moves();
  }

  get blocked(): boolean {
    return this.#blocked;
  }

  /** Something was sent, or is out. */
  moves(): void {
    this.#moved = performance.now();
    this.#outstanding = this.#row.outstanding;
  }

  /** The ledger has taken over the status. @throws JobFaultError `outcome-unknown` where labels are gone */
  told(status: DeviceStatus, now: number): void {
    const timings = this.#timings;
    const { outstanding, short } = this.#row;
    const printed = outstanding < this.#outstanding;
    const blocked = isBlocked(status);
    this.#outstanding = outstanding;
    if (printed || status.labelsPending !== 0) this.#printing = now;
    if (printed || blocked || this.#blocked) this.#moved = now;
    this.#blocked = this.stuck = blocked;
    if (short && now - this.#printing > timings.settle) throw gone(outstanding);
    if (isIdle(status) && outstanding > 0 && now - this.#moved > timings.vanished) throw gone(outstanding);
  }

  /** After which time to ask again, ms. */
  pollAfter(): number {
    const [{ ledger, link, ahead }, row, timings] = [this.#job, this.#row, this.#timings];
    if (this.#blocked) return timings.pollWaiting;
    const since = performance.now() - this.#moved;
    const needed = this.#more() ? Math.ceil(ahead().labels / 2) : 1;
    const spare = ((row.outstanding - needed) * row.labelMs) / 2;
    // Labels that arrived before a cut have to be known: where some are gone after it, they were canceled.
    const arrives = ledger.odometer !== null && row.arrived < row.sent;
    const settling = arrives && since < timings.settle && !row.short;
    const longest = this.stuck ? timings.pollWaiting : timings.pollMax;
    return Math.min(longest, link.pollAfter(since, spare, settling));
  }
}
