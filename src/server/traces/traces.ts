/**
 * Tells the traces of jobs to the endpoint that the operator has set. What is to be told is in the database, so that any
 * instance tells it, though another one accepted the job or has been killed since. A trace is told once the job has ended,
 * and again until the endpoint has taken it; a job waits for none of this, and what cannot be noted is left out.
 */
import { z } from 'zod';
import { statesIn } from '../../contract/job-life.ts';
import type { ServiceHealth } from '../../contract/readiness.ts';
import type { JobReport } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import type { ServerConfig } from '../config.ts';
import { inSql, type Pool, rowsOf } from '../store/pool.ts';
import { headersOf } from './headers.ts';
import { type TracedJob, tracesRequest } from './otlp.ts';
import { placeOf, type TraceContext } from './trace-parent.ts';

/** ms for which notes are gathered before they are written, and between two looks at what is due. */
const NOTED_WITHIN = 250;
const INTERVAL = 1_000;
/** One of so many looks at what is due begins with `SWEEP`. */
const SWEEPS_EVERY = 60;
/** Notes that wait for the database; what comes then is left out. */
const MOST_NOTES = 10_000;
/** Jobs in one request, events of each, attempts. */
const MOST_JOBS = 100;
const MOST_EVENTS = 100;
const MOST_TRIES = 20;
/** ms for the endpoint to answer, and how long it is left alone when it has not. */
const DEADLINE = 10_000;
const PAUSE = 30_000;
/** ms by which an agent's clock may be off; beyond this its reports' times are not taken. */
const CLOCK_DOUBTED = 24 * 60 * 60_000;
/** Answers after which the same request may be taken later (OTLP 1.x, "Failures"). */
const LATER = new Set([429, 502, 503, 504]);

const IS_OVER = `j.status NOT IN (${inSql(statesIn('under way'))})`;

const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;
const dueRow = z.object({
  ...{ jobId: z.string(), trace: z.string(), span: z.string(), parent: z.string().nullable() },
  ...{ tenant: z.string(), template: z.string(), printer: z.string(), agent: z.string().nullable() },
  ...{ status: z.string(), fault: z.string().nullable(), deliveries: z.int(), tries: z.int() },
  ...{ total: z.int(), sent: z.int(), printed: z.int() },
  ...{ beganAt: z.number(), answeredAt: z.number(), acceptedAt: z.number(), endedAt: z.number() },
  ...{ takenAt: z.number().nullable(), sentAt: z.number().nullable(), saidAt: z.number().nullable() },
});
const eventRow = z.object({
  ...{
    jobId: z.string(),
    at: z.number(),
    kind: z.string(),
    reasons: z.array(z.string()),
    printer: z.string(),
  },
});

/** Takes what is due: no other instance takes it for a minute. */
const TAKE = `WITH due AS (
    SELECT t.job_id FROM platen.job_traces t JOIN platen.jobs j ON j.id = t.job_id
    WHERE t.due_at <= now() AND ${IS_OVER} ORDER BY t.due_at LIMIT ${MOST_JOBS} FOR NO KEY UPDATE OF t SKIP LOCKED),
  taken AS (
    UPDATE platen.job_traces t SET due_at = now() + interval '1 minute', tries = t.tries + 1
    FROM due WHERE t.job_id = due.job_id RETURNING t.*)
  SELECT t.job_id AS "jobId", t.trace, t.span, t.parent, t.tries, j.tenant_id AS tenant, j.template_id AS template,
    j.printer_id AS printer, j.agent_id AS agent, j.status, j.error->>'code' AS fault, j.delivery AS deliveries,
    j.records * j.copies AS total, j.sent, j.printed, ${ms('t.began_at')} AS "beganAt",
    ${ms('t.answered_at')} AS "answeredAt", ${ms('j.created_at')} AS "acceptedAt", ${ms('j.updated_at')} AS "endedAt",
    ${ms('t.taken_at')} AS "takenAt", ${ms('t.sent_at')} AS "sentAt", ${ms('t.said_at')} AS "saidAt"
  FROM taken t JOIN platen.jobs j ON j.id = t.job_id`;
const EVENTS = `SELECT job_id AS "jobId", ${ms('at')} AS at, kind, reasons, printer_id AS printer FROM platen.job_events
  WHERE job_id = ANY($1) AND number <= ${MOST_EVENTS} ORDER BY job_id, number`;
const ACCEPTED = `INSERT INTO platen.job_traces (job_id, trace, span, parent, began_at, answered_at)
  SELECT r.job, r.trace, r.span, r.parent, r.began, r.answered
  FROM json_to_recordset($1) AS r(job uuid, trace text, span text, parent text, began timestamptz, answered timestamptz)
  WHERE EXISTS (SELECT FROM platen.jobs j WHERE j.id = r.job) ON CONFLICT DO NOTHING`;
/** A job's end is told a little later: another instance may have noted something of it at the same moment. */
const REPORTED = `UPDATE platen.job_traces t SET taken_at = coalesce(t.taken_at, r.taken),
    sent_at = coalesce(t.sent_at, r.sent), said_at = greatest(t.said_at, r.said),
    due_at = CASE WHEN r.over THEN now() + interval '2 seconds' ELSE t.due_at END
  FROM json_to_recordset($1) AS r(job uuid, taken timestamptz, sent timestamptz, said timestamptz, over boolean)
  WHERE t.job_id = r.job`;
/**
 * For jobs whose end no report has noted: the report was lost, or the job never had an agent. The minute leaves time for a report
 * that comes in good order.
 */
const SWEEP = `UPDATE platen.job_traces t SET due_at = now() FROM platen.jobs j
  WHERE j.id = t.job_id AND t.due_at IS NULL AND j.updated_at < now() - interval '1 minute' AND ${IS_OVER}`;

type Acceptance = TraceContext & { job: string; began: string; answered: string };
type Said = { job: string; taken: string; sent: string | null; said: string; over: boolean };

export class Traces {
  readonly #endpoint: string;
  readonly #headers: Headers;
  readonly #service: string;
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #ends = new AbortController();
  #accepted: Acceptance[] = [];
  #said = new Map<string, Said>();
  #noteTimer: NodeJS.Timeout | undefined;
  #noting: Promise<void> = Promise.resolve();
  #lookTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #looks = 0;
  #leftAloneUntil = 0;
  #failed: string | null = null;

  constructor(endpoint: string, { headers, service }: ServerConfig['traces'], pool: Pool, logger: Logger) {
    this.#endpoint = `${endpoint}/v1/traces`;
    this.#headers = headersOf(headers ?? '') ?? new Headers();
    this.#headers.set('content-type', 'application/json');
    this.#service = service;
    this.#pool = pool;
    this.#logger = logger;
    this.#lookTimer = setTimeout(() => this.#lookSoon(), INTERVAL);
  }

  health(): ServiceHealth {
    return { traces: { failed: this.#failed } };
  }

  /** What is noted is written; what is under way to the endpoint is broken off, and told later. */
  async stop(): Promise<void> {
    this.#ends.abort();
    clearTimeout(this.#lookTimer);
    clearTimeout(this.#noteTimer);
    await this.#looking;
    await this.#noting;
    await this.#write();
  }

  /**
   * A request has made a job.
   * @param traceparent its header
   * @param tookMs from its arrival until now
   */
  accepted(job: string, traceparent: unknown, tookMs: number): void {
    const place = placeOf(traceparent);
    if (place === undefined || this.#accepted.length >= MOST_NOTES) return;
    const now = Date.now();
    const [began, answered] = [now - tookMs, now].map((at) => new Date(at).toISOString());
    this.#accepted.push({ ...place, job, began: began ?? '', answered: answered ?? '' });
    this.#noteSoon();
  }

  /** @param report was news of a known job */
  reported({ jobId: job, at: agentsTime, labels, status }: JobReport): void {
    const known = this.#said.get(job);
    if (known === undefined && this.#said.size >= MOST_NOTES) return;
    const now = Date.now();
    const isDoubted = Math.abs(Date.parse(agentsTime) - now) > CLOCK_DOUBTED;
    const at = isDoubted ? new Date(now).toISOString() : agentsTime;
    this.#said.set(job, {
      job,
      taken: known?.taken ?? at,
      sent: known?.sent ?? (labels.sent > 0 ? at : null),
      said: at,
      over: !statesIn('under way').includes(status),
    });
    this.#noteSoon();
  }

  #noteSoon(): void {
    this.#noteTimer ??= setTimeout(() => {
      this.#noteTimer = undefined;
      this.#noting = this.#noting.then(() => this.#write());
    }, NOTED_WITHIN);
  }

  async #write(): Promise<void> {
    const [accepted, said] = [this.#accepted, [...this.#said.values()]];
    this.#accepted = [];
    this.#said = new Map();
    try {
      if (accepted.length > 0) await this.#pool.query(ACCEPTED, [JSON.stringify(accepted)]);
      if (said.length > 0) await this.#pool.query(REPORTED, [JSON.stringify(said)]);
    } catch (error) {
      this.#logger.warn({ err: error, jobs: accepted.length }, 'traces are lost: they cannot be noted');
    }
  }

  #lookSoon(): void {
    this.#looking = this.#look().then(() => {
      if (!this.#ends.signal.aborted) this.#lookTimer = setTimeout(() => this.#lookSoon(), INTERVAL);
    });
  }

  async #look(): Promise<void> {
    try {
      if (this.#looks++ % SWEEPS_EVERY === 0) await this.#pool.query(SWEEP);
      while (performance.now() >= this.#leftAloneUntil && !this.#ends.signal.aborted) {
        const due = await rowsOf(this.#pool, dueRow, TAKE);
        if (due.length === 0) return;
        await this.#tell(due);
      }
    } catch (error) {
      this.#logger.warn({ err: error }, 'traces wait: what is due cannot be read');
    }
  }

  async #tell(due: readonly z.output<typeof dueRow>[]): Promise<void> {
    const ids = due.map(({ jobId }) => jobId);
    const events = Map.groupBy(await rowsOf(this.#pool, eventRow, EVENTS, [ids]), ({ jobId }) => jobId);
    const jobs = due.map(({ takenAt, sentAt, saidAt, total, sent, printed, ...row }): TracedJob => {
      const agentTimes = takenAt === null || saidAt === null ? null : { takenAt, sentAt, saidAt };
      return { ...row, labels: { total, sent, printed }, agentTimes, events: events.get(row.jobId) ?? [] };
    });
    const why = await this.#send(JSON.stringify(tracesRequest(jobs, this.#service)));
    if (this.#ends.signal.aborted && why !== null) return;
    this.#failed = why?.reason ?? null;
    if (why !== null) {
      this.#leftAloneUntil = performance.now() + PAUSE;
      this.#logger.warn({ why: why.reason, jobs: ids.length }, 'the endpoint for traces has not taken them');
    }
    const done = due.filter(({ tries }) => why === null || !why.isLater || tries >= MOST_TRIES);
    await this.#pool.query('DELETE FROM platen.job_traces WHERE job_id = ANY($1)', [
      done.map(({ jobId }) => jobId),
    ]);
  }

  /** @returns null: taken */
  async #send(body: string): Promise<{ reason: string; isLater: boolean } | null> {
    try {
      const answer = await fetch(this.#endpoint, {
        method: 'POST',
        headers: this.#headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([this.#ends.signal, AbortSignal.timeout(DEADLINE)]),
      });
      await answer.body?.cancel();
      if (answer.ok) return null;
      return { reason: `it answered ${answer.status}`, isLater: LATER.has(answer.status) };
    } catch {
      return { reason: 'there was no answer', isLater: true };
    }
  }
}
