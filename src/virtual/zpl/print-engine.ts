/**
 * What happens between the receive buffer and the paper.
 *
 * Formats wait as they came; the next one is imaged while the current batch prints:
 *
 *     buffer (raw formats and downloads) → next (imaged) → active batch → label on disk
 *
 * A label is out when its file has its name, and only then do the counts say so. Between two batches there is no
 * moment at which nothing seems to be left to print.
 */

import { maxiCodeDots } from '../../render/maxicode-dots.ts';
import { download } from '../../zpl/interpreter/download.ts';
import {
  isSerial,
  type LabelPlan,
  labelZpl,
  type MediaDots,
  planLabel,
} from '../../zpl/interpreter/label-plan.ts';
import type { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import type { ZplFormat } from '../../zpl/stream.ts';
import { type RasterReply, rasterPool } from '../drawing/raster-pool.ts';
import type { LabelTray, PrintedFiles } from '../machine/label-tray.ts';

export interface PrinterFaults {
  mediaOut: boolean;
  ribbonOut: boolean;
  headOpen: boolean;
  paused: boolean;
}

export interface PrintedLabel extends PrintedFiles {
  /** Why the picture is crossed out; empty for a good label. */
  readonly faults: readonly string[];
}

/** Something in the receive buffer. */
export interface Waiting {
  readonly bytes: number;
  readonly content: ZplFormat | { name: string; params: Buffer };
  /** Called once, when it leaves the buffer. */
  readonly released: () => void;
}

/** A format that will not come out, though the printer took it: nobody is told but who looks at the printer. */
export interface LostFormat {
  /** Deleted at the panel, or by a command; or dropped by the printer itself. */
  readonly by: 'cancel' | 'drop';
  readonly raw: Buffer;
  /** Labels of it that were out before. */
  readonly printed: number;
}

interface Batch {
  readonly plan: LabelPlan;
  readonly item: Waiting;
  readonly raw: Buffer;
  printed: number;
  canceled: boolean;
  picture: { serial: number; reply: Promise<RasterReply> } | undefined;
}

export interface EngineHost {
  readonly media: MediaDots;
  readonly memory: PrinterMemory;
  readonly tray: LabelTray;
  /** Time that one label takes, ms; 0: none. */
  readonly labelTime: number;
  printed(label: PrintedLabel): void;
  lost(format: LostFormat): void;
  /** The state changed, or something went wrong. */
  changed(fault?: string): void;
  /** There is room in the buffer again. */
  room(): void;
}

/** What a blank label was made from. */
const BLANK = new Uint8Array();

export class PrintEngine {
  readonly faults: PrinterFaults = { mediaOut: false, ribbonOut: false, headOpen: false, paused: false };
  readonly #host: EngineHost;
  #queue: Waiting[] = [];
  #next: Batch | undefined;
  #active: Batch | undefined;
  #waiters: (() => void)[] = [];
  /** Formats still to be dropped, and blank labels still to be fed. */
  #toDrop = 0;
  #toFeed = 0;

  constructor(host: EngineHost) {
    this.#host = host;
  }

  /** Formats that wait, the imaged one included, the active batch not. */
  get formats(): number {
    return this.#queue.length + (this.#next ? 1 : 0);
  }

  /** What waits behind the format to be printed next. */
  get backlog(): number {
    return this.#queue.length;
  }

  /** Labels of the active batch that are not out. */
  get remaining(): number {
    return this.#active ? this.#active.plan.quantity - this.#active.printed : 0;
  }

  enqueue(item: Waiting): void {
    this.#queue.push(item);
    this.#advance();
    this.#changed();
  }

  set(faults: Partial<PrinterFaults>): void {
    Object.assign(this.faults, faults);
    this.#changed();
  }

  /** The next formats to be imaged vanish, as if they had never come. */
  drop(formats: number): void {
    this.#toDrop += formats;
  }

  /** Blank labels, before what waits: the feed button. They are counted as all labels are. */
  feed(labels: number): void {
    this.#toFeed += labels;
    this.#wake();
  }

  /** Ends the active batch after the label being printed. */
  cancelBatch(): void {
    if (this.#active) this.#active.canceled = true;
    this.#changed();
  }

  /** Empties the buffer, and ends the active batch after the label being printed. */
  cancelAll(): void {
    const dropped = this.#queue;
    if (this.#next) dropped.push(this.#next.item);
    this.#queue = [];
    this.#next = undefined;
    for (const item of dropped) {
      item.released();
      this.#lose('cancel', item, 0);
    }
    this.cancelBatch();
  }

  #lose(by: LostFormat['by'], { content }: Waiting, printed: number): void {
    if ('raw' in content) this.#host.lost({ by, raw: content.raw, printed });
  }

  /** Prints until the power goes; what is being written to disk then is finished, all else is lost. */
  async run(power: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    power.addEventListener('abort', wake);
    try {
      while (!power.aborted) {
        await this.#until(() => this.#active !== undefined || this.#feeds(), power);
        await this.#feedBlank(power);
        const batch = this.#active;
        if (!batch || power.aborted) continue;
        await this.#print(batch, power);
        if (batch.canceled && batch.printed < batch.plan.quantity)
          this.#lose('cancel', batch.item, batch.printed);
        if (batch.plan.pauseAfter && !batch.canceled) this.faults.paused = true;
        this.#active = undefined;
        this.#advance();
        this.#changed();
      }
    } finally {
      power.removeEventListener('abort', wake);
      this.#active = undefined;
    }
  }

  /** Moves what can be moved on: next to active, and the first of the buffer to next. */
  #advance(): void {
    for (;;) {
      if (!this.#active && this.#next) {
        this.#active = this.#next;
        this.#next = undefined;
        this.#active.item.released();
      }
      if (this.#next) break;
      const item = this.#queue.shift();
      if (!item) break;
      this.#next = this.#image(item);
      if (!this.#next) item.released();
    }
    this.#host.room();
  }

  /** Undefined when there is nothing to print. */
  #image(item: Waiting): Batch | undefined {
    const { content } = item;
    if ('name' in content) {
      const refused = download(content.name, content.params, this.#host.memory);
      if (refused !== undefined) this.#host.changed(refused);
      return undefined;
    }
    const plan = planLabel(content, this.#host.memory, this.#host.media, maxiCodeDots);
    if (!plan) return undefined;
    if (this.#toDrop > 0) {
      this.#toDrop--;
      this.#lose('drop', item, 0);
      return undefined;
    }
    const batch: Batch = { plan, item, raw: content.raw, printed: 0, canceled: false, picture: undefined };
    // Drawn ahead; whoever prints it sees the failure.
    this.#picture(batch).catch(() => undefined);
    return batch;
  }

  async #print(batch: Batch, power: AbortSignal): Promise<void> {
    const { plan } = batch;
    while (batch.printed < plan.quantity && !batch.canceled && !power.aborted) {
      const picture = await this.#drawn(batch, power);
      await this.#until(() => batch.canceled || this.#ready() || this.#feeds(), power);
      if (!picture || batch.canceled || power.aborted) return;
      await this.#feedBlank(power);
      if (!this.#ready()) continue;
      if (!(await this.#feed(power))) continue;
      if (!(await this.#put(picture.png, batch.raw, picture.faults, () => batch.printed++))) continue;
      const group = plan.pauseEvery > 0 && batch.printed % plan.pauseEvery === 0;
      if (group && batch.printed < plan.quantity) this.set({ paused: true });
    }
  }

  #feeds(): boolean {
    return this.#toFeed > 0 && this.#loaded();
  }

  async #feedBlank(power: AbortSignal): Promise<void> {
    const { width, height: length } = this.#host.media;
    const page = { width, length, mediaWidth: width, mediaHeight: length, inverted: false, mirrored: false };
    for (; this.#feeds() && !power.aborted; this.#toFeed--) {
      const { png } = await rasterPool.draw({ ...page, zpl: '', faults: [] });
      await this.#put(png, BLANK, []);
    }
  }

  /** The picture of the batch's current label, drawn once for all that are alike. */
  #picture(batch: Batch): Promise<RasterReply> {
    const { plan } = batch;
    const serial = isSerial(plan) ? Math.floor(batch.printed / plan.replicates) : 0;
    if (batch.picture?.serial === serial) return batch.picture.reply;
    const { width: mediaWidth, height: mediaHeight } = this.#host.media;
    const { width, length, inverted, mirrored, faults } = plan;
    const page = { width, length, mediaWidth, mediaHeight, inverted, mirrored };
    const reply = rasterPool
      .draw({ ...page, zpl: labelZpl(plan, serial), faults })
      .catch((error: unknown) => rasterPool.draw({ ...page, zpl: '', faults: [...faults, String(error)] }));
    batch.picture = { serial, reply };
    return reply;
  }

  /** Waits for the picture, no longer than there is power. */
  async #drawn(batch: Batch, power: AbortSignal): Promise<RasterReply | undefined> {
    let picture: RasterReply | undefined;
    let failure: unknown;
    const reply = this.#picture(batch).then(
      (drawn) => {
        picture = drawn;
        this.#wake();
      },
      (error: unknown) => {
        failure = error;
        this.#wake();
      },
    );
    await this.#until(() => picture !== undefined || failure !== undefined, power);
    if (power.aborted) return undefined;
    await reply;
    if (failure !== undefined) throw failure;
    return picture;
  }

  /** Moves the media one label on. False when a fault or the power stopped it: the label starts again. */
  async #feed(power: AbortSignal): Promise<boolean> {
    const { labelTime } = this.#host;
    if (labelTime === 0) return this.#loaded();
    let out = false;
    const timer = setTimeout(() => {
      out = true;
      this.#wake();
    }, labelTime);
    await this.#until(() => out || !this.#loaded(), power);
    clearTimeout(timer);
    return out && this.#loaded() && !power.aborted;
  }

  /** @param counted called when the label is out, before anybody is told */
  async #put(
    png: Uint8Array,
    raw: Uint8Array,
    faults: readonly string[],
    counted?: () => void,
  ): Promise<boolean> {
    try {
      const files = await this.#host.tray.add(png, raw, faults);
      counted?.();
      this.#host.printed({ ...files, faults });
      this.#changed(faults.length > 0 ? `label ${files.number}: ${faults.join('; ')}` : undefined);
      return true;
    } catch (error) {
      // As with a jam: it stops, says so, and tries the label again when it is told to go on.
      this.faults.paused = true;
      this.#changed(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  #loaded(): boolean {
    return !(this.faults.mediaOut || this.faults.ribbonOut || this.faults.headOpen);
  }

  #ready(): boolean {
    return this.#loaded() && !this.faults.paused;
  }

  #changed(fault?: string): void {
    this.#host.changed(fault);
    this.#wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** Waits for something that {@link #wake} announces, or for the power to go. */
  async #until(condition: () => boolean, power: AbortSignal): Promise<void> {
    while (!power.aborted && !condition()) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }
}
