/**
 * Lays out linear barcodes: bars, guard bars that reach lower, an add-on, bearer bars, and the human-readable
 * line with its digits in groups.
 */

import { dots } from '../../contract/dots.ts';
import { because, becauseOf, type Reason } from '../../contract/reason.ts';
import type { NativeSymbol } from '../../zpl/bars.ts';
import { zplBars } from '../../zpl/bars.ts';
import type { BarsItem, Item, TextItem } from '../display-list.ts';
import { ElementFault } from '../place.ts';
import { isPlain } from '../text/font0.ts';
import { missingGlyph, noGlyph } from '../text/glyphs.ts';
import { measureLine } from '../text/measure.ts';
import { ASCENT, printable, SMALLEST_TEXT } from '../text/text-layout.ts';
import { turnPoint, turnRect } from '../turn.ts';
import { type Barcode, boxOf, fitting, type SymbolBox } from './symbol-box.ts';
import type { LinearSymbol, RetailParts } from './symbology/rules.ts';

/** The human-readable line: its em, modules; the smallest and the largest em, mm; and the gap to the bars, modules. */
const HRI = { modules: 10, smallest: 2, largest: 4, gap: 2 } as const;
/** How far EAN guard bars reach below the others, modules (GS1 General Specifications). */
const GUARD = 5;
/** Thickness of bearer bars, modules. It must be at least two narrow bars (GS1 General Specifications, ITF-14). */
const BEARER = 4;
/** Capital height of the condensed face, ems. */
const CAPITALS = 0.711;

interface Part {
  readonly text: string;
  /** Its middle, dots from the first bar. */
  readonly middle: number;
}

interface HriLine {
  readonly size: number;
  readonly parts: readonly Part[];
  /** Dots that it adds to the bars' height. */
  readonly height: number;
}

/** @throws ElementFault `value-invalid`, `does-not-fit` */
export function layoutLinear(barcode: Barcode, symbol: LinearSymbol): Item[] {
  const { element, module, barHeight } = barcode;
  const retail = element.hri === 'below' ? symbol.retail : undefined;
  const width = symbol.modules * module + symbol.wides * barcode.wide;
  const hri = element.hri === 'none' ? undefined : hriLine(barcode, symbol, width);
  const bearer = symbol.bearer === undefined ? 0 : BEARER * module;
  const side = symbol.bearer === 'box' ? bearer : 0;
  const guard = retail === undefined ? 0 : GUARD * module;

  const total = barHeight + 2 * bearer + Math.max(hri?.height ?? 0, guard);
  const outer = boxOf(barcode, width + 2 * side, total, symbol.quiet);
  return fitting(barcode, outer, () => {
    const box: SymbolBox = { ...outer, left: outer.left + side };
    const above = hri !== undefined && element.hri === 'above' ? hri.height : 0;
    const top = outer.top + above + bearer;

    const items = barsItems(barcode, symbol, box, { top, width, guard, hri });
    const fill = (x: number, y: number, w: number, h: number) =>
      items.push({
        kind: 'fill',
        ...turnRect(box, element.rotation, { x, y, width: w, height: h }),
        ink: 'black',
      });
    if (bearer > 0) {
      // Bearer bars run across the quiet zones too. The sides of a box stand outside of the quiet zones.
      const quiet = outer.inner - width - 2 * side;
      const from = box.left - quiet / 2 - side;
      fill(from, top - bearer, outer.inner, bearer);
      fill(from, top + barHeight, outer.inner, bearer);
      if (side > 0) {
        fill(from, top, side, barHeight);
        fill(from + outer.inner - side, top, side, barHeight);
      }
    }
    if (hri !== undefined) {
      const gap = HRI.gap * module;
      const capitals = retail === undefined ? ASCENT : CAPITALS;
      const baseline =
        element.hri === 'above'
          ? outer.top + hri.height - gap - Math.ceil(hri.size * 0.02)
          : top + barHeight + bearer + gap + Math.round(hri.size * capitals);
      for (const part of hri.parts) items.push(textItem(barcode, box, hri.size, part, baseline));
      if (retail?.addOn !== undefined) {
        const middle = (retail.addOn.at + retail.addOn.modules / 2) * module;
        const line = { text: retail.addOn.text, middle };
        items.push(textItem(barcode, box, hri.size, line, top + Math.ceil(hri.size * CAPITALS)));
      }
    }
    return items;
  });
}

function barsItems(
  barcode: Barcode,
  symbol: LinearSymbol,
  box: SymbolBox,
  at: { top: number; width: number; guard: number; hri: HriLine | undefined },
): Item[] {
  const { element, module, barHeight } = barcode;
  const turn = element.rotation;
  const scale = (widths: readonly number[]) =>
    symbol.wides === 0
      ? widths.map((width) => width * module)
      : widths.map((width) => (width > 1 ? barcode.wide : module));
  const bars = (
    inner: { x: number; y: number; width: number; height: number },
    widths: () => readonly number[],
    native: NativeSymbol | undefined,
  ): BarsItem => ({
    kind: 'bars',
    ...turnRect(box, turn, inner),
    turn,
    module,
    ...(symbol.wides === 0 ? {} : { wide: barcode.wide }),
    widths: () => scale(widths()),
    native,
  });
  const { addOn, guards = [] } = symbol.retail ?? {};
  const main = symbol.retail === undefined ? at.width : symbol.retail.modules * module;
  // Printers differ in whether ^BE without digits makes the guards longer. If we draw longer guards over them, all agree.
  const mayBeNative = element.render !== 'graphic' && (symbol.native?.symbology !== 'ean13' || at.guard > 0);
  const drawn = mayBeNative ? undefined : because('drawn-guards', {});
  if (element.render === 'native') requireCommand(barcode, symbol, drawn);
  const items: Item[] = [
    {
      ...bars(
        { x: box.left, y: at.top, width: main, height: barHeight },
        symbol.widths,
        mayBeNative ? symbol.native : undefined,
      ),
      ...(symbol.quiet === undefined ? {} : { quiet: symbol.quiet }),
    },
  ];
  if (at.guard > 0) {
    for (const { at: from, width } of guards) {
      const x = box.left + from * module;
      const guard = { x, y: at.top + barHeight, width: width * module, height: at.guard };
      items.push({ kind: 'fill', ...turnRect(box, turn, guard), ink: 'black' });
    }
  }
  if (addOn !== undefined) {
    // The add-on's bars end where the guards end, and begin under the add-on's digits.
    const lowered =
      at.guard > 0 && at.hri !== undefined ? Math.ceil(at.hri.size * CAPITALS) + HRI.gap * module : 0;
    const inner = {
      x: box.left + addOn.at * module,
      y: at.top + lowered,
      width: addOn.modules * module,
      height: Math.max(module, barHeight + at.guard - lowered),
    };
    items.push(bars(inner, addOn.widths, undefined));
  }
  return items;
}

/**
 * Requires that a command of the printer can make the symbol, for templates that insist on it.
 * @param drawn why the symbol must be drawn, whatever its value; undefined: there is no such reason
 * @throws ElementFault `value-invalid`, `template-invalid`
 */
function requireCommand(barcode: Barcode, symbol: LinearSymbol, drawn: Reason | undefined): void {
  const { native, retail, wides } = symbol;
  const wide = wides === 0 ? undefined : barcode.wide;
  const bars = native && zplBars(native, barcode.module, wide);
  const reason =
    drawn ??
    (bars === undefined ? because('drawn-characters', {}) : undefined) ??
    (bars && 'reason' in bars ? bars.reason : undefined) ??
    (retail?.addOn === undefined ? undefined : because('drawn-add-on', {}));
  if (reason === undefined) return;
  const code = reason === drawn ? 'template-invalid' : 'value-invalid';
  throw new ElementFault(code, barcode.place, becauseOf('native-impossible', {}, reason));
}

function textItem(
  { element }: Barcode,
  box: SymbolBox,
  size: number,
  part: Part,
  baseline: number,
): TextItem {
  const width = measureLine('condensed', part.text) * size;
  const start = Math.round(box.left + part.middle - width / 2);
  return {
    kind: 'text',
    ...turnPoint(box, element.rotation, start, baseline),
    turn: element.rotation,
    text: part.text,
    size,
    face: 'condensed',
    ink: 'black',
    native: element.render !== 'graphic' && isPlain(part.text),
  };
}

function hriLine(barcode: Barcode, symbol: LinearSymbol, width: number): HriLine {
  const { module, grid, element, place } = barcode;
  if (symbol.retail !== undefined && element.hri === 'below') return retailLine(module, symbol.retail);
  const wanted = Math.min(
    Math.max(HRI.modules * module, dots(HRI.smallest, grid.dpi)),
    dots(HRI.largest, grid.dpi),
  );
  const text = printable(symbol.text).replaceAll('\n', ' ');
  const missing = missingGlyph(text);
  if (missing !== null) {
    throw new ElementFault('value-invalid', place, noGlyph(missing));
  }
  const size = Math.floor(Math.min(wanted, (width * 0.97) / Math.max(measureLine('condensed', text), 0.01)));
  if (size < dots(SMALLEST_TEXT, grid.dpi)) {
    throw new ElementFault('does-not-fit', place, because('hri-too-long', { hri: element.hri }), {
      unfit: () => layoutLinear({ ...barcode, element: { ...element, hri: 'none' } }, symbol),
    });
  }
  return { size, parts: [{ text, middle: width / 2 }], height: HRI.gap * module + Math.ceil(size) };
}

/** Digits between the guards, and, where the symbology has them, one digit in the left and the right quiet zone. */
function retailLine(module: number, retail: RetailParts): HriLine {
  const widest = Math.max(...retail.groups.map(({ text }) => measureLine('condensed', text) / text.length));
  // A digit has seven modules to stand in, less some space beside the guards.
  const size = Math.floor(Math.min(HRI.modules * module, (6.6 * module) / widest));
  const digit = (text: string) => measureLine('condensed', text) * size;
  const { left, right } = retail;
  return {
    size,
    parts: [
      ...(left === undefined ? [] : [{ text: left, middle: -2 * module - digit(left) / 2 }]),
      ...retail.groups.map(({ text, middle }) => ({ text, middle: middle * module })),
      ...(right === undefined
        ? []
        : [{ text: right, middle: (retail.modules + 2) * module + digit(right) / 2 }]),
    ],
    height: HRI.gap * module + Math.ceil(size * CAPITALS),
  };
}
