/**
 * How much may be under way at a printer: what it prints in two seconds, at the pace that was measured. A person
 * who cancels waits no longer than that, and a loss of power leaves no more to be looked for, while the printer
 * never stands still.
 */
import type { PrinterFormat } from '../../contract/format.ts';

/** The most that may be under way. */
export interface WindowLimits {
  labels: number;
  bytes: number;
}

/** How long the printer may take for what is under way, ms. `LEAST`: so many labels may be, however slow it is: one of them waits. */
const WINDOW_MS = 2_000;
export const LEAST = 2;
/** What label printers are mostly set to, inches a second. */
const USUAL_SPEED = 4;

export class Window {
  /** Something did not fit since the printer last answered. */
  full = false;
  /** What the printer takes for a label, ms; null: it has not been seen to print. */
  labelMs: number | null = null;
  /** Since when it has been printing, or when it was last seen to have printed; null: it does not print. */
  #printingSince: number | null = null;

  /**
   * What may be under way at the printer's pace.
   * @param most as configured
   * @param label its height (mm) and speed (inches a second) tell, until the printer has been seen to print
   */
  size(
    most: WindowLimits,
    { height, speed = USUAL_SPEED }: Pick<PrinterFormat, 'height' | 'speed'>,
  ): WindowLimits {
    const labels = Math.ceil(WINDOW_MS / (this.labelMs ?? (1_000 * height) / (25.4 * speed)));
    return { ...most, labels: Math.min(most.labels, Math.max(LEAST, labels)) };
  }

  /** The printer, which had nothing to print, has got something. */
  begin(at: number): void {
    this.#printingSince = at;
  }

  /** The time until the next label comes out does not tell the printer's pace. */
  end(): void {
    this.#printingSince = null;
  }

  /**
   * The printer has answered.
   * @param pages that have come out since its last answer
   * @param done it has nothing left to print
   */
  measure(pages: number, done: boolean, blocked: boolean, now: number): void {
    const since = this.#printingSince;
    if (blocked) this.#printingSince = null;
    else if (pages > 0) {
      this.#printingSince = done ? null : now;
      if (since !== null) this.#took((now - since) / pages, done);
    }
    this.full = false;
  }

  /** @param ms measured for a label. `done`: the printer had nothing more to print, so the label took so long or less */
  #took(ms: number, done: boolean): void {
    const before = this.labelMs;
    if (before === null) this.labelMs = ms;
    else if (done) this.labelMs = Math.min(before, ms);
    else this.labelMs = before + (ms - before) / 2;
    // It had printed all before it was asked, and more was to be sent: the window was too small.
    if (done && this.full) this.labelMs /= 2;
  }
}
