/** Has the service check every row before anything is printed, a part of them at a time. */
import { validationResult } from '../../src/contract/admin.ts';
import type { LabelRecord, PrintRequestInput } from '../../src/contract/print-request.ts';
import { faultInRecord, reasonWords, recordOf } from '../controls/reason-words.ts';
import { call, type Fault, Refusal } from '../service/call.ts';
import { jobLimits, ofTenant } from '../service/session.ts';
import { saidOf, t } from '../texts/texts.ts';

/** How many rows one request has: few enough that the service can usually check all of them within its time limit. */
const BATCH = 100;

type BadRow = { row: number; detail: string };
export type Checked = { bad: BadRow[]; warnings: string[] };

/** @throws as `call`, for problems that are about the request and not about a row */
export async function checkRows(
  request: Omit<PrintRequestInput, 'data'>,
  rows: readonly LabelRecord[],
  { onProgress, signal }: { onProgress: (done: number) => void; signal: AbortSignal },
): Promise<Checked> {
  const bad: BadRow[] = [];
  const warnings = new Set<string>();
  // A part may have no more records and labels than a job may, or it would be refused although the job is not.
  const { records, labels } = jobLimits();
  const batch = Math.max(1, Math.min(BATCH, records, Math.floor(labels / (request.numberCopies ?? 1))));
  for (let first = 0; first < rows.length; ) {
    const data = rows.slice(first, first + batch);
    try {
      const answer = await call(validationResult, ofTenant('/jobs/validate'), {
        body: { ...request, data },
        signal,
      });
      for (const { code, message, record, reason } of answer.warnings) {
        if (record !== undefined) continue;
        warnings.add(reasonWords(reason) ?? saidOf(t.value.problem.templateProblems, code, message));
      }
    } catch (error) {
      if (!(error instanceof Refusal) || !error.faults.some((fault) => recordOf(fault) !== undefined))
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
  for (const fault of faults) {
    const own = recordOf(fault);
    if (own === undefined) continue;
    const row = first + own.record;
    const detail = faultInRecord(fault);
    rows.set(row, rows.has(row) ? `${rows.get(row)}; ${detail}` : detail);
  }
  return [...rows].map(([row, detail]) => ({ row, detail }));
}
