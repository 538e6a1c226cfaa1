/** Tables from files of any format, and the mapping of their columns to a template's fields. */

/** `numbers`: of each row, its number in the file, which a spreadsheet program shows beside it. */
export type Table = {
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  numbers: readonly number[];
};

/** Limits of a table; Excel itself allows 1,048,576 rows and 16,384 columns. */
export const MOST_ROWS = 100_000;
export const MOST_COLUMNS = 500;

/** The file exceeds a limit; any other problem with it is another error. */
export class TableTooLarge extends Error {
  override readonly name = 'TableTooLarge';
}

/**
 * The first row is the heading; empty rows are dropped.
 * @param all with the empty rows of the file, which count
 * @throws Error without a row below the heading
 */
export function tableOf(all: readonly (readonly string[])[]): Table {
  const numbered = all.map((row, at) => ({ row, number: at + 1 }));
  const [heading, ...rows] = numbered.filter(({ row }) => row.some((value) => value.trim() !== ''));
  if (heading === undefined || rows.length === 0) throw new Error('no heading, or no row below it');
  return {
    columns: unique(heading.row.map((name) => name.trim())),
    rows: rows.map(({ row }) => row),
    numbers: rows.map(({ number }) => number),
  };
}

function unique(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name, at) => {
    const base = name === '' ? String(at + 1) : name;
    const count = (seen.get(base) ?? 0) + 1;
    seen.set(base, count);
    return count === 1 ? base : `${base} (${count})`;
  });
}

/** Column by field name. */
export type Mapping = Readonly<Record<string, string>>;

/** Maps fields to columns of the same name, apart from case, spaces and `_`, `.`, `-`. */
export function guessMapping(fields: readonly string[], columns: readonly string[]): Mapping {
  const plain = (name: string) => name.toLocaleLowerCase().replaceAll(/[\s_.-]/g, '');
  return Object.fromEntries(
    fields.flatMap((field) => {
      const column =
        columns.find((one) => one === field) ?? columns.find((one) => plain(one) === plain(field));
      return column === undefined ? [] : [[field, column]];
    }),
  );
}

type Field = { readonly name: string; readonly default?: string | undefined };

/** The rows as records: a cell fills its field, and an empty cell, or no column, leaves it empty. */
export function recordsOf(
  fields: readonly Field[],
  table: Table,
  mapping: Mapping,
): Record<string, string>[] {
  const places = new Map(
    Object.entries(mapping).map(([field, name]) => [field, table.columns.indexOf(name)]),
  );
  return table.rows.map((row) => recordOf(fields, (field) => row[places.get(field) ?? -1] ?? ''));
}

/** The record to print. A value that is left empty is left out where the field has a default, which then counts. */
export function recordOf(fields: readonly Field[], typed: (field: string) => string): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ name, default: usual }) => {
      const text = typed(name);
      return text === '' && usual !== undefined ? [] : [[name, text]];
    }),
  );
}
