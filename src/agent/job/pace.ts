/** Judges by what a printer says when to ask it again, and when labels are gone. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { TimingConfig } from '../config.ts';
import { isBlocked, isIdle } from '../printer/status.ts';
import { gone } from './rest.ts';
import type { Row } from './row.ts';
import type { LoopEntry } from './sender.ts';

export class Pace {
  readonly #row: Row;
  readonly #timings: TimingConfig;
  #moved = 0;
  /** When the printer last had something to print, or had printed something. */
  #printing = 0;
  #outstanding = 0;
  /** The printer will not print now, by its last answer. */
  blocked = false;
  /** Nothing moves. */
  stuck = false;

  constructor(row: Row, timings: TimingConfig) {
    [this.#row, this.#timings] = [row, timings];
  }

  /** Another job is first now, or there is a new connection. @param goesOn labels of it are under way already */
  begin(goesOn: boolean): void {
    this.#moved = this.#printing = performance.now();
    this.#outstanding = goesOn ? this.#row.outstanding : 0;
    this.blocked = this.stuck = goesOn && this.stuck;
  }

  /** Something was sent, or is out. */
  moves(): void {
    this.#moved = performance.now();
    this.#outstanding = this.#row.outstanding;
  }

  /** The row has taken over the status. @throws JobFaultError `outcome-unknown` where labels are gone */
  told(status: DeviceStatus, now: number): void {
    const timings = this.#timings;
    const { outstanding, short } = this.#row;
    const printed = outstanding < this.#outstanding;
    const blocked = isBlocked(status);
    this.#outstanding = outstanding;
    if (printed || status.labelsPending !== 0) this.#printing = now;
    if (printed || blocked || this.blocked) this.#moved = now;
    this.blocked = this.stuck = blocked;
    if (short && now - this.#printing > timings.settle) throw gone(outstanding);
    if (isIdle(status) && outstanding > 0 && now - this.#moved > timings.vanished) throw gone(outstanding);
  }

  /** After which time to ask again, ms. @param more labels are still to be sent */
  pollAfter({ ledger, link, ahead, stop }: LoopEntry, more: boolean): number {
    const [row, timings] = [this.#row, this.#timings];
    if (this.blocked) return timings.pollWaiting;
    const since = performance.now() - this.#moved;
    const needed = more ? Math.ceil(ahead().labels / 2) : 1;
    // A canceled job has no need of a busy printer: the sooner an answer shows nothing else there, the sooner it is told to forget.
    const spare = stop.canceled ? 0 : ((row.outstanding - needed) * (row.window.labelMs ?? 0)) / 2;
    // After a cut, labels that had arrived and are gone were deleted there. So it has to be known which have arrived.
    const arrives = ledger.odometer !== null && row.arrived < row.sent;
    const settling = arrives && since < timings.settle && !row.short;
    const longest = this.stuck ? timings.pollWaiting : timings.pollMax;
    return Math.min(longest, link.pollAfter(since, spare, settling));
  }
}
