/** Reads the first sheet of an Excel file as text; its limits are checked before a part is unpacked. */
import { unzipSync, zipSync } from 'fflate';
import { readSheet } from 'read-excel-file/universal';
import { MOST_COLUMNS, MOST_ROWS, type Table, TableTooLarge, tableOf } from './table.ts';

/** Bytes of the file, bytes that it unpacks to, and files in it. */
const MOST_BYTES = 10_000_000;
const MOST_UNPACKED = 100_000_000;
const MOST_FILES = 1_000;

/** A row or a cell with its attributes, and what follows up to the next tag, which is no value. */
const CELL = /<((?:\w+:)?(?:row|c)\s[^<]*)/g;

/** @throws TableTooLarge, Error for what is no workbook, or has no heading with a row below it */
export async function readWorkbook(bytes: Uint8Array): Promise<Table> {
  if (bytes.length > MOST_BYTES) throw new TableTooLarge('the file');
  let files = 0;
  let unpacked = 0;
  // `fflate` unpacks no more than the declared size: a longer part is cut off.
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      files += 1;
      if (files > MOST_FILES) throw new TableTooLarge('its parts');
      if (!/\.(xml|rels)$/.test(name)) return false;
      unpacked += originalSize;
      if (unpacked > MOST_UNPACKED) throw new TableTooLarge('its content');
      return true;
    },
  });
  for (const part of Object.values(parts)) boundSheet(part);
  // Stored without compression, so that the reader has nothing to unpack.
  const plain = zipSync(parts, { level: 0 });
  const rows = await readSheet(plain.slice().buffer, { parseNumber: digitsOf });
  return tableOf(rows.map((row) => row.map(textOfCell)));
}

/**
 * Checks the places of all cells: for one far out the reader would create all rows and columns before it. Which part is a
 * sheet the file says itself, so it is known by its content.
 */
function boundSheet(part: Uint8Array): void {
  const text = new TextDecoder().decode(part);
  if (!text.includes('sheetData')) return;
  for (const [, cell = ''] of text.matchAll(CELL)) {
    for (const [, place = ''] of cell.matchAll(/\sr\s*=\s*["']([^"']*)["']/g)) boundPlace(place);
  }
}

/** @throws TableTooLarge for a place that is beyond the limits, or that no program writes so */
function boundPlace(place: string): void {
  const [, column = '', row] = /^([A-Za-z]{0,3})(\d{1,7})$/.exec(place) ?? [];
  if (row === undefined) throw new TableTooLarge('a place');
  if (Number(row) > MOST_ROWS) throw new TableTooLarge('rows');
  if (column !== '' && numberOf(column) > MOST_COLUMNS) throw new TableTooLarge('columns');
}

/** A is 1, AA is 27. */
function numberOf(column: string): number {
  return [...column.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

/**
 * A number as text, with the 15 digits that Excel has and without an exponent: `4.00638133393E+12` becomes
 * 4006381333930. Other programs write longer numbers, such as an SSCC: they keep all digits where the file
 * has them; otherwise the text stays as it is, for a person to see.
 */
export function digitsOf(text: string): string {
  const value = Number(text);
  if (!Number.isFinite(value) || /^-?\d+$/.test(text)) return text;
  const rounded = Number(value.toPrecision(15));
  if (rounded !== value && Math.abs(value) >= 1e15) return text;
  const [mantissa = '', exponent] = String(rounded).split('e');
  if (exponent === undefined) return mantissa;
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const shift = Number(exponent);
  const digits = whole + fraction;
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - whole.length)}${digits}`;
  return sign + digits.padEnd(whole.length + shift, '0');
}

/** Dates are written as ISO 8601: a day, a time of day, or both. */
function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) {
    const [day = '', time = ''] = cell.toISOString().slice(0, 19).split('T');
    if (cell.getUTCFullYear() < 1900) return time;
    return time === '00:00:00' ? day : `${day}T${time}`;
  }
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return String(cell);
}
