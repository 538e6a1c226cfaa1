/**
 * A sheet of labels: where the labels lie on a page, mm, in the words of label makers and of label dialogs:
 * margins, how many across and down, and the *pitch*, from the left (top) edge of one label to that of the
 * next.
 *
 * Labels are counted row by row from the top left. Counts of labels always count labels, never sheets: only
 * printers that print pages know of sheets.
 */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { because, type Reason } from './reason.ts';

const side = z.number().positive().max(LIMITS.labelSide);
const margin = z.number().min(0).max(LIMITS.labelSide);
const across = z.int().min(1).max(LIMITS.labelsPerSheet);

export const labelSheet = z.strictObject({
  /** The page, mm. */
  width: side,
  height: side,
  columns: across,
  rows: across,
  /** From the page's edge to the first label, mm. */
  left: margin,
  top: margin,
  /** Left edge to left edge, mm. Without one, labels lie side by side without a gap. */
  pitchX: side.optional(),
  /** Top edge to top edge, mm. */
  pitchY: side.optional(),
});
export type LabelSheet = z.infer<typeof labelSheet>;

interface Size {
  width: number;
  height: number;
}

/** By how much sums of published sizes may be off, mm. */
const TOLERANCE = 0.01;

interface SheetFault {
  readonly path: string[];
  readonly reason: Reason;
}

/** What is wrong with a sheet of labels of this size, with the path of the member at fault. */
export function sheetFaults(label: Size, sheet: LabelSheet): SheetFault[] {
  const { columns, rows, pitchX = label.width, pitchY = label.height } = sheet;
  const faults: SheetFault[] = [];
  const fault = (key: keyof LabelSheet, reason: Reason) => faults.push({ path: ['sheet', key], reason });
  const mm = (length: number) => Math.round(length * 100) / 100;
  if (columns * rows > LIMITS.labelsPerSheet) {
    fault('rows', because('sheet-labels', { columns, rows, most: LIMITS.labelsPerSheet }));
  }
  if (columns > 1 && pitchX < label.width - TOLERANCE) {
    fault('pitchX', because('sheet-overlap-across', { size: mm(label.width), pitch: mm(pitchX) }));
  }
  if (rows > 1 && pitchY < label.height - TOLERANCE) {
    fault('pitchY', because('sheet-overlap-down', { size: mm(label.height), pitch: mm(pitchY) }));
  }
  const right = sheet.left + (columns - 1) * pitchX + label.width;
  if (right > sheet.width + TOLERANCE) {
    fault('columns', because('sheet-wide', { end: mm(right), page: mm(sheet.width) }));
  }
  const bottom = sheet.top + (rows - 1) * pitchY + label.height;
  if (bottom > sheet.height + TOLERANCE) {
    fault('rows', because('sheet-high', { end: mm(bottom), page: mm(sheet.height) }));
  }
  return faults;
}

/** The top left corner of the sheet's label number `cell`, from 0, mm. */
export function cellCorner(label: Size, sheet: LabelSheet, cell: number): { x: number; y: number } {
  const { columns, left, top, pitchX = label.width, pitchY = label.height } = sheet;
  return { x: left + (cell % columns) * pitchX, y: top + Math.floor(cell / columns) * pitchY };
}

export interface MadeFor {
  width?: number | undefined;
  height?: number | undefined;
  sheet?: LabelSheet | undefined;
}

interface Media extends Omit<MadeFor, 'sheet'> {
  what: 'label' | 'sheet';
}

/** What media a template is made for, mm, if it says so: its sheet on printers of pages, else the label. */
export function mediaOf({ width, height, sheet }: MadeFor, pages: boolean): Media {
  if (sheet === undefined || !pages) return { what: 'label', width, height };
  return { what: 'sheet', width: sheet.width, height: sheet.height };
}
