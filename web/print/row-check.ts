/** Whether every row can be printed, known before anything is: the service checks them, some at a time. */
import { validationResult } from '../../src/contract/admin.ts';
import type { LabelRecord, PrintRequestInput } from '../../src/contract/print-request.ts';
import { call, type Fault, Refusal } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';

/** Rows of one request: few enough that the service looks at all of them within its time. */
const BATCH = 100;
/** `/data/3/field` */
const PLACE = /^\/data\/(\d{1,6})(\/|$)/;

export type BadRow = { row: number; detail: string };
export type Checked = { bad: BadRow[]; warnings: string[] };

/** @throws as `call`, for what is wrong with the request and not with a row */
export async function checkRows(
  request: Omit<PrintRequestInput, 'data'>,
  rows: readonly LabelRecord[],
  { onProgress, signal }: { onProgress: (done: number) => void; signal: AbortSignal },
): Promise<Checked> {
  const bad: BadRow[] = [];
  const warnings = new Set<string>();
  for (let first = 0; first < rows.length; ) {
    const data = rows.slice(first, first + BATCH);
    try {
      const answer = await call(validationResult, ofTenant('/jobs/validate'), {
        body: { ...request, data },
        signal,
      });
      for (const { message, record } of answer.warnings) if (record === undefined) warnings.add(message);
    } catch (error) {
      if (!(error instanceof Refusal) || !error.faults.some(({ pointer }) => PLACE.test(pointer ?? '')))
        throw error;
      bad.push(...rowsOf(error.faults, first));
    }
    first += data.length;
    onProgress(Math.min(first, rows.length));
  }
  return { bad, warnings: [...warnings] };
}

function rowsOf(faults: readonly Fault[], first: number): BadRow[] {
  const rows = new Map<number, string>();
  for (const { pointer = '', detail } of faults) {
    const at = PLACE.exec(pointer)?.[1];
    if (at === undefined) continue;
    const row = first + Number(at);
    rows.set(row, rows.has(row) ? `${rows.get(row)}; ${detail}` : detail);
  }
  return [...rows].map(([row, detail]) => ({ row, detail }));
}
