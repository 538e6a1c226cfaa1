/**
 * Refuses values that cannot be printed (a letter in an EAN, a wrong check digit, a text that does not fit)
 * when they arrive. The check threads check as many records as a budget of time allows; the agent checks all
 * others before it prints the first label.
 */
import { recordsAt } from '../../../contract/document-pages.ts';
import type { PrinterFormat } from '../../../contract/format.ts';
import type { PrintRequest } from '../../../contract/print-request.ts';
import { because } from '../../../contract/reason.ts';
import type { Template } from '../../../contract/template.ts';
import { type CheckPool, CheckStopped, type CheckTimes } from '../../../rendering/check-pool.ts';
import type { RecordsCheck, Unprintable } from '../../../rendering/check-protocol.ts';
import { type Fault, faultAt, jsonPointer, ProblemError, refusedBecause, shorten } from '../../problems.ts';

/** ms of checking for one request. */
const BUDGET = 500;
/** Records that are checked at a time, so that other requests get their turn in between. */
const BATCH = 500;
/** ms for one batch, to wait for a thread and to run; after that the rest is left to the agent. */
const TIMES: CheckTimes = { wait: 1_000, run: 2_000, byClock: true };
/** The same for documents, each of which has a deadline of its own, in a thread that may have to start first. */
const DOCUMENT_TIMES: CheckTimes = { wait: 1_000, run: 60_000, byClock: true };
/** Most faults in one answer. */
const MOST_FAULTS = 100;

type Request = Pick<PrintRequest, 'data' | 'orientation' | 'numberCopies'>;
type Checked = {
  template: Template;
  printerCommands: boolean;
  request: Request;
  /** For each record the index of the caller's record that it comes from; undefined: they are the caller's. */
  origins?: readonly number[] | undefined;
};

type Target = Pick<RecordsCheck, 'dpi' | 'language' | 'media'>;

/** @throws ProblemError `data-unprintable` with the records and fields; `format-incompatible`: no record would print */
export async function requirePrintable(
  checks: CheckPool,
  tenantId: string,
  job: Checked & { format: PrinterFormat },
): Promise<void> {
  const { request, format } = job;
  const faults = await unprintable(checks, tenantId, {
    ...job,
    dpi: format.dpi,
    language: format.language,
    media: format,
  });
  const [fault] = faults;
  if (fault === undefined) return;
  if (fault.record === undefined) {
    const said = because('format-no-template', {
      format: JSON.stringify(format.name),
      why: fault.message.slice(0, 1_000),
    });
    const reason = fault.reason === undefined ? said : { ...said, why: fault.reason };
    throw refusedBecause('format-incompatible', reason, { errors: [faultAt('/format', reason)] });
  }
  throw refusedValues(faults, request.data, job.origins);
}

/** As `requirePrintable`, of the values only. @throws ProblemError `data-unprintable` with the records and fields */
export async function requireValues(
  checks: CheckPool,
  tenantId: string,
  job: Checked & Target,
): Promise<void> {
  const faults = await unprintable(checks, tenantId, job);
  if (faults[0]?.record !== undefined) throw refusedValues(faults, job.request.data, job.origins);
}

async function unprintable(
  checks: CheckPool,
  tenantId: string,
  job: Checked & Target,
): Promise<Unprintable[]> {
  const { template, request, dpi, language, media } = job;
  const records = request.data ?? [{}];
  const facts = {
    createdAt: new Date().toISOString(),
    copies: request.numberCopies,
    records: { length: records.length },
    ...(job.printerCommands && { printerCommands: true as const }),
  };
  const times = template.language === 'document' ? DOCUMENT_TIMES : TIMES;
  const faults: Unprintable[] = [];
  let budget = BUDGET;
  for (let first = 0; first < records.length && budget > 0 && faults.length < MOST_FAULTS; first += BATCH) {
    const check = {
      kind: 'records' as const,
      template,
      dpi,
      language,
      orientation: request.orientation,
      media,
      job: facts,
      records: recordsAt(records, indexes(first, Math.min(records.length, first + BATCH)), template),
      first,
      budget,
    };
    try {
      const verdict = await checks.run(tenantId, check, times);
      faults.push(...verdict.faults);
      budget -= verdict.spent;
      if (!verdict.complete) break;
    } catch (error) {
      if (error instanceof CheckStopped) break;
      throw error;
    }
  }
  return faults;
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

function refusedValues(
  faults: readonly Unprintable[],
  data: PrintRequest['data'],
  origins?: readonly number[],
): ProblemError {
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
  return new ProblemError('data-unprintable', `${faults[0]?.message}${more}`, {
    errors: faults.map((one) => faultOf(one, data, origins)),
  });
}

/** Points at the field if there is just one; else at the record, and names the fields. */
function faultOf(
  { record: at = 0, fields, ...fault }: Unprintable,
  data: PrintRequest['data'],
  origins?: readonly number[],
): Fault {
  const record = origins?.[at] ?? at;
  const reason = fault.reason ?? because('other', { said: fault.message.slice(0, 1_000) });
  const sent = data?.[at] ?? {};
  const lacking = fields.filter((name) => !Object.hasOwn(sent, name)).map((name) => shorten(name));
  const message =
    lacking.length === 0 ? fault.message : `${fault.message}; the record has no ${lacking.join(', ')}`;
  if (data === undefined) return { pointer: '/data', detail: message, reason };
  const [field] = fields;
  if (fields.length === 1 && field !== undefined) {
    return { pointer: jsonPointer(['data', record, field]), detail: message, reason };
  }
  const names = fields.map((name) => JSON.stringify(name)).join(', ');
  const detail = fields.length === 0 ? message : `${message}; it prints the fields ${names}`;
  return { pointer: jsonPointer(['data', record]), detail, reason };
}
