/**
 * Lays out document templates: a page that others have made becomes the black dots of a label.
 *
 * A page keeps its own size unless the template says otherwise, and nothing that is black is cut off in silence. Where a
 * picture has the printer's resolution, each of its pixels is a dot.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { DocumentTemplate } from '../../contract/document-template.ts';
import { dots, millimetres } from '../../contract/dots.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { LabelRecord, Orientation } from '../../contract/print-request.ts';
import { because, type Reason } from '../../contract/reason.ts';
import { FieldFault } from '../../contract/said-fault.ts';
import { documentField } from '../../contract/template.ts';
import type { DisplayList, Rect } from '../display-list.ts';
import { MOST_ELEMENT_DOTS, requireDots } from '../dot-limit.ts';
import { type Bitmap, cropBitmap, turnBitmap } from '../image/bitmap.ts';
import { inBands, rowsAtOnce } from '../image/in-bands.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { blackRect } from '../ink.ts';
import { type MediaGrid, mediaGrid } from '../label-layout.ts';
import { turnItem, upright } from '../turn.ts';
import { documentPicture } from './document-picture.ts';

/** A picture within this share of the printer's resolution has it: files say 203.2 and 203 dpi of 8 dots a mm. */
const SAME_RESOLUTION = 0.01;

export interface DocumentTarget {
  readonly dpi: number;
  readonly orientation: Orientation;
  /** mm; the size of a label whose template does not say it. */
  readonly media: Size;
}

export interface CompiledDocument {
  /** The label as it lies on the media. */
  readonly media: MediaGrid;
  /**
   * The label of one record.
   * @param index the record's number in its job, from 0
   * @throws JobFaultError `value-invalid`, `does-not-fit`
   */
  layout(record: LabelRecord, index?: number): Promise<DisplayList>;
}

type Size = { readonly width: number; readonly height: number };

/** A page, and how it is drawn. */
interface DocumentPage extends Size {
  /** The dots of a part of the page, drawn `zoom` times as large. */
  draw(part: Rect, zoom: number): Bitmap;
}

/** Black dots for which the label has no room. */
class PageUnfit extends PictureFault {}

/** @throws JobFaultError `template-invalid`: the label has too many dots */
export function compileDocument(template: DocumentTemplate, target: DocumentTarget): CompiledDocument {
  const { dpi, orientation } = target;
  const lies = orientation === 'landscape' ? 90 : 0;
  const { width: across, height: along } = upright(target.media, lies);
  const { width = across, height = along } = template;
  const media = mediaGrid({ width, height }, target);
  requireDots('label', media, dpi, MOST_ELEMENT_DOTS);
  const label = upright(media, lies);
  const field = documentField(template) ?? '';
  const usual = template.fields[0]?.default ?? '';
  return {
    media,
    layout: async (record, index = 0) => {
      const value = Object.hasOwn(record, field) ? record[field] : undefined;
      try {
        const bitmap = onLabel(await openPage(String(value ?? usual), template, dpi), template, label, dpi);
        // The drawing library frees its memory when the event loop turns.
        await breathe();
        const ink = blackRect(bitmap);
        if (ink === undefined) return { ...media, items: [] };
        requireRoom(ink, label, dpi);
        const inked = cropBitmap(bitmap, ink.x, ink.y, ink.width, ink.height);
        const item = { kind: 'bitmap', x: ink.x, y: ink.y, bitmap: inked, scale: 1 } as const;
        const whole = { x: 0, y: 0, width: media.width, height: media.height };
        return { ...media, items: [turnItem(item, lies, whole)] };
      } catch (error) {
        if (!(error instanceof PictureFault)) throw error;
        const code = error instanceof PageUnfit ? 'does-not-fit' : 'value-invalid';
        throw refused(code, error.said, { template: template.name, record: index, field });
      }
    },
  };
}

function refused(
  code: 'value-invalid' | 'does-not-fit',
  reason: Reason,
  { template, record, field }: { template: string; record: number; field: string },
): JobFaultError {
  const where = `Template ${JSON.stringify(template)}, record ${record + 1}`;
  return new JobFaultError(code, `${where}: ${new FieldFault(reason, field).message}`, {
    record,
    field,
    reason,
  });
}

/** @throws PictureFault */
async function openPage(
  document: string,
  { dpi: said, page: { halftone } }: DocumentTemplate,
  dpi: number,
): Promise<DocumentPage> {
  const { image, resolution } = await documentPicture(document);
  const scale = (own: number | undefined) => {
    const ratio = dpi / (said ?? own ?? dpi);
    return Math.abs(ratio - 1) <= SAME_RESOLUTION ? 1 : ratio;
  };
  const width = Math.max(1, Math.round(image.width * scale(resolution?.x)));
  const height = Math.max(1, Math.round(image.height * scale(resolution?.y)));
  return {
    width,
    height,
    draw: (part, zoom) =>
      inBands(part, rowsAtOnce(part.width), halftone, (context, top) => {
        context.imageSmoothingQuality = 'high';
        context.drawImage(image, -part.x, -part.y - top, width * zoom, height * zoom);
      }),
  };
}

/** The template's region of the page, upright on its label. @throws PictureFault */
function onLabel(
  page: DocumentPage,
  { page: { region, turn, fit } }: DocumentTemplate,
  label: Size,
  dpi: number,
): Bitmap {
  const draw = (part: Rect, zoom: number) => {
    requireDrawable(part);
    return page.draw(part, zoom);
  };
  const whole = { x: 0, y: 0, width: page.width, height: page.height };
  const part = (): Rect => {
    if (region === undefined) return whole;
    if (region === 'ink') return blackRect(draw(whole, 1)) ?? whole;
    const [x, y] = [dots(region.x, dpi), dots(region.y, dpi)];
    return { x, y, width: dots(region.width, dpi), height: dots(region.height, dpi) };
  };
  const chosen = part();
  const turned = upright(chosen, turn);
  const full = Math.min(label.width / turned.width, label.height / turned.height);
  const zoom = fit === 'none' ? 1 : fit === 'shrink' ? Math.min(1, full) : full;
  return turnBitmap(draw(zoomed(chosen, zoom), zoom), turn);
}

function zoomed({ x, y, width, height }: Rect, zoom: number): Rect {
  const size = (length: number) => Math.max(1, Math.round(length * zoom));
  return { x: Math.round(x * zoom), y: Math.round(y * zoom), width: size(width), height: size(height) };
}

/** @throws PictureFault */
function requireDrawable({ width, height }: Size): void {
  if (width * height <= MOST_ELEMENT_DOTS) return;
  const [count, most] = [width * height, MOST_ELEMENT_DOTS].map((some) => Math.ceil(some / 1e6));
  throw new PictureFault(because('dots-many', { count: count ?? 0, most: most ?? 0 }));
}

/** @throws PageUnfit */
function requireRoom(ink: Rect, label: Size, dpi: number): void {
  const [right, bottom] = [ink.x + ink.width, ink.y + ink.height];
  if (right <= label.width && bottom <= label.height) return;
  const mm = (count: number) => Math.round(millimetres(count, dpi) * 10) / 10;
  const sizes = { labelWidth: mm(label.width), labelHeight: mm(label.height) };
  throw new PageUnfit(because('document-unfit', { width: mm(right), height: mm(bottom), ...sizes }));
}
