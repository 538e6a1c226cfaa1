/** The pages that a caller of Labelary's interface wants its PDF to have (labelary.com/service.html, "PDF page layout"). */
import type { IncomingHttpHeaders } from 'node:http';
import { reasonText } from '../../contract/reason.ts';
import { type LabelSheet, sheetFaults } from '../../contract/sheet.ts';
import type { ZplCheck } from '../../rendering/check-protocol.ts';
import { wrong } from './wrong.ts';

type Size = { width: number; height: number };

/** Portrait, mm. */
const PAGES: Readonly<Record<string, Size>> = {
  letter: { width: 215.9, height: 279.4 },
  legal: { width: 215.9, height: 355.6 },
  a4: { width: 210, height: 297 },
  a5: { width: 148, height: 210 },
  a6: { width: 105, height: 148 },
};

/**
 * @param label mm, turned as it lies on the page
 * @throws DoorError 400
 */
export function pageAsked(
  headers: IncomingHttpHeaders,
  label: Size,
): Required<Pick<ZplCheck, 'page' | 'border'>> {
  const named = word(headers, 'x-page-size', Object.keys(PAGES));
  const orientation = word(headers, 'x-page-orientation', ['portrait', 'landscape'] as const);
  const across = word(headers, 'x-page-align', ['justify', 'left', 'center', 'right'] as const);
  const down = word(headers, 'x-page-vertical-align', ['justify', 'top', 'center', 'bottom'] as const);
  const border = word(headers, 'x-label-border', ['none', 'solid', 'dashed'] as const) ?? 'none';
  const layout = headers['x-page-layout'];
  if (named === undefined && layout === undefined) return { page: undefined, border: 'none' };
  const [, columns = 0, rows = 0] = (/^(\d{1,2})x(\d{1,2})$/i.exec(String(layout ?? '1x1')) ?? []).map(
    Number,
  );
  if (columns < 1 || rows < 1) throw wrong('the header X-Page-Layout', 'columns x rows, as 2x3');
  // Without a size of its own a page is as large as its labels.
  const size = PAGES[named ?? ''] ?? { width: columns * label.width, height: rows * label.height };
  const lies = named !== undefined && orientation === 'landscape';
  const { width, height } = lies ? { width: size.height, height: size.width } : size;
  const [left, pitchX] = spread(width, label.width, columns, across);
  const [top, pitchY] = spread(height, label.height, rows, down);
  const page: LabelSheet = { width, height, columns, rows, left, top, pitchX, pitchY };
  const [fault] = sheetFaults(label, page);
  if (fault !== undefined) throw wrong('the page', `one that the labels fit on: ${reasonText(fault.reason)}`);
  return { page, border };
}

/** Where the first label begins, and how far it is to the next, mm. */
function spread(
  page: number,
  label: number,
  count: number,
  align: 'justify' | 'center' | 'left' | 'top' | 'right' | 'bottom' = 'justify',
): readonly [number, number] {
  const free = Math.max(0, page - count * label);
  if (align === 'justify') return [free / (count + 1), label + free / (count + 1)];
  if (align === 'center') return [free / 2, label];
  return [align === 'left' || align === 'top' ? 0 : free, label];
}

/** @throws DoorError 400 */
function word<T extends string>(
  headers: IncomingHttpHeaders,
  name: string,
  words: readonly T[],
): T | undefined {
  const said = headers[name];
  if (said === undefined) return undefined;
  const found = words.find((one) => one === String(said).toLowerCase());
  if (found === undefined) throw wrong(`the header ${name}`, words.join(', '));
  return found;
}
