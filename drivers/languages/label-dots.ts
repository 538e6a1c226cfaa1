/**
 * The encoder for languages that send a label as dots of the printer's head (TSPL, EPL2). It sends the part of each label that
 * lies on the media.
 */
import { setImmediate } from 'node:timers/promises';
import { dots } from '../../src/contract/dots.ts';
import { faultFor, type JobFaultError } from '../../src/contract/fault.ts';
import type { PrinterFormat } from '../../src/contract/format.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { because } from '../../src/contract/reason.ts';
import { bringsProgram } from '../../src/render/document/document-file.ts';
import { type Bitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { commandLines } from './command-lines.ts';
import { type InkBlock, inkBlocks } from './ink-blocks.ts';
import type { OpenEncoder } from './language.ts';
import { openLabels } from './pages.ts';

/** The commands around the dots, each a line. */
interface DotCommands {
  /** The commands before a job's labels. */
  setUp(job: QueuedJob): string[];
  /** Begins a label: clears the picture. */
  readonly clear: string;
  /** Goes before the data of a block of ink, on the same line. @param block where it lies on the media */
  draw(block: Omit<InkBlock, 'data'>): string;
  /** What a block costs besides its data, bytes. */
  readonly overhead: number;
  /** Two bytes that may not follow each other in a block's data. */
  readonly apart?: readonly [number, number];
  /** Ends a label: prints the picture `copies` times. */
  print(copies: number): string;
  /** For labels that others have written in the language. If left out, none of those are taken. */
  readonly program?: {
    /** The commands that each of these labels begins with, whatever was set before. */
    start(job: QueuedJob): string[];
    /** For commands that only some of these labels give: by name, the command that restores the usual setting. */
    readonly usual: Readonly<Record<string, string>>;
    deletion(object: string): string;
  };
}

/** One white dot. It is sent for a blank label, which counts as a label too. */
const BLANK: InkBlock = { x: 0, y: 0, stride: 1, height: 1, data: Uint8Array.of(0xff) };

/** The encoder of a language that sends labels as dots. */
export function encoderOfDots(commands: DotCommands): OpenEncoder {
  const { setUp, clear, draw, overhead, apart, print, program: others } = commands;
  return async (job) => {
    const { format, records, template } = job;
    const { layout, check, program } = await openLabels(job);
    const begin = commandLines(setUp(job));
    const brings = template.language === 'document' && bringsProgram(template, records);
    /** The index of the record whose program was sent last. */
    let sent: number | undefined;
    const stored = new Set<string>();
    const start = others?.start(job) ?? [];
    return {
      begin: () => {
        sent = undefined;
        return begin;
      },
      label: async (record, copies, copy) => {
        const own = program?.(records[record] ?? {}, record, { copies, sent });
        if (own !== undefined) {
          const { downloads, setUp: more, state, label, holder, objects, lasts } = own;
          // If a power cycle of the printer would go unnoticed, each label carries the document's downloads.
          sent = format.storedFormats === false ? undefined : holder;
          for (const name of objects) stored.add(name);
          const bytes = (text: string) => Buffer.from(text, 'latin1');
          const before = [bytes(downloads), commandLines(start), bytes(more + state), commandLines([clear])];
          // This is done after each label, because the end of a job does not come if the job is canceled.
          const after = commandLines(lasts.flatMap((name) => others?.usual[name] ?? []));
          return Buffer.concat([...before, bytes(label), after]);
        }
        const list = await layout(records[record] ?? {}, record, copy);
        // The drawing library frees its memory when the event loop turns (see `raster.ts`).
        await setImmediate();
        if (list.dpi !== format.dpi) throw otherDpi(list.dpi, format.dpi);
        const placed = onMedia(rasterBitmap(list), format);
        const blocks = placed === undefined ? [] : inkBlocks(placed.bitmap, overhead, apart);
        const drawn = (blocks.length === 0 ? [BLANK] : blocks).flatMap(({ data, ...block }) => {
          const at = { x: block.x + (placed?.x ?? 0), y: block.y + (placed?.y ?? 0) };
          return [Buffer.from(draw({ ...block, ...at })), data, commandLines([''])];
        });
        const before = commandLines([...(brings ? start : []), clear]);
        return Buffer.concat([before, ...drawn, commandLines([print(copies)])]);
      },
      ...(check && { check }),
      end: () => {
        if (!brings) return new Uint8Array();
        const deletions = [...stored].map((name) => others?.deletion(name) ?? '').join('');
        return Buffer.concat([commandLines([...start, ...setUp(job)]), Buffer.from(deletions)]);
      },
    };
  };
}

/** Dots cannot be scaled to another resolution, because the bars of a barcode would no longer be equally wide. */
export function otherDpi(dpi: number, wanted: number): JobFaultError {
  return faultFor('language-unsupported', because('drawn-for-dpi', { designed: dpi, wanted }));
}

/**
 * The part of a picture that lies on the media after the picture is moved by the format's `labelTop` and `labelShift`, and that
 * part's place, dots. Undefined: no part lies on the media.
 */
function onMedia(
  bitmap: Bitmap,
  format: PrinterFormat,
): { x: number; y: number; bitmap: Bitmap } | undefined {
  const x = -(format.labelShift ?? 0);
  const y = format.labelTop ?? 0;
  const left = Math.max(0, -x);
  const top = Math.max(0, -y);
  const width = Math.min(bitmap.width, dots(format.width, format.dpi) - x) - left;
  const room = format.mediaTracking === 'continuous' ? bitmap.height : dots(format.height, format.dpi) - y;
  const height = Math.min(bitmap.height, room) - top;
  if (width <= 0 || height <= 0) return undefined;
  return { x: x + left, y: y + top, bitmap: cropBitmap(bitmap, left, top, width, height) };
}

/** The length of a label, mm. It is the media's length; on continuous media it is the template's. */
export function labelLength({ template, format, orientation }: QueuedJob): number {
  if (format.mediaTracking !== 'continuous') return format.height;
  const length =
    template.language !== 'zpl' && orientation === 'landscape' ? template.width : template.height;
  return length ?? format.height;
}
