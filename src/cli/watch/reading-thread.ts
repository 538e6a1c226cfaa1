/** A thread that reads one file of records: a stranger wrote it, so the thread may be ended, and its memory is bounded. */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { MOST_HOLDERS, MOST_VALUES } from '../../server/json-body.ts';
import { readTable, textOf } from '../../tables/csv.ts';
import { guessMapping, recordsOf, type Table, TableTooLarge } from '../../tables/table.ts';
import { readWorkbook } from '../../tables/workbook.ts';
import { explain } from '../explain.ts';
import { CommandFailure } from '../failure.ts';
import { recordsIn } from '../input-file.ts';

const asked = z.object({
  bytes: z.instanceof(Uint8Array),
  kind: z.enum(['json', 'table', 'workbook']),
  fields: z.array(z.string()),
});
export type ReadingTask = z.infer<typeof asked>;

/** The byte 0 is in UTF-16, and in a file whose length was set before it was written. */
function withoutNul(bytes: Uint8Array): Uint8Array {
  if (bytes.includes(0)) {
    throw new CommandFailure(
      'it has bytes of value 0: it is not whole, or no UTF-8; save it in that encoding',
    );
  }
  return bytes;
}

/** Half of a file of values is one too, but where it ends within a row. */
function wholeTable(text: string): Table {
  const table = readTable(text);
  const last = table.rows.at(-1) ?? [];
  if (last.length < table.columns.length && !/[\r\n]$/.test(text)) {
    throw new CommandFailure(
      'its last row has fewer values than there are columns, and no line break behind it: it is not whole',
    );
  }
  return table;
}

/** The rows as records; the columns are those of the template's fields, as the console guesses them. */
function recordsOfTable(table: Table, fields: readonly string[]) {
  const mapping = guessMapping(fields, table.columns);
  if (fields.length > 0 && Object.keys(mapping).length === 0) {
    throw new CommandFailure(
      `no column of its heading is a field of the template: expected ${fields.map((name) => JSON.stringify(name)).join(', ')}`,
    );
  }
  const wide = table.rows.findIndex((row) => row.length > table.columns.length);
  if (wide >= 0)
    throw new CommandFailure(`row ${wide + 1} below the heading has more values than there are columns`);
  // What has no column is left out, so that its default counts.
  const filled = fields.filter((name) => Object.hasOwn(mapping, name));
  return recordsOf(
    filled.map((name) => ({ name })),
    table,
    mapping,
  );
}

async function read({ bytes, kind, fields }: ReadingTask) {
  if (kind === 'workbook') return recordsOfTable(await readWorkbook(bytes), fields);
  const plain = withoutNul(bytes);
  if (kind === 'table') return recordsOfTable(wholeTable(textOf(plain)), fields);
  return recordsIn(plain, 'the file', { values: MOST_VALUES, holders: MOST_HOLDERS });
}

function faultOf(error: unknown): string {
  if (error instanceof TableTooLarge) return `it has more in it than can be read: ${error.message}`;
  return explain(error);
}

read(asked.parse(workerData)).then(
  (records) => parentPort?.postMessage({ records }),
  (error: unknown) => parentPort?.postMessage({ fault: faultOf(error) }),
);
