/**
 * The mechanics that the virtual ZPL and IPP printers share: stoppages, the motor, and the tray.
 *
 * A label is out, and counted, only when its file has its final name.
 */

import { NO_FAULTS, type PrinterFaults, STOPPAGES } from './faults.ts';
import type { LabelTray, PrintedFiles, RawDocument } from './label-tray.ts';

export interface PrintedLabel extends PrintedFiles {
  /** Why the picture is crossed out; empty for a good label. */
  readonly faults: readonly string[];
}

/** A label, ready to be printed. */
export interface Sheet {
  readonly png: Uint8Array;
  readonly raw: RawDocument;
  /** Why the picture is crossed out; empty for a good label. */
  readonly faults: readonly string[];
}

interface MechanismHost {
  readonly tray: LabelTray;
  /** Inches per second; 0 or Infinity (default): a label takes no time. */
  readonly speed?: number | undefined;
  readonly faults?: Partial<PrinterFaults> | undefined;
  /** The state changed; `fault`: what went wrong, if something did. */
  changed(fault?: string): void;
}

/** How often a full disk is tried again, ms. */
const ROOM_MS = 1_000;

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

export class Mechanism {
  readonly #host: MechanismHost;
  #faults: PrinterFaults;
  #on = false;
  #waiters: (() => void)[] = [];

  constructor(host: MechanismHost) {
    this.#host = host;
    const { 'power-off': _, ...none } = NO_FAULTS;
    this.#faults = { ...none, ...host.faults };
  }

  get faults(): PrinterFaults {
    return this.#faults;
  }

  /** Whether there is power. */
  get on(): boolean {
    return this.#on;
  }

  /** Media and ribbon are there and the cover is closed: blank labels can be fed even while it is paused. */
  get loaded(): boolean {
    return STOPPAGES.every((word) => word === 'paused' || !this.#faults[word]);
  }

  get stopped(): boolean {
    return !this.loaded || this.#faults.paused;
  }

  powerOn(): void {
    this.#on = true;
  }

  /** Ends all waits. A pause ends with the power; an open cover and empty media or ribbon stay. */
  powerOff(): void {
    this.#on = false;
    this.#faults = { ...this.#faults, paused: false };
    this.wake();
  }

  set(faults: Partial<PrinterFaults>): void {
    this.#faults = { ...this.#faults, ...faults };
    this.changed();
  }

  changed(fault?: string): void {
    this.#host.changed(fault);
    this.wake();
  }

  /** Something that {@link until} may wait for has happened. */
  wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** Waits for something that {@link wake} announces, or for the power to go. */
  async until(condition: () => boolean): Promise<void> {
    while (this.#on && !condition()) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Waits for a picture; undefined once it is unwanted or the power is off. @throws what it rejects with */
  async awaited<T>(picture: Promise<T>, unwanted: () => boolean): Promise<T | undefined> {
    let settled = false;
    const done = () => {
      settled = true;
      this.wake();
    };
    picture.then(done, done);
    await this.until(() => settled || unwanted());
    return this.#on && !unwanted() ? await picture : undefined;
  }

  /** Moves the media one label on. False when a fault or the power stopped it: the label starts again. */
  async feed(heightMm: number): Promise<boolean> {
    const { speed = 0 } = this.#host;
    const time = (speed > 0 ? (heightMm / 25.4 / speed) * 1_000 : 0) + this.#faults.slow;
    if (time === 0) return this.loaded;
    let out = false;
    const timer = setTimeout(() => {
      out = true;
      this.wake();
    }, time);
    await this.until(() => out || !this.loaded);
    clearTimeout(timer);
    return out && this.loaded && this.#on;
  }

  /**
   * Puts a label into the tray; false when that failed.
   * @param out called with the label when it is there, before the change of state is announced
   */
  async put({ png, raw, faults }: Sheet, out: (label: PrintedLabel) => void): Promise<boolean> {
    try {
      const files = await this.#host.tray.add(png, raw, faults);
      out({ ...files, faults });
      this.changed(faults.length > 0 ? `label ${files.number}: ${faults.join('; ')}` : undefined);
      return true;
    } catch (error) {
      this.jam(error);
      if (isDiskFull(error)) void this.#resumeWithRoom(png);
      return false;
    }
  }

  /** Nobody stands at the printer to press its key when the disk has room again. */
  async #resumeWithRoom(png: Uint8Array): Promise<void> {
    while (this.#on && this.#faults.paused && !(await this.#host.tray.hasRoom(png))) {
      const later = setTimeout(() => this.wake(), ROOM_MS);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
      clearTimeout(later);
    }
    if (this.#on && this.#faults.paused) this.set({ paused: false });
  }

  /** A label could not be made: the printer pauses, says so, and tries it again when it is told to go on. */
  jam(error: unknown): void {
    this.#faults = { ...this.#faults, paused: this.#on };
    this.changed(error instanceof Error ? error.message : String(error));
  }
}
