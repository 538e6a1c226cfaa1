/**
 * What commands print on stdout: tables for people, JSON for programs. Much of it others wrote (tenants, printers on the
 * network, agents), so nothing of it may tell a terminal to do something.
 */
import { widthOf, wrapped } from './text-width.ts';

/** Control characters but the line break, and those that turn the direction of the text around. */
const COMMANDING = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text for a terminal: what would be a command to it is written as in JSON. */
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

/** A text for people, broken to fit the page; an empty line before it. */
export function printParagraph(text: string): void {
  printLine(`\n${wrapped(text, process.stdout.columns ?? PAGE).join('\n')}`);
}

/** Columns that a page is taken to have where nobody says; a terminal does. */
const PAGE = 100;
/** A column that is made narrower is still this wide. */
const NARROWEST = 10;
const GAP = 2;

/**
 * Columns as wide as their widest cell; no border, so that a cell can be selected and copied. Where that does not fit
 * the page, the widest columns are made narrower, and their cells take several lines.
 */
export function table(header: string[], told: string[][], page = process.stdout.columns ?? PAGE): string {
  // A line break in a name is none of the table.
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
