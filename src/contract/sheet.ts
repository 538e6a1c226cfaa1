/**
 * A sheet of labels: where the labels lie on a page, mm, in the words of label makers and of label dialogs: margins,
 * how many across and down, and the *pitch*, from the left (top) edge of one label to that of the next.
 *
 * Labels are counted row by row from the top left. A label stays a label wherever labels are counted; only printers
 * that print pages know of sheets.
 */
import { z } from 'zod';
import { LIMITS } from './limits.ts';

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

/** What sums of published sizes may be off by, mm. */
const TOLERANCE = 0.01;

/** What is wrong with a sheet of labels of this size, with the path of the member that says so. */
export function sheetFaults(label: Size, sheet: LabelSheet): { path: string[]; message: string }[] {
  const { columns, rows, pitchX = label.width, pitchY = label.height } = sheet;
  const faults: { path: string[]; message: string }[] = [];
  const fault = (key: keyof LabelSheet, message: string) => faults.push({ path: ['sheet', key], message });
  const mm = (length: number) => `${Math.round(length * 100) / 100} mm`;
  if (columns * rows > LIMITS.labelsPerSheet) {
    fault('rows', `${columns} × ${rows} labels; a sheet has at most ${LIMITS.labelsPerSheet}`);
  }
  if (columns > 1 && pitchX < label.width - TOLERANCE) {
    fault('pitchX', `labels ${mm(label.width)} wide overlap at a pitch of ${mm(pitchX)}`);
  }
  if (rows > 1 && pitchY < label.height - TOLERANCE) {
    fault('pitchY', `labels ${mm(label.height)} high overlap at a pitch of ${mm(pitchY)}`);
  }
  const right = sheet.left + (columns - 1) * pitchX + label.width;
  if (right > sheet.width + TOLERANCE) {
    fault('columns', `the labels end at ${mm(right)}, the page is ${mm(sheet.width)} wide`);
  }
  const bottom = sheet.top + (rows - 1) * pitchY + label.height;
  if (bottom > sheet.height + TOLERANCE) {
    fault('rows', `the labels end at ${mm(bottom)}, the page is ${mm(sheet.height)} high`);
  }
  return faults;
}

/** The top left corner of the sheet's label number `cell`, from 0, mm. */
export function cellCorner(label: Size, sheet: LabelSheet, cell: number): { x: number; y: number } {
  const { columns, left, top, pitchX = label.width, pitchY = label.height } = sheet;
  return { x: left + (cell % columns) * pitchX, y: top + Math.floor(cell / columns) * pitchY };
}

interface MadeFor {
  width?: number | undefined;
  height?: number | undefined;
  sheet?: LabelSheet | undefined;
}

export interface Media extends Omit<MadeFor, 'sheet'> {
  what: 'label' | 'sheet';
}

/** What a template is made for, mm, as far as it says: a sheet of labels where pages are printed, or the label. */
export function mediaOf({ width, height, sheet }: MadeFor, pages: boolean): Media {
  if (sheet === undefined || !pages) return { what: 'label', width, height };
  return { what: 'sheet', width: sheet.width, height: sheet.height };
}
