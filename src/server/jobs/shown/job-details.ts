/** One job with its life: what happened to it and when, who decided what, and what can be done now. */
import { z } from 'zod';
import { isUncertain, type JobView } from '../../../contract/job.ts';
import {
  type JobAction,
  type JobDetails,
  type JobEvent,
  type JobRecords,
  jobEventKind,
} from '../../../contract/job-details.ts';
import { jobStatus, mayBecome, statesIn } from '../../../contract/job-life.ts';
import { MOST_COUNTED } from '../../../contract/job-search.ts';
import type { LabelRecord } from '../../../contract/print-request.ts';
import { documentField } from '../../../contract/template.ts';
import { oneJob } from '../../one-job.ts';
import { inSql, type Pool, rowsOf } from '../../store/pool.ts';
import { COLUMNS, jobRow, jobViewOf } from './job-row.ts';
import { labelDataOf } from './label-data.ts';
import { movingTo } from './moving-to.ts';

/** The newest events of a job that are shown. Events `waits` stop being stored sooner than others. */
const MOST_EVENTS = 500;
const MOST_REPRINTS = 20;

const detailsRow = jobRow.extend({
  account: z.string(),
  sender: z.string().nullable(),
  has_data: z.boolean(),
  reprint_of: z.string().nullable(),
  is_rest: z.boolean(),
  printer_before: z.string().nullable(),
  move_to: movingTo.nullable(),
  before: z.int(),
  held_by: z.string().nullable(),
  held_at: z.date().nullable(),
  held_why: z.string().nullable(),
});

/** The largest bigint. */
const LAST = '9223372036854775807';

/**
 * How many jobs are before a waiting one, up to `MOST_COUNTED`. Only the tenant's own jobs are counted. A job that was moved, or
 * that a person let go on, stands at the end of its lane. Otherwise only jobs with a lower `seq` can be before it, which the index
 * finds however long the lane is.
 */
const BEFORE = `CASE WHEN status = 'queued' THEN (SELECT count(*)::int FROM (SELECT FROM platen.jobs b
    WHERE b.lane = jobs.lane AND b.tenant_id = jobs.tenant_id AND b.status IN (${inSql(statesIn('under way'))})
      AND b.seq < CASE WHEN jobs.round = 0 THEN jobs.seq ELSE ${LAST} END
      AND (b.status = 'printing' OR (coalesce(b.dispatched_at, 'infinity'), b.seq) < (coalesce(jobs.dispatched_at, 'infinity'), jobs.seq))
    LIMIT ${MOST_COUNTED}) AS counted)
  ELSE 0 END AS before`;

/** An entry of the job's history: what the job was at that moment, and who changed it and why. */
const eventRow = jobRow
  .pick({
    sent: true,
    printed: true,
    reasons: true,
    error: true,
    uncertain_from: true,
    uncertain_to: true,
    printer_id: true,
    printer_name: true,
  })
  .extend({
    at: z.date(),
    kind: jobEventKind,
    who: z.string().nullable(),
    why: z.string().nullable(),
  });

const madeOfIt = z.object({
  id: z.string(),
  status: jobStatus,
  created_at: z.date(),
  is_rest: z.boolean(),
  printer_name: z.string(),
  first_label: z.int(),
});

/** @throws ProblemError `job-not-found` */
export async function jobDetailsOf(pool: Pool, id: string): Promise<JobDetails> {
  const row = await oneJob(
    pool,
    detailsRow,
    `SELECT ${COLUMNS}, account, payload IS NOT NULL AS has_data, reprint_of, is_rest,
       (SELECT i.sender FROM platen.ipp_jobs i WHERE i.job_id = jobs.id) AS sender,
       (SELECT before.printer_name FROM platen.jobs before WHERE before.id = jobs.reprint_of) AS printer_before,
       ${BEFORE}, move_to, s.held_by, s.held_at, s.held_why
     FROM platen.jobs LEFT JOIN platen.lane_settings s ON s.lane = jobs.lane WHERE id = $1`,
    id,
  );
  const events = await rowsOf(
    pool,
    eventRow,
    `SELECT at, kind, sent, printed, reasons, error, uncertain_from, uncertain_to, printer_id, printer_name, who, why
     FROM platen.job_events WHERE job_id = $1 ORDER BY number DESC LIMIT ${MOST_EVENTS - 1}`,
    [id],
  );
  // The rest of a stopped job comes first, to be shown however many reprints there are.
  const made = await rowsOf(
    pool,
    madeOfIt,
    `SELECT id, status, created_at, is_rest, printer_name, first_label FROM platen.jobs WHERE reprint_of = $1 AND tenant_id = $2
     ORDER BY is_rest DESC, seq DESC LIMIT ${MOST_REPRINTS}`,
    [id, row.tenant_id],
  );
  const job = jobViewOf(row);
  const told = withTargets(events.reverse().map(eventOf), job.printer);
  const first: JobEvent = {
    at: job.createdAt,
    kind: 'accepted',
    labels: { sent: 0, printed: 0 },
    reasons: [],
    error: null,
    uncertain: null,
    printer: leftFirst(events) ?? told[0]?.printer ?? job.printer,
    who: row.account,
    why: null,
  };
  const life = [first, ...told];
  return {
    ...job,
    account: row.account,
    sender: row.sender,
    events: life,
    statusSince: sinceOf(life, ({ kind }) => kind === job.status),
    reasonsSince: row.reasons.length === 0 ? null : sinceReasons(life, row.reasons),
    before: row.before,
    hold:
      job.status === 'queued' && row.held_at !== null && row.held_by !== null
        ? { by: row.held_by, at: row.held_at.toISOString(), why: row.held_why }
        : null,
    restOf:
      row.is_rest && row.reprint_of !== null ? { id: row.reprint_of, printer: row.printer_before } : null,
    rests: made
      .filter((one) => one.is_rest)
      .map(({ id, printer_name: printer, first_label: from }) => ({ id, printer, from })),
    reprintOf: row.is_rest ? null : row.reprint_of,
    reprints: made
      .filter((one) => !one.is_rest)
      .map(({ id, status, created_at }) => ({ id, status, createdAt: created_at.toISOString() })),
    moving: row.move_to && { printer: row.move_to.printer, refused: row.move_to.refused ?? null },
    actions: actionsOf(job, row.has_data, row.move_to !== null),
    data: row.has_data,
  };
}

/** Characters. */
const SHOWN_OF_DOCUMENT = 40;

/** A job's values, some at a time. @throws ProblemError `job-not-found`, `label-data-gone` */
export async function jobRecordsOf(
  pool: Pool,
  id: string,
  part: { from: number; limit: number },
): Promise<JobRecords> {
  const { job, total, records } = await labelDataOf(pool, id, part);
  const document = documentField(job.template);
  const shown = document === undefined ? records : records.map((record) => withBeginning(record, document));
  return { total, copies: job.copies, from: part.from, records: shown };
}

/** A document says nothing to a person, and may have megabytes. */
function withBeginning(record: LabelRecord, field: string): LabelRecord {
  const value = Object.hasOwn(record, field) ? record[field] : undefined;
  return typeof value === 'string' && value.length > SHOWN_OF_DOCUMENT
    ? { ...record, [field]: `${value.slice(0, SHOWN_OF_DOCUMENT)}…` }
    : record;
}

function eventOf(row: z.infer<typeof eventRow>): JobEvent {
  const { uncertain_from: from, uncertain_to: to } = row;
  return {
    at: row.at.toISOString(),
    kind: row.kind,
    labels: { sent: row.sent, printed: row.printed },
    reasons: row.reasons,
    error: row.error,
    uncertain: from === null || to === null ? null : { from, to },
    printer: { id: row.printer_id, name: row.printer_name },
    who: row.who,
    why: row.why,
  };
}

/** A `moved` event is stored with the printer that the job left, and shown with the printer that it went to. */
function withTargets(told: readonly JobEvent[], now: JobEvent['printer']): JobEvent[] {
  let printer = now;
  const shown = told.toReversed().map((event) => {
    if (event.kind !== 'moved') return event;
    const moved = { ...event, printer };
    printer = event.printer;
    return moved;
  });
  return shown.reverse();
}

/** The printer that the job was accepted for, if it was moved since. */
function leftFirst(events: readonly z.infer<typeof eventRow>[]): JobEvent['printer'] | undefined {
  const first = events.find(({ kind }) => kind === 'moved');
  return first && { id: first.printer_id, name: first.printer_name };
}

function sinceOf(life: readonly JobEvent[], begins: (event: JobEvent) => boolean): string {
  return (life.findLast(begins) ?? life[0])?.at ?? '';
}

/** Since when these reasons have held without a break. */
function sinceReasons(life: readonly JobEvent[], reasons: readonly string[]): string {
  const same = (event: JobEvent) =>
    event.reasons.length === reasons.length &&
    reasons.every((one) => event.reasons.some((its) => its === one));
  const before = life.findLastIndex((event) => !same(event));
  return (life[before + 1] ?? life.at(-1))?.at ?? '';
}

/** The actions that can be asked for; whether one is done is decided when it is asked for. */
function actionsOf(job: JobView, hasData: boolean, moving: boolean): JobAction[] {
  const { status } = job;
  const goesOn = hasData && mayBecome(status, 'queued', 'person');
  const stops = job.reasons.includes('cancel-requested') && !moving;
  const leaves = status === 'queued' || (status === 'printing' && hasData && !stops);
  const over = status === 'printed' || status === 'canceled' || status === 'failed';
  return [
    ...(mayBecome(status, 'canceled', 'person') ? (['cancel'] as const) : []),
    ...(status === 'failed' && goesOn ? (['retry'] as const) : []),
    ...((status === 'held' && goesOn) || (status === 'canceled' && isUncertain(job))
      ? (['release'] as const)
      : []),
    ...(leaves || goesOn ? (['move'] as const) : []),
    ...(over && hasData ? (['reprint'] as const) : []),
  ];
}
