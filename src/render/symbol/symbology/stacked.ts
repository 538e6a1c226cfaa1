/** Stacked symbologies: PDF417 and MicroPDF417; and `stacked`, which makes a symbol from rows of modules. */
import { because } from '../../../contract/reason.ts';
import { blackenRect, createBitmap } from '../../image/bitmap.ts';
import { bwipRows, SymbolError } from '../bwip.ts';
import { around, type MatrixSymbol, type SymbologyRules } from './rules.ts';
import { eciText } from './text.ts';

/** @param height of the row at an index, modules */
export function stacked(rows: readonly (readonly number[])[], height: (at: number) => number): MatrixSymbol {
  const columns = rows[0]?.length ?? 0;
  const heights = rows.map((_, at) => height(at));
  const total = heights.reduce((sum, one) => sum + one, 0);
  return {
    kind: 'matrix',
    columns,
    rows: total,
    bitmap: () => {
      const bitmap = createBitmap(columns, total);
      let y = 0;
      rows.forEach((row, at) => {
        const tall = heights[at] ?? 1;
        row.forEach((dark, x) => {
          if (dark === 1) blackenRect(bitmap, x, y, 1, tall);
        });
        y += tall;
      });
      return bitmap;
    },
  };
}

/** The least height of a row, modules: ISO/IEC 15438 (PDF417) asks for 3 X, ISO/IEC 24728 (MicroPDF417) for 2 X. */
const PDF417_ROW = 3;
const MICROPDF417_ROW = 2;

export const STACKED = {
  /** ISO/IEC 15438: quiet zones of 2 X. */
  pdf417: {
    kind: 'stacked',
    quiet: around(2),
    options: ['ecLevel', 'columns', 'rowHeight'],
    checkOptions: ({ ecLevel, columns, rowHeight }) => {
      if (ecLevel !== undefined && !(typeof ecLevel === 'number' && ecLevel <= 8)) {
        throw new SymbolError(because('option-level-number', { code: 'PDF417', least: 0, most: 8 }));
      }
      if (columns !== undefined && columns > 30)
        throw new SymbolError(because('option-columns', { code: 'PDF417', most: 30 }));
      if (rowHeight !== undefined && rowHeight < PDF417_ROW) {
        throw new SymbolError(because('option-row-height', { code: 'PDF417', least: PDF417_ROW }));
      }
    },
    encode: (value, { ecLevel, columns, rowHeight = PDF417_ROW }) => {
      const { text, options } = eciText(value);
      const rows = bwipRows('pdf417', text, {
        ...options,
        ...(ecLevel === undefined ? {} : { eclevel: String(ecLevel) }),
        ...(columns === undefined ? {} : { columns: String(columns) }),
      });
      return stacked(rows, () => rowHeight);
    },
  },
  /** ISO/IEC 24728: 1 X. */
  micropdf417: {
    kind: 'stacked',
    quiet: around(1),
    options: ['columns', 'rowHeight'],
    checkOptions: ({ columns, rowHeight }) => {
      if (columns !== undefined && columns > 4)
        throw new SymbolError(because('option-columns', { code: 'MicroPDF417', most: 4 }));
      if (rowHeight !== undefined && rowHeight < MICROPDF417_ROW) {
        throw new SymbolError(because('option-row-height', { code: 'MicroPDF417', least: MICROPDF417_ROW }));
      }
    },
    encode: (value, { columns, rowHeight = MICROPDF417_ROW }) => {
      const { text, options } = eciText(value);
      const rows = bwipRows('micropdf417', text, {
        ...options,
        ...(columns === undefined ? {} : { columns: String(columns) }),
      });
      return stacked(rows, () => rowHeight);
    },
  },
} satisfies Readonly<Record<string, SymbologyRules>>;
