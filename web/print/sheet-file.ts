/** Reads a table from a CSV file or an Excel workbook. The code for each format is loaded only when it is needed. */
import { z } from 'zod';
import { type Table, TableTooLarge } from '../../src/tables/table.ts';

/** File types that can be read, as `<input accept>` lists them. */
export const SHEET_FILES = '.csv,.tsv,.txt,.xlsx,text/csv';
/** Bytes. A larger file of either format has more than a job can hold. */
const MOST_CSV = 50_000_000;
const MOST_WORKBOOK = 10_000_000;
/** ms within which a workbook must be read. */
const DEADLINE = 20_000;

declare const WORKBOOK_WORKER: string;

type FileFault = 'too-large' | 'unreadable';
export class SheetFileError extends Error {
  readonly fault: FileFault;
  constructor(fault: FileFault) {
    super(fault);
    this.name = 'SheetFileError';
    this.fault = fault;
  }
}

/** `PK`, the first bytes of a ZIP archive, which an Excel workbook is. */
const ZIP = [0x50, 0x4b];

/** @throws SheetFileError */
export async function readFile(file: Blob): Promise<Table> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const workbook = first === ZIP[0] && second === ZIP[1];
  if (file.size > (workbook ? MOST_WORKBOOK : MOST_CSV)) throw new SheetFileError('too-large');
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (workbook) return await besides(bytes);
  try {
    const { readTable, textOf } = await import('../../src/tables/csv.ts');
    return readTable(textOf(bytes));
  } catch (error) {
    throw new SheetFileError(error instanceof TableTooLarge ? 'too-large' : 'unreadable');
  }
}

const strings = z.array(z.string());
const answer = z.union([
  z.object({ table: z.object({ columns: strings, rows: z.array(strings), numbers: z.array(z.int()) }) }),
  z.object({ fault: z.enum(['too-large', 'unreadable']) }),
]);

/** Reads a workbook in a worker, which ends with its answer or at the deadline. @throws SheetFileError */
async function besides(bytes: Uint8Array): Promise<Table> {
  const worker = new Worker(new URL(WORKBOOK_WORKER, import.meta.url), { type: 'module' });
  try {
    const said = await new Promise<unknown>((resolve, reject) => {
      const late = setTimeout(() => reject(new SheetFileError('too-large')), DEADLINE);
      worker.onmessage = ({ data }) => {
        clearTimeout(late);
        resolve(data);
      };
      worker.onerror = () => {
        clearTimeout(late);
        reject(new SheetFileError('unreadable'));
      };
      worker.postMessage(bytes, [bytes.buffer]);
    });
    const result = answer.parse(said);
    if ('fault' in result) throw new SheetFileError(result.fault);
    return result.table;
  } finally {
    worker.terminate();
  }
}
