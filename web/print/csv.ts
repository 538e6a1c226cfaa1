/** CSV as every program writes it, each value as the text that it is. */
import Papa from 'papaparse';
import { type Table, tableOf } from './table.ts';

/** Bytes that are UTF-8, or else the Windows code page that German and French programs write. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * `012345678901` keeps its zero: nothing is taken for a number. Without a heading, the first row is one.
 * @throws Error where there is no heading with a row below it
 */
export function readTable(text: string): Table {
  const { data } = Papa.parse<string[]>(text.replace(/^\uFEFF/, ''), {
    skipEmptyLines: 'greedy',
    delimitersToGuess: [';', ',', '\t', '|'],
  });
  return tableOf(data);
}
