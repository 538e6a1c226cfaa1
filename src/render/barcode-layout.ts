/**
 * A barcode on the label: whole-dot modules, quiet zones kept, the human-readable line in its place.
 *
 * The element's (x, y) is the corner of the symbol *with* its quiet zones and its human-readable line, after the
 * rotation. A symbol that does not fit the width it was given, or the label, is refused: it would not be read.
 */
import type { BarcodeElement } from '../contract/template.ts';
import { turnBitmap } from './bitmap.ts';
import { SymbolError } from './bwip.ts';
import { type BarsItem, dots, type Item, type Rect, type TextItem } from './display-list.ts';
import { isPlain } from './font0.ts';
import { missingGlyph } from './glyphs.ts';
import { asGs1Data, bracketsAreData } from './gs1.ts';
import { measureLine } from './measure.ts';
import { compileText, parsePlaceholders } from './merge.ts';
import { ElementFault, type ElementLayout, type ElementPlace, isInside } from './place.ts';
import {
  type BarcodeSymbol,
  encodeSymbol,
  isGs1,
  isMatrix,
  type LinearSymbol,
  quietZone,
  symbolBound,
} from './symbol.ts';
import { ASCENT, printable, SMALLEST_TEXT } from './text-layout.ts';
import { addTurns, turnPoint, turnRect } from './turn.ts';

export interface LabelGrid {
  readonly dpi: number;
  /** The label upright, dots. */
  readonly width: number;
  readonly height: number;
}

/** The human-readable line: its em in modules and its bounds, mm; the gap to the bars, modules. */
const HRI = { modules: 10, smallest: 2, largest: 4, gap: 2 } as const;
/** EAN guard bars reach this far below the others (GS1 General Specifications §5.2.1.4), modules. */
const GUARD = 5;
/** The modules of an EAN-13 that are guard bars. */
const GUARD_BARS = [0, 2, 46, 48, 92, 94] as const;
/** Capital height of the condensed face, ems. */
const CAPITALS = 0.711;

interface Barcode {
  readonly element: BarcodeElement;
  readonly place: ElementPlace;
  readonly grid: LabelGrid;
  /** Dots. */
  readonly module: number;
  readonly barHeight: number;
  readonly space: number | undefined;
}

/** @throws ElementFault `template-invalid`; JobFaultError `template-invalid` (placeholders) */
export function barcodeLayout(
  element: BarcodeElement,
  place: ElementPlace,
  grid: LabelGrid,
  defaults: ReadonlyMap<string, string>,
): ElementLayout {
  const matrix = isMatrix(element.symbology);
  if (!matrix && element.height === undefined) {
    throw new ElementFault('template-invalid', place, 'a linear barcode needs a height');
  }
  if (matrix && element.hri !== 'none') {
    throw new ElementFault(
      'template-invalid',
      place,
      'a matrix symbol has no human-readable line: use a text',
    );
  }
  const text = compileText(element.value, defaults, place.pointer);
  const asData =
    isGs1(element.symbology) && bracketsAreData(parsePlaceholders(element.value)) ? asGs1Data : undefined;
  const barcode: Barcode = {
    element,
    place,
    grid,
    module: Math.max(1, dots(element.module, grid.dpi)),
    barHeight: Math.max(1, dots(element.height ?? 0, grid.dpi)),
    space: element.width === undefined ? undefined : dots(element.width, grid.dpi),
  };
  return {
    fields: text.fields,
    layout: (record, quick) => {
      try {
        const value = text.fill(record, asData);
        return layoutValue(barcode, value, quick);
      } catch (error) {
        if (error instanceof SymbolError) throw new ElementFault('value-invalid', place, error.message);
        throw error;
      }
    },
  };
}

function layoutValue(barcode: Barcode, value: string, quick: boolean): Item[] {
  const { symbology } = barcode.element;
  if (quick && isMatrix(symbology)) {
    const modules = symbolBound(symbology, value, barcode.element);
    if (modules !== undefined && fits(barcode, boxOf(barcode, modules, modules * barcode.module))) return [];
  }
  const symbol = encodeSymbol(symbology, value, barcode.element);
  if (symbol.kind === 'matrix') return layoutMatrix(barcode, symbol, quick);
  return layoutLinear(barcode, symbol);
}

/** Where the symbol with its quiet zones lies on the label; `height` is that of bars and text, dots. */
function boxOf(
  barcode: Barcode,
  modules: number,
  height: number,
): Rect & { quietLeft: number; inner: number } {
  const { element, module, grid } = barcode;
  const quiet = quietZone(element.symbology);
  const needed = (modules + quiet.left + quiet.right) * module;
  const tall = height + (quiet.top + quiet.bottom) * module;
  const spare = Math.max(0, (barcode.space ?? needed) - needed);
  const offset = element.align === 'left' ? 0 : element.align === 'center' ? Math.floor(spare / 2) : spare;
  const inner = needed + spare;
  const upright = element.rotation === 0 || element.rotation === 180;
  return {
    x: dots(element.x, grid.dpi),
    y: dots(element.y, grid.dpi),
    width: upright ? inner : tall,
    height: upright ? tall : inner,
    quietLeft: quiet.left * module + offset,
    inner: needed,
  };
}

function fits(barcode: Barcode, box: Rect & { inner: number }): boolean {
  return (barcode.space === undefined || box.inner <= barcode.space) && isInside(barcode.grid, box);
}

function requireFit(barcode: Barcode, box: Rect & { inner: number }): void {
  if (fits(barcode, box)) return;
  const mm = (length: number) => ((length * 25.4) / barcode.grid.dpi).toFixed(1);
  const needs = `the symbol with its quiet zones needs ${mm(box.inner)} mm`;
  throw new ElementFault(
    'does-not-fit',
    barcode.place,
    barcode.space !== undefined && box.inner > barcode.space
      ? `${needs} and has ${mm(barcode.space)} mm`
      : `${needs} in its reading direction, and reaches over the edge of the label`,
  );
}

function layoutMatrix(
  barcode: Barcode,
  symbol: Extract<BarcodeSymbol, { kind: 'matrix' }>,
  quick: boolean,
): Item[] {
  const { module, element } = barcode;
  const size = symbol.modules * module;
  const box = boxOf(barcode, symbol.modules, size);
  requireFit(barcode, box);
  if (quick) return [];
  const top = quietZone(element.symbology).top * module;
  const inner = { x: box.quietLeft, y: top, width: size, height: size };
  const { x, y } = turnRect(box, element.rotation, inner);
  return [{ kind: 'bitmap', x, y, bitmap: turnBitmap(symbol.bitmap(), element.rotation), scale: module }];
}

interface HriLine {
  readonly size: number;
  /** Text, and the middle of it in dots from the first bar. */
  readonly parts: readonly { text: string; middle: number }[];
  /** Dots that it adds to the bars' height. */
  readonly height: number;
}

function hriLine(barcode: Barcode, symbol: LinearSymbol): HriLine {
  const { module, grid, element, place } = barcode;
  const wanted = Math.min(
    Math.max(HRI.modules * module, dots(HRI.smallest, grid.dpi)),
    dots(HRI.largest, grid.dpi),
  );
  const gap = HRI.gap * module;
  if (symbol.native?.symbology === 'ean13') {
    // Each half of the digits stands under its half of the bars, 42 modules wide.
    const [first, left, right] = [symbol.text.slice(0, 1), symbol.text.slice(1, 7), symbol.text.slice(7)];
    const size = Math.floor(Math.min(HRI.modules * module, (40 * module) / measureLine('condensed', left)));
    const digit = measureLine('condensed', first) * size;
    return {
      size,
      parts: [
        { text: first, middle: -2 * module - digit / 2 },
        { text: left, middle: 24.5 * module },
        { text: right, middle: 70.5 * module },
      ],
      height: gap + Math.ceil(size * CAPITALS),
    };
  }
  const text = printable(symbol.text).replaceAll('\n', ' ');
  const missing = missingGlyph(text);
  if (missing !== null) {
    throw new ElementFault('value-invalid', place, `no font has the character ${codePoint(missing)}`);
  }
  const room = symbol.modules * module;
  const size = Math.floor(Math.min(wanted, (room * 0.97) / Math.max(measureLine('condensed', text), 0.01)));
  if (size < dots(SMALLEST_TEXT, grid.dpi)) {
    throw new ElementFault('does-not-fit', place, `the human-readable line (${element.hri}) is too long`);
  }
  return { size, parts: [{ text, middle: room / 2 }], height: gap + Math.ceil(size) };
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function layoutLinear(barcode: Barcode, symbol: LinearSymbol): Item[] {
  const { element, module, barHeight } = barcode;
  const turn = element.rotation;
  const hri = element.hri === 'none' ? undefined : hriLine(barcode, symbol);
  const guards = hri !== undefined && symbol.native?.symbology === 'ean13' && element.hri === 'below';
  const height = barHeight + Math.max(hri?.height ?? 0, guards ? GUARD * module : 0);
  const box = boxOf(barcode, symbol.modules, height);
  requireFit(barcode, box);

  const top = hri !== undefined && element.hri === 'above' ? hri.height : 0;
  // Printers differ in whether ^BE lengthens the guard bars when it prints no digits; where we do it, all agree.
  const mayBeNative = element.render !== 'graphic' && (symbol.native?.symbology !== 'ean13' || guards);
  const bars: BarsItem = {
    kind: 'bars',
    ...turnRect(box, turn, { x: box.quietLeft, y: top, width: symbol.modules * module, height: barHeight }),
    turn,
    module,
    widths: symbol.widths,
    native: mayBeNative ? symbol.native : undefined,
  };
  const items: Item[] = [bars];
  if (guards) {
    for (const at of GUARD_BARS) {
      const guard = { x: box.quietLeft + at * module, y: barHeight, width: module, height: GUARD * module };
      items.push({ kind: 'fill', ...turnRect(box, turn, guard), ink: 'black' });
    }
  }
  if (hri !== undefined) {
    const gap = HRI.gap * module;
    const capitals = guards ? CAPITALS : ASCENT;
    const baseline =
      element.hri === 'above'
        ? hri.height - gap - Math.ceil(hri.size * 0.02)
        : barHeight + gap + Math.round(hri.size * capitals);
    for (const part of hri.parts) {
      const width = measureLine('condensed', part.text) * hri.size;
      const start = Math.round(box.quietLeft + part.middle - width / 2);
      const line: TextItem = {
        kind: 'text',
        ...turnPoint(box, turn, start, baseline),
        turn: addTurns(turn, 0),
        text: part.text,
        size: hri.size,
        face: 'condensed',
        ink: 'black',
        native: element.render !== 'graphic' && isPlain(part.text),
      };
      items.push(line);
    }
  }
  return items;
}
