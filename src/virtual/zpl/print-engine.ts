/**
 * Prints what is in the receive buffer of a virtual ZPL printer.
 *
 * Formats wait as they were received; the next one is imaged while the current batch prints:
 *
 *     buffer (raw formats and downloads) → next (imaged) → active batch → label on disk
 *
 * One batch follows another in a single step, so that the printer never seems to be idle in between.
 */

import { download } from '../../zpl/interpreter/download.ts';
import { type LabelPlan, type MediaDots, planLabel } from '../../zpl/interpreter/label-plan.ts';
import type { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import type { ZplFormat } from '../../zpl/stream.ts';
import { LabelPictures } from '../drawing/label-pictures.ts';
import { rasterPool } from '../drawing/raster-pool.ts';
import type { Mechanism, PrintedLabel } from '../machine/mechanism.ts';

/** Something in the receive buffer. */
export interface Waiting {
  readonly content: ZplFormat | { name: string; params: Buffer };
  /** Called once, when it leaves the buffer. */
  readonly released: () => void;
}

/** A format that the printer accepted and will not print; the client is not told. */
export interface LostFormat {
  /** `cancel`: deleted at the panel or by a command; `drop`: dropped by the printer itself. */
  readonly by: 'cancel' | 'drop';
  readonly raw: Buffer;
  /** Labels of the format that came out before. */
  readonly printed: number;
}

interface Batch {
  readonly plan: LabelPlan;
  readonly item: Waiting;
  readonly raw: Buffer;
  readonly pictures: LabelPictures;
  printed: number;
  canceled: boolean;
}

interface EngineHost {
  readonly mechanism: Mechanism;
  readonly media: MediaDots;
  /** Length of a label, mm. */
  readonly height: number;
  readonly memory: PrinterMemory;
  printed(label: PrintedLabel): void;
  lost(format: LostFormat): void;
  /** There is room in the buffer again. */
  room(): void;
}

/** How long formats are read before others have their turn, ms. */
const STRETCH_MS = 10;
/** The raw file of a blank label. */
const BLANK = new Uint8Array();

export class PrintEngine {
  readonly #host: EngineHost;
  readonly #mechanism: Mechanism;
  #queue: Waiting[] = [];
  #next: Batch | undefined;
  #active: Batch | undefined;
  #later: NodeJS.Immediate | undefined;
  /** Formats still to be dropped, and blank labels still to be fed. */
  #toDrop = 0;
  #toFeed = 0;

  constructor(host: EngineHost) {
    this.#host = host;
    this.#mechanism = host.mechanism;
  }

  /** Formats that wait, including the imaged one, without the active batch. */
  get formats(): number {
    const queued = this.#queue.filter(({ content }) => 'raw' in content);
    return queued.length + (this.#next ? 1 : 0);
  }

  /** Formats and downloads that wait behind the format to be printed next. */
  get backlog(): number {
    return this.#queue.length;
  }

  /** Labels of the active batch that are not out yet. */
  get remaining(): number {
    return this.#active ? this.#active.plan.quantity - this.#active.printed : 0;
  }

  enqueue(item: Waiting): void {
    this.#queue.push(item);
    this.#advance();
    this.#mechanism.changed();
  }

  /** The next formats to be imaged vanish, as if they had never come. */
  drop(formats: number): void {
    this.#toDrop += formats;
  }

  /** The feed button: blank labels come out before waiting ones, and are counted as all labels are. */
  feed(labels: number): void {
    this.#toFeed += labels;
    this.#mechanism.wake();
  }

  /** Ends the active batch after the label being printed. */
  cancelBatch(): void {
    if (this.#active) this.#active.canceled = true;
    this.#mechanism.changed();
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

  /** Prints until the power goes; a label being written to disk then is finished, everything else is lost. */
  async run(): Promise<void> {
    const mechanism = this.#mechanism;
    try {
      while (mechanism.on) {
        await mechanism.until(() => this.#active !== undefined || this.#feeds());
        await this.#feedBlank();
        const batch = this.#active;
        if (!batch || !mechanism.on) continue;
        await this.#print(batch);
        if (batch.canceled && batch.printed < batch.plan.quantity)
          this.#lose('cancel', batch.item, batch.printed);
        if (batch.plan.pauseAfter && !batch.canceled) mechanism.set({ paused: true });
        this.#active = undefined;
        this.#advance();
        mechanism.changed();
      }
    } finally {
      this.#active = undefined;
    }
  }

  /**
   * Moves what can be moved on: next to active, and the first of the buffer to next. Formats that print nothing may be many:
   * the rest of them follows in the next turn.
   */
  #advance(): void {
    if (this.#later !== undefined) return;
    const over = performance.now() + STRETCH_MS;
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
      if (this.#queue.length === 0 || performance.now() < over) continue;
      this.#later = setImmediate(() => {
        this.#later = undefined;
        this.#advance();
        this.#mechanism.changed();
      });
      break;
    }
    this.#host.room();
  }

  /** Undefined when there is nothing to print. */
  #image(item: Waiting): Batch | undefined {
    const { content } = item;
    const { memory, media } = this.#host;
    if ('name' in content) {
      const refused = download(content.name, content.params, memory);
      if (refused !== undefined) this.#mechanism.changed(refused);
      return undefined;
    }
    const plan = planLabel(content, memory, media);
    if (!plan) return undefined;
    if (this.#toDrop > 0) {
      this.#toDrop--;
      this.#lose('drop', item, 0);
      return undefined;
    }
    const pictures = new LabelPictures(plan, media);
    // Drawn ahead; a failure shows when the label is printed.
    pictures.of(0).catch(() => undefined);
    return { plan, item, raw: content.raw, pictures, printed: 0, canceled: false };
  }

  async #print(batch: Batch): Promise<void> {
    const { plan, raw } = batch;
    const mechanism = this.#mechanism;
    while (batch.printed < plan.quantity && !batch.canceled && mechanism.on) {
      const drawing = batch.pictures.of(batch.printed);
      const picture = await mechanism.awaited(drawing, () => false).catch((error) => mechanism.jam(error));
      await mechanism.until(() => batch.canceled || !mechanism.stopped || this.#feeds());
      if (batch.canceled || !mechanism.on) return;
      await this.#feedBlank();
      if (!picture || mechanism.stopped || !(await mechanism.feed(this.#host.height))) continue;
      const out = await mechanism.put({ ...picture, raw }, (label) => {
        batch.printed++;
        this.#host.printed(label);
      });
      const group = out && plan.pauseEvery > 0 && batch.printed % plan.pauseEvery === 0;
      if (group && batch.printed < plan.quantity) mechanism.set({ paused: true });
    }
  }

  #feeds(): boolean {
    return this.#toFeed > 0 && this.#mechanism.loaded;
  }

  async #feedBlank(): Promise<void> {
    const { width, height: length } = this.#host.media;
    const page = { width, length, mediaWidth: width, mediaHeight: length, inverted: false, mirrored: false };
    for (; this.#feeds() && this.#mechanism.on; this.#toFeed--) {
      const { png } = await rasterPool.draw({ ...page, pieces: [], faults: [] });
      await this.#mechanism.put({ png, raw: BLANK, faults: [] }, (label) => this.#host.printed(label));
    }
  }
}
