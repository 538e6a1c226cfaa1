/** Reads CSV as common programs write it; every value stays text. */
import Papa from 'papaparse';
import { MOST_COLUMNS, MOST_ROWS, type Table, TableTooLarge, tableOf } from './table.ts';

/** Decodes UTF-8, or else Windows-1252, which German and French programs write. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * No value becomes a number, so `012345678901` keeps its zero. The first row is the heading.
 * @throws TableTooLarge; Error where there is no heading with a row below it
 */
export function readTable(text: string): Table {
  const plain = text.replace(/^\uFEFF/, '');
  // An empty line would be taken for a row of one column, and any delimiter for wrong.
  const { meta } = Papa.parse<string[]>(plain, {
    preview: 1,
    skipEmptyLines: 'greedy',
    delimitersToGuess: [';', ',', '\t', '|'],
  });
  const rows: string[][] = [];
  Papa.parse<string[]>(plain, {
    delimiter: meta.delimiter,
    step: ({ data }) => {
      if (data.length > MOST_COLUMNS) throw new TableTooLarge('columns');
      if (rows.push(data) > MOST_ROWS) throw new TableTooLarge('rows');
    },
  });
  return tableOf(rows);
}
