/**
 * Lays out barcodes: whole-dot modules, quiet zones kept, the human-readable line in its place.
 *
 * The element's (x, y) is the corner of the symbol *with* its quiet zones and its human-readable line, after the rotation. A
 * symbol that does not fit into the width that it was given, or onto the label, is refused, because nobody could scan it.
 */

import { dots } from '../../contract/dots.ts';
import { because, becauseOf, type Reason } from '../../contract/reason.ts';
import type { BarcodeElement } from '../../contract/template.ts';
import { compileText, parsePlaceholders } from '../../values/merge.ts';
import { sizeRefusal } from '../../zpl/bars.ts';
import type { Item } from '../display-list.ts';
import { turnBitmap } from '../image/bitmap.ts';
import type { LabelGrid } from '../label-grid.ts';
import { ElementFault, type ElementLayout, type ElementPlace } from '../place.ts';
import { turnRect } from '../turn.ts';
import { SymbolError } from './bwip.ts';
import { asGs1Data, bracketsAreData } from './gs1.ts';
import { layoutLinear } from './linear-layout.ts';
import { checkOptions, encodeSymbol, isGs1, isLinear, symbolBound, symbologyRules } from './symbol.ts';
import { type Barcode, boxOf, fits, fitting, mm, moduleOf } from './symbol-box.ts';
import { maxiCodeBitmap, maxiCodeSize } from './symbology/maxicode.ts';
import type { MatrixSymbol, MaxiCodeSymbol, PostalSymbol } from './symbology/rules.ts';

/** @throws ElementFault `template-invalid`; JobFaultError `template-invalid` (placeholders) */
export function barcodeLayout(
  element: BarcodeElement,
  place: ElementPlace,
  grid: LabelGrid,
  defaults: ReadonlyMap<string, string>,
): ElementLayout {
  const invalid = (said: Reason) => new ElementFault('template-invalid', place, said);
  const rules = symbologyRules(element.symbology);
  try {
    checkOptions(element.symbology, element);
  } catch (error) {
    throw error instanceof SymbolError ? invalid(error.said) : error;
  }
  const module = moduleOf(element, grid.dpi);
  const least = rules.leastHeight === undefined ? undefined : rules.leastHeight * module;
  const barHeight = element.height === undefined ? least : Math.max(1, dots(element.height, grid.dpi));
  if (isLinear(element.symbology)) {
    if (barHeight === undefined) throw invalid(because('height-missing', {}));
    if (barHeight < (least ?? 0)) {
      throw invalid(because('bars-low', { least: rules.leastHeight ?? 0, mm: mm(least ?? 0, grid) }));
    }
  } else if (element.hri !== 'none') {
    throw invalid(because('hri-none', {}));
  }
  const wide = Math.round((element.ratio ?? rules.ratio ?? 1) * module);
  if (element.render === 'native') {
    const reason = rules.command
      ? sizeRefusal(module, rules.ratio === undefined ? undefined : wide)
      : because('drawn-always', {});
    if (reason !== undefined) throw invalid(becauseOf('native-impossible', {}, reason));
  }
  const text = compileText(element.value, defaults, place.pointer);
  const asData =
    isGs1(element.symbology) && bracketsAreData(parsePlaceholders(element.value)) ? asGs1Data : undefined;
  const barcode: Barcode = {
    element,
    place,
    grid,
    module,
    wide,
    barHeight: barHeight ?? 0,
    space: element.width === undefined ? undefined : dots(element.width, grid.dpi),
  };
  return {
    fields: text.fields,
    layout: (record, quick) => {
      try {
        const value = text.fill(record, asData);
        return layoutValue(barcode, value, quick);
      } catch (error) {
        if (error instanceof SymbolError) throw new ElementFault('value-invalid', place, error.said);
        throw error;
      }
    },
  };
}

function layoutValue(barcode: Barcode, value: string, quick: boolean): Item[] {
  const { symbology } = barcode.element;
  if (quick && !isLinear(symbology)) {
    const side = symbolBound(symbology, value, barcode.element);
    const size = (side ?? 0) * barcode.module;
    if (side !== undefined && fits(barcode, boxOf(barcode, size, size))) return [];
  }
  const symbol = encodeSymbol(symbology, value, barcode.element);
  switch (symbol.kind) {
    case 'linear':
      return layoutLinear(barcode, symbol);
    case 'matrix':
      return layoutMatrix(barcode, symbol, quick);
    case 'postal':
      return layoutPostal(barcode, symbol);
    case 'maxicode':
      return layoutMaxiCode(barcode, symbol, quick);
  }
}

function layoutMatrix(barcode: Barcode, symbol: MatrixSymbol, quick: boolean): Item[] {
  const { module, element } = barcode;
  const [width, height] = [symbol.columns * module, symbol.rows * module];
  const box = boxOf(barcode, width, height);
  return fitting(barcode, box, () => {
    if (quick) return [];
    const { x, y } = turnRect(box, element.rotation, { x: box.left, y: box.top, width, height });
    return [{ kind: 'bitmap', x, y, bitmap: turnBitmap(symbol.bitmap(), element.rotation), scale: module }];
  });
}

function layoutMaxiCode(barcode: Barcode, symbol: MaxiCodeSymbol, quick: boolean): Item[] {
  const { grid, element } = barcode;
  const { width, height } = maxiCodeSize(grid.dpi);
  const box = boxOf(barcode, width, height);
  return fitting(barcode, box, () => {
    if (quick) return [];
    const { x, y } = turnRect(box, element.rotation, { x: box.left, y: box.top, width, height });
    const bitmap = turnBitmap(maxiCodeBitmap(symbol, grid.dpi), element.rotation);
    return [{ kind: 'bitmap', x, y, bitmap, scale: 1 }];
  });
}

/** Draws the bars in three bands: what reaches up, what every bar has, and what reaches down. */
function layoutPostal(barcode: Barcode, { bars, sizes }: PostalSymbol): Item[] {
  const { grid, element } = barcode;
  const bar = Math.max(1, dots(sizes.bar, grid.dpi));
  const pitch = Math.max(bar + 1, dots(sizes.pitch, grid.dpi));
  const heights = [sizes.ascender, sizes.tracker, sizes.descender].map((size) => dots(size, grid.dpi));
  const width = (bars.length - 1) * pitch + bar;
  const box = boxOf(
    barcode,
    width,
    heights.reduce((sum, height) => sum + height, 0),
  );
  return fitting(barcode, box, () => {
    const items: Item[] = [];
    let y = box.top;
    for (const [band, height] of heights.entries()) {
      const kinds = ['FA', 'FADT', 'FD'][band] ?? '';
      const widths = bars.flatMap((kind) => (kinds.includes(kind) ? [bar, pitch - bar] : [0, pitch]));
      if (height > 0 && bars.some((kind) => kinds.includes(kind))) {
        items.push({
          kind: 'bars',
          ...turnRect(box, element.rotation, { x: box.left, y, width, height }),
          turn: element.rotation,
          module: bar,
          widths: () => widths,
          native: undefined,
        });
      }
      y += height;
    }
    return items;
  });
}
