/** What is printed where on a page of labels, by a reader of barcodes that knows nothing of sheets. */
import type { LabelSheet } from '../../../src/contract/sheet.ts';
import { readSymbols } from './judges.ts';

/**
 * The code on each label, from the first cell to the last that has one; undefined where there is none.
 * @param sheet with both pitches
 * @throws Error for two codes in a cell, or one that is on no label
 */
export async function codesByCell(
  png: Uint8Array,
  sheet: LabelSheet,
  dpi: number,
): Promise<(string | undefined)[]> {
  const { pitchX = Number.NaN, pitchY = Number.NaN } = sheet;
  const codes: (string | undefined)[] = [];
  for (const { text, position } of await readSymbols(png)) {
    const corners = [position.topLeft, position.topRight, position.bottomLeft, position.bottomRight];
    const mm = (side: 'x' | 'y') => (corners.reduce((sum, corner) => sum + corner[side], 0) / 4 / dpi) * 25.4;
    const column = Math.floor((mm('x') - sheet.left) / pitchX);
    const row = Math.floor((mm('y') - sheet.top) / pitchY);
    const cell = row * sheet.columns + column;
    const on = column >= 0 && column < sheet.columns && row >= 0 && row < sheet.rows;
    if (!on || codes[cell] !== undefined)
      throw new Error(`${text} is not alone on a label: ${row}, ${column}`);
    codes[cell] = text;
  }
  return Array.from(codes);
}
