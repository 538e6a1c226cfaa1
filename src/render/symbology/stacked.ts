/** Stacked symbologies: PDF417 and MicroPDF417; and rows made into a picture of modules. */
import { blackenRect, createBitmap } from '../bitmap.ts';
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

/** The least height of a row: ISO/IEC 15438 (PDF417) asks for 3 X, ISO/IEC 24728 (MicroPDF417) for 2 X. */
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
        throw new SymbolError('"ecLevel" of PDF417 is a number from 0 to 8');
      }
      if (columns !== undefined && columns > 30) throw new SymbolError('PDF417 has 1 to 30 "columns"');
      if (rowHeight !== undefined && rowHeight < PDF417_ROW) {
        throw new SymbolError(`a row of PDF417 is at least ${PDF417_ROW} modules high`);
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
      if (columns !== undefined && columns > 4) throw new SymbolError('MicroPDF417 has 1 to 4 "columns"');
      if (rowHeight !== undefined && rowHeight < MICROPDF417_ROW) {
        throw new SymbolError(`a row of MicroPDF417 is at least ${MICROPDF417_ROW} modules high`);
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
