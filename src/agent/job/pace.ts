/** Judges by what a printer says, on one connection, when to ask it again, and when labels are gone. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { Timings } from '../config.ts';
import type { PrinterLink } from '../printer/link.ts';
import { isBlocked, isIdle } from '../printer/status.ts';
import type { Ledger } from './ledger.ts';
import { gone } from './rest.ts';
import type { Row, WindowSize } from './row.ts';

interface PaceOptions {
  ledger: Ledger;
  row: Row;
  link: Pick<PrinterLink, 'pollAfter'>;
  /** What may be under way now. */
  window(): WindowSize;
  timings: Timings;
}

export class Pace {
  readonly #options: PaceOptions;
  readonly #started = performance.now();
  /** Labels of the job that were done with before this connection. */
  readonly #from: number;
  #moved = this.#started;
  /** When the printer last had something to print, or had printed something. */
  #printing = this.#started;
  #outstanding = 0;
  /** The printer will not print now. */
  #blocked = false;
  /** Nothing moves. */
  stuck = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#from = options.ledger.base;
  }

  get blocked(): boolean {
    return this.#blocked;
  }

  /** Something was sent, or is out. */
  moves(): void {
    this.#moved = performance.now();
    this.#outstanding = this.#options.row.outstanding;
  }

  /** The ledger has taken over the status. @throws JobFaultError `outcome-unknown` where labels are gone */
  told(status: DeviceStatus, now: number): void {
    const { row, timings } = this.#options;
    const { outstanding, short } = row;
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
    const { ledger, row, link, window, timings } = this.#options;
    const { odometer, sent, total, arrived } = ledger;
    if (this.#blocked) return timings.pollWaiting;
    const since = performance.now() - this.#moved;
    const perLabel = (this.#moved - this.#started) / Math.max(1, sent - row.outstanding - this.#from);
    const needed = sent === total ? 1 : Math.ceil(window().labels / 2);
    const spare = ((row.outstanding - needed) * perLabel) / 2;
    // Labels that arrived before a cut have to be known: where some are gone after it, they were canceled.
    const settling = odometer !== null && since < timings.settle && !row.short && arrived < sent;
    const longest = this.stuck ? timings.pollWaiting : timings.pollMax;
    return Math.min(longest, link.pollAfter(since, spare, settling));
  }
}
