/**
 * Makes pages of one label or a sheet of labels, for all languages of page printers and for previews.
 *
 * `landscape` turns the page as a whole, with the labels on it, 90° clockwise onto the media, just as it turns a single label.
 * A label never draws beyond its own edge, because on a sheet its neighbour lies there.
 */

import { dots } from '../../contract/dots.ts';
import type { Orientation } from '../../contract/print-request.ts';
import { cellCorner, type LabelSheet } from '../../contract/sheet.ts';
import type { DisplayList, Rect } from '../display-list.ts';
import { requireDots } from '../dot-limit.ts';
import { labelGrid } from '../label-grid.ts';
import { type MediaGrid, mediaGrid } from '../label-layout.ts';
import type { PageForm } from '../page-form.ts';
import { turnRect } from '../turn.ts';

/** A label on a page; (x, y) is its top left corner, dots. */
interface PlacedLabel {
  readonly x: number;
  readonly y: number;
  readonly list: DisplayList;
}

/** The page as it lies in the printer, with its labels. The last page of a job may have fewer than the sheet holds. */
export interface Page extends MediaGrid {
  readonly labels: readonly PlacedLabel[];
  /** The same page as vectors, if others have made it. */
  readonly form?: PageForm;
}

/** A page that consists of one label. */
export function labelPage(list: DisplayList): Page {
  const { items: _, ...media } = list;
  return { ...media, labels: [{ x: 0, y: 0, list }] };
}

/**
 * A sheet with these labels, from its first cell on. Each position is rounded once, so that no errors add up.
 * @param label its size, mm
 * @param lists labels as they lie on the media, at most as many as the sheet has
 */
export function sheetPage(
  label: { width: number; height: number },
  sheet: LabelSheet,
  target: { dpi: number; orientation: Orientation },
  lists: readonly DisplayList[],
): Page {
  const { dpi, orientation } = target;
  const page = mediaGrid(sheet, target);
  requireDots('sheet', page, dpi);
  const media: Rect = { x: 0, y: 0, width: page.width, height: page.height };
  const { width, height } = labelGrid(label, dpi);
  const labels = lists.map((list, cell) => {
    const corner = cellCorner(label, sheet, cell);
    const place = { x: dots(corner.x, dpi), y: dots(corner.y, dpi), width, height };
    const { x, y } = orientation === 'landscape' ? turnRect(media, 90, place) : place;
    return { x, y, list };
  });
  return { ...page, labels };
}

/** Whether the label covers the whole page. */
export function fillsPage({ width, height }: Page, { x, y, list }: PlacedLabel): boolean {
  return x === 0 && y === 0 && list.width === width && list.height === height;
}
