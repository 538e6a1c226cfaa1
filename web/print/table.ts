/** Tables from files of any format, and the mapping of their columns to a template's fields. */

export type Table = { columns: readonly string[]; rows: readonly (readonly string[])[] };

/** The first row is the heading; empty rows are dropped. @throws Error without a row below the heading */
export function tableOf(all: readonly (readonly string[])[]): Table {
  const [heading = [], ...rows] = all.filter((row) => row.some((value) => value.trim() !== ''));
  if (heading.length === 0 || rows.length === 0) throw new Error('no heading, or no row below it');
  return { columns: unique(heading.map((name) => name.trim())), rows };
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

/** The rows as records; a field without a column is left out. */
export function recordsOf(table: Table, mapping: Mapping): Record<string, string>[] {
  const places = Object.entries(mapping).map(
    ([field, column]) => [field, table.columns.indexOf(column)] as const,
  );
  return table.rows.map((row) =>
    Object.fromEntries(places.filter(([, at]) => at >= 0).map(([field, at]) => [field, row[at] ?? ''])),
  );
}
