/**
 * Prints the results of commands on stdout: tables for people, JSON for programs. Others have written much of
 * the text (tenants, printers on the network, agents), so none of it may reach a terminal as a command.
 */
import { widthOf, wrapped } from './text-width.ts';

/** Control characters but the line break, and characters that change the direction of text. */
const COMMANDING = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text for a terminal: characters that could command it are escaped as in JSON. */
export function forTerminal(text: string): string {
  return text.replace(
    COMMANDING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function printLine(text = ''): void {
  process.stdout.write(`${forTerminal(text)}\n`);
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2));
}

/** What a command lists: as rows of a table, or as JSON where that is asked for. */
export function printList(
  { json }: { json?: true },
  all: readonly unknown[],
  header: string[],
  rows: string[][],
): void {
  if (json) printJson(all);
  else printLine(table(header, rows));
}

/** A text for people, broken to fit the page; an empty line before it. */
export function printParagraph(text: string): void {
  printLine(`\n${wrapped(text, process.stdout.columns ?? PAGE).join('\n')}`);
}

/** Columns of a page where stdout is not a terminal, which says how many it has. */
const PAGE = 100;
/** No column is made narrower than this. */
const NARROWEST = 10;
const GAP = 2;

/**
 * Columns as wide as their widest cell; no border, so that a cell can be selected and copied. Where that does not fit
 * the page, the widest columns are made narrower, and their cells take several lines.
 */
export function table(header: string[], told: string[][], page = process.stdout.columns ?? PAGE): string {
  // A line break in a name must not break the line of the table.
  const rows = told.map((row) => row.map((cell) => forTerminal(cell.replaceAll('\n', ' '))));
  const widths = header.map((title, column) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const sum = () => widths.reduce((all, width) => all + width + GAP, -GAP);
  while (sum() > page) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= NARROWEST) break;
    widths[widest] = width - 1;
  }
  const lines = (cells: string[]) => {
    const columns = widths.map((width, column) => wrapped(cells[column] ?? '', width));
    const height = Math.max(...columns.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      columns
        .map((column, place) => {
          const text = column[line] ?? '';
          return text + ' '.repeat(Math.max(0, (widths[place] ?? 0) - widthOf(text)));
        })
        .join(' '.repeat(GAP))
        .trimEnd(),
    );
  };
  return [header, ...rows].flatMap(lines).join('\n');
}
