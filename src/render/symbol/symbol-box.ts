/** The place of a symbol on the label, quiet zones included, and whether there is room for it. */

import { dots, millimetres } from '../../contract/dots.ts';
import { because } from '../../contract/reason.ts';
import type { BarcodeElement } from '../../contract/template.ts';
import type { Item, Rect } from '../display-list.ts';
import { requireElementDots } from '../dot-limit.ts';
import type { LabelGrid } from '../label-grid.ts';
import { ElementFault, type ElementPlace, isInside } from '../place.ts';
import { quietZone } from './symbol.ts';
import type { QuietZone } from './symbology/rules.ts';

export interface Barcode {
  readonly element: BarcodeElement;
  readonly place: ElementPlace;
  readonly grid: LabelGrid;
  /** Dots. */
  readonly module: number;
  /** Width of a wide bar or space, dots, if the symbology has two widths. */
  readonly wide: number;
  readonly barHeight: number;
  readonly space: number | undefined;
}

/** A symbol's box on the label, quiet zones included, and the symbol's place inside it, dots. */
export interface SymbolBox extends Rect {
  /** From the box's upright left and top edges to the symbol. */
  readonly left: number;
  readonly top: number;
  /** The width that the symbol needs in its reading direction, quiet zones included. */
  readonly inner: number;
}

/** A module of a barcode, dots. */
export function moduleOf({ moduleDots, module }: BarcodeElement, dpi: number): number {
  return moduleDots ?? Math.max(1, dots(module, dpi));
}

/** The four sides of a quiet zone, dots. @param module dots */
export function quietDots(quiet: QuietZone, module: number, dpi: number): Omit<QuietZone, 'unit'> {
  const zone = (size: number) => (quiet.unit === 'modules' ? size * module : Math.ceil((size * dpi) / 25.4));
  const { left, right, top, bottom } = quiet;
  return { left: zone(left), right: zone(right), top: zone(top), bottom: zone(bottom) };
}

/** The box of a symbol with its quiet zones. `width` and `height`, dots, include the human-readable line. */
export function boxOf(
  { element, module, grid, space }: Barcode,
  width: number,
  height: number,
  quiet: QuietZone = quietZone(element.symbology),
): SymbolBox {
  const { left, right, top, bottom } = quietDots(quiet, module, grid.dpi);
  const needed = left + width + right;
  const tall = top + height + bottom;
  const spare = Math.max(0, (space ?? needed) - needed);
  const offset = element.align === 'left' ? 0 : element.align === 'center' ? Math.floor(spare / 2) : spare;
  const wide = needed + spare;
  const upright = element.rotation === 0 || element.rotation === 180;
  return {
    x: dots(element.x, grid.dpi),
    y: dots(element.y, grid.dpi),
    width: upright ? wide : tall,
    height: upright ? tall : wide,
    left: left + offset,
    top,
    inner: needed,
  };
}

export function fits(barcode: Barcode, box: SymbolBox): boolean {
  return (barcode.space === undefined || box.inner <= barcode.space) && isInside(barcode.grid, box);
}

/** Dots as millimetres, for people. */
export function mm(length: number, grid: LabelGrid): string {
  return millimetres(length, grid.dpi).toFixed(1);
}

/** Draws a symbol if there is room for it. @throws ElementFault `does-not-fit` */
export function fitting(barcode: Barcode, box: SymbolBox, draw: () => Item[]): Item[] {
  if (fits(barcode, box)) return draw();
  const { space, grid, place } = barcode;
  const unfit = () => {
    requireElementDots(box, place);
    return draw();
  };
  const needs = mm(box.inner, grid);
  throw new ElementFault(
    'does-not-fit',
    place,
    space !== undefined && box.inner > space
      ? because('symbol-too-wide', { needs, has: mm(space, grid), short: box.inner - space })
      : because('symbol-over-edge', { needs }),
    { unfit },
  );
}
