/**
 * What languages have in common that send a label as the dots of the printer's head: each record's label, as much of
 * it as lies on the media.
 */
import { setImmediate } from 'node:timers/promises';
import { dots } from '../../src/contract/dots.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { LanguageId, PrinterFormat } from '../../src/contract/format.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { type Bitmap, cropBitmap } from '../../src/render/bitmap.ts';
import { rasterBitmap } from '../../src/render/raster.ts';
import { commandLines } from './command-lines.ts';
import type { Language } from './language.ts';
import { labelLayout } from './pages.ts';

export interface PlacedDots {
  /** Where the picture starts on the media, dots. */
  readonly x: number;
  readonly y: number;
  readonly bitmap: Bitmap;
}

/**
 * The dots of a record's label, moved as the format's `labelTop` and `labelShift` say; undefined where nothing of it
 * lies on the media. Faults as of `LabelEncoder.label`.
 */
export type DotMaker = (record: number, copy?: number) => Promise<PlacedDots | undefined>;

/** @throws JobFaultError `template-invalid`, `language-unsupported` */
export async function openDots(job: QueuedJob): Promise<DotMaker> {
  const { format, records } = job;
  const layout = await labelLayout(job);
  return async (record, copy) => {
    const list = await layout(records[record] ?? {}, record, copy);
    // Lets the drawing library give its memory back; see `raster.ts`.
    await setImmediate();
    if (list.dpi !== format.dpi) throw otherDpi(list.dpi, format.dpi);
    return onMedia(rasterBitmap(list), format);
  };
}

/** Dots of another head are no dots of this one: scaled, a bar of a barcode would not be as wide as its neighbour. */
export function otherDpi(dpi: number, wanted: number): JobFaultError {
  return new JobFaultError(
    'language-unsupported',
    `The template was drawn for ${dpi} dpi and cannot be printed as dots at ${wanted} dpi`,
  );
}

/**
 * A language that sends labels as dots, a command a line.
 * @param setUp what is the same for every label of a job
 */
export function languageOfDots(parts: {
  id: LanguageId;
  mediaType: string;
  setUp(job: QueuedJob): string[];
  label(placed: PlacedDots | undefined, copies: number): Uint8Array;
}): Language {
  const { id, mediaType, setUp, label } = parts;
  return {
    id,
    mediaType,
    open: async (job) => {
      const dotsOf = await openDots(job);
      const begin = commandLines(setUp(job));
      return {
        begin: () => begin,
        label: async (record, copies, copy) => label(await dotsOf(record, copy), copies),
        end: () => new Uint8Array(),
      };
    },
  };
}

function onMedia(bitmap: Bitmap, format: PrinterFormat): PlacedDots | undefined {
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

/**
 * How long a label is, mm: as long as the media, and on media without gaps and marks as long as the template says.
 */
export function labelLength({ template, format, orientation }: QueuedJob): number {
  if (format.mediaTracking !== 'continuous') return format.height;
  const length =
    template.language === 'platen' && orientation === 'landscape' ? template.width : template.height;
  return length ?? format.height;
}
