/**
 * Draws raw ZPL templates as pictures, for PDF printers and previews. The interpreter is the virtual printer's. The resolution
 * is the one that the template was written for (its `dpi`), and the label is as large as the template says, so nothing is
 * scaled.
 *
 * Fonts and barcodes are the interpreter's. A ZPL printer may draw them differently.
 */
import { dots } from '../../contract/dots.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { LabelRecord } from '../../contract/print-request.ts';
import { because, reasonText } from '../../contract/reason.ts';
import type { RawZplTemplate } from '../../contract/template.ts';
import type { JobFacts } from '../../values/built-ins.ts';
import { GraphicError } from '../../zpl/graphic-data.ts';
import { drawFields } from '../../zpl/interpreter/draw.ts';
import { forEachDot } from '../../zpl/interpreter/drawn-dots.ts';
import type { LabelPlan } from '../../zpl/interpreter/label-plan.ts';
import { labelPieces, labelZpl } from '../../zpl/interpreter/label-zpl.ts';
import { plannedLabel } from '../../zpl/interpreter/planned-label.ts';
import { RasteriserFull } from '../../zpl/interpreter/rasteriser.ts';
import { compileRawZpl } from '../../zpl/raw/template.ts';
import type { DisplayList } from '../display-list.ts';
import { requireDots } from '../dot-limit.ts';
import { type Bitmap, blacken, createBitmap } from '../image/bitmap.ts';
import { zplRenderer } from './zpl-renderer.ts';

/** The resolution and size for templates that do not say their own. */
interface RawTarget {
  readonly dpi: number;
  /** mm */
  readonly width: number;
  readonly height: number;
  readonly job?: JobFacts;
}

/** 4 × 12 inches at 600 dpi. The rasteriser takes some eight bytes for each dot. */
export const MOST_RAW_DOTS = 18_000_000;

interface RawPictures {
  /**
   * Draws the label of one record.
   * @param index the record's number in its job, for errors
   * @throws JobFaultError `value-invalid`; `template-invalid`: it prints something that cannot be drawn
   */
  layout(record: LabelRecord, index?: number, copy?: number): Promise<DisplayList>;
}

/** @throws JobFaultError `template-invalid` */
export function compileRawPictures(template: RawZplTemplate, target: RawTarget): RawPictures {
  const raw = compileRawZpl(template, target.job);
  const dpi = template.dpi ?? target.dpi;
  const [widthMm, heightMm] = [template.width ?? target.width, template.height ?? target.height];
  const sheet = { dpi, width: dots(widthMm, dpi), height: dots(heightMm, dpi), widthMm, heightMm };
  requireDots('label', sheet, dpi, MOST_RAW_DOTS);
  return {
    layout: async (record, index = 0, copy = 0) => {
      const bitmap = await picture(raw.downloads + raw.fill(record, 1, index, copy), sheet, index);
      return { ...sheet, items: [{ kind: 'bitmap', x: 0, y: 0, bitmap, scale: 1 }] };
    },
  };
}

/** @param record the index of the record whose label cannot be drawn */
export function undrawableZpl(detail: string, record?: number): JobFaultError {
  const reason = because('zpl-undrawable', { detail });
  if (record === undefined) return new JobFaultError('template-invalid', reasonText(reason), { reason });
  const message = `/source: ${reasonText(reason)}`;
  return new JobFaultError('template-invalid', message, { element: '/source', record, reason });
}

async function picture(
  zpl: string,
  { dpi, width, height }: Omit<DisplayList, 'items'>,
  record: number,
): Promise<Bitmap> {
  const refuse = (detail: string) => undrawableZpl(detail, record);
  const { plan, faults } = plannedLabel(zpl, { width, height, dpi });
  const [fault] = faults;
  if (fault !== undefined) throw refuse(fault);
  return plan === undefined
    ? createBitmap(width, height)
    : await drawnPlan(plan, 0, { width, height }, refuse);
}

/**
 * The dots of a planned label on its media.
 * @param serial which label of the plan's batch, from 0; its serial fields (^SN) count by this number
 * @param media dots
 * @param refuse makes the error for something that cannot be drawn
 */
export async function drawnPlan(
  plan: LabelPlan,
  serial: number,
  { width, height }: Pick<Bitmap, 'width' | 'height'>,
  refuse: (detail: string) => JobFaultError,
): Promise<Bitmap> {
  const [fault] = plan.faults;
  if (fault !== undefined) throw refuse(fault);
  const bitmap = createBitmap(width, height);
  try {
    const drawn = await drawFields(await labelZpl(labelPieces(plan, serial), zplRenderer), plan);
    const page = { ...plan, mediaWidth: width, mediaHeight: height };
    if (drawn !== undefined) forEachDot(drawn, page, (x, y) => blacken(bitmap, x, y));
  } catch (error) {
    if (error instanceof RasteriserFull || error instanceof GraphicError) throw refuse(error.message);
    // The rasteriser's own message is not passed on, because it may quote the data.
    throw refuse('a command or its data is not understood');
  }
  return bitmap;
}
