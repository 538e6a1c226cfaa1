/** Sends a job's labels as bytes. The printer's counter, or its number of pending labels, tells what became of them. */

import { type Connection, TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import { mostData } from '../../contract/dots.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { LinkOptions, PrinterLink, ProgressAnswer, ReadyAnswer } from './link.ts';
import { canConfirm, isBlocked, isIdle, whyItWaits } from './status.ts';
import type { StreamDevice } from './stream-device.ts';

export class StreamLink implements PrinterLink {
  readonly documents = false;
  readonly #device: StreamDevice;
  readonly #options: LinkOptions;
  #connection: Connection | null = null;
  /** Nothing of ours is under way on this connection. So half a label in the printer is somebody else's. */
  #begins = true;
  #unfinishedSince: number | null = null;
  /** The printer has not been asked since the last bytes were sent. */
  #unasked = false;
  /** The printer was told to forget what waits in it. */
  #forgets = false;

  constructor(device: StreamDevice, options: LinkOptions) {
    this.#device = device;
    this.#options = options;
  }

  get counts(): boolean {
    return this.#device.counts;
  }

  takes(language: LanguageId): boolean {
    return this.#options.speaks(language);
  }

  async connect(): Promise<void> {
    this.#connection = await this.#device.connect(this.#options.signals.leave);
    this.#begins = true;
  }

  follow(): void {
    this.#connection = this.#device.open;
    this.#begins = false;
  }

  async ready(others: boolean): Promise<ReadyAnswer> {
    const said = others ? this.#device.saidLately(this.#open) : null;
    // Somebody may have begun a label since. Our first label makes the printer forget it (`apart`).
    if (said !== null) return { ready: true, status: said.status, reasons: [], saidAt: said.asked };
    const status = await this.#ask();
    const saidAt = performance.now();
    if (status === null || (!isBlocked(status) && !canConfirm(status)))
      return { ready: true, status: null, reasons: [], saidAt };
    const ready = isIdle(status);
    if (!ready) {
      await this.#endUnfinished(status, this.#begins);
      this.#begins = false;
    }
    return { ready, status, reasons: whyItWaits(status, others), saidAt };
  }

  async begin(): Promise<void> {
    const { job, signals } = this.#options;
    const { format } = job;
    await this.#device.endData(this.#open, mostData(format, format.dpi), signals.sending);
  }

  async send(chunk: Chunk): Promise<null> {
    const { ledger, signals } = this.#options;
    this.#device.writes();
    const bytes = this.#device.apart(chunk.bytes, this.#open, ledger.outstanding === 0);
    await this.#open.write(bytes, signals.sending);
    this.#unasked = true;
    ledger.took(chunk, performance.now());
    return null;
  }

  async progress(): Promise<ProgressAnswer> {
    this.#unasked = false;
    const status = await this.#ask();
    if (status === null) throw new TransportError('query-timeout', 'it has answered before');
    await this.#endUnfinished(status);
    return { by: 'counter', status };
  }

  async recover(): Promise<'at-rest' | 'forgotten'> {
    return this.#forgets ? 'forgotten' : 'at-rest';
  }

  /** A printer can only delete all that waits in it. So it is asked to do so only if all of this is the job's own. */
  async cancel(only: boolean): Promise<boolean> {
    const forget = this.#device.dialect?.forget;
    if (!only || forget === undefined) return false;
    this.#device.writes();
    this.#forgets = true;
    await this.#open.write(forget, this.#options.signals.end);
    return true;
  }

  /**
   * Asks often enough to lose at most an eighth of a label's time, but not while the printer has enough labels to be busy. The
   * first question follows the labels at once, because its answer takes a while too.
   */
  pollAfter(since: number, spare: number, settling: boolean): number {
    const least = this.#unasked ? 0 : this.#options.timings.pollMin;
    return settling ? least : Math.max(least, since / 8, spare);
  }

  async broke(resumes: boolean): Promise<readonly PrinterReason[]> {
    await this.#drop(resumes);
    this.#device.onStatus(null);
    return this.#device.offline;
  }

  async release(clean: boolean, resumes: boolean): Promise<void> {
    // Half a question or half a label may be on the connection.
    if (!clean) await this.#drop(resumes);
    this.#device.release();
  }

  async #drop(resumes: boolean): Promise<void> {
    await (resumes ? this.#device.breakOff() : this.#device.drop());
  }

  get #open(): Connection {
    if (this.#connection === null) throw new TypeError('not connected');
    return this.#connection;
  }

  /** Null: the printer has never answered anything, or cannot be asked. @throws TransportError */
  async #ask(): Promise<DeviceStatus | null> {
    const { confirmation, signals } = this.#options;
    const device = this.#device;
    const trusted = !device.answers && confirmation() === 'transport';
    if (device.dialect === null || device.mute || trusted) return null;
    try {
      const connection = this.#open;
      const asked = performance.now();
      const status = await device.dialect.status(connection, signals.end, device.habits);
      device.answered(status, { connection, asked });
      return status;
    } catch (error) {
      const silent = error instanceof TransportError && error.code !== 'connection-lost';
      if (!silent || device.answers) throw error;
      device.silent();
      return null;
    }
  }

  /** Half a label that nobody completes would stop the printer for ever. So the printer is told to forget it after a while. */
  async #endUnfinished({ unfinished }: DeviceStatus, atOnce = false): Promise<void> {
    const { timings, signals } = this.#options;
    const now = performance.now();
    if (!unfinished) this.#unfinishedSince = null;
    else this.#unfinishedSince ??= now;
    if (this.#unfinishedSince === null) return;
    if (!atOnce && now - this.#unfinishedSince < timings.vanished) return;
    this.#unfinishedSince = now;
    await this.#device.abandon(this.#open, signals.end);
  }
}
