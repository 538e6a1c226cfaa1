/**
 * Applies what agents report. Reports may come late, twice or out of order: one is applied only if it is newer than what
 * is known. A job's reports are ordered by (delivery, number within the delivery), an agent's by its clock.
 *
 * Which state a report may change, and when an older one counts: `contract/job-life.ts`. A report of an earlier round,
 * from before a person had the job go on, changes nothing.
 *
 * An agent may report on its own printers and on jobs in their lanes only. A time later than the database's
 * counts as now, and an agent's ID stays with its tenant while the agent reports: nobody can silence an agent
 * by a false time or by its ID.
 */
import { z } from 'zod';
import { statesBefore, statesChangedBy } from '../../../contract/job-life.ts';
import type { AgentStateReport, JobReport, Report } from '../../../contract/report.ts';
import type { Logger } from '../../../log.ts';
import type { Reported } from '../../../queue/index.ts';
import { HEARTBEAT_LOST } from '../../printers/printers.ts';
import { onlyRow, type Pool, type Queryable, sqlState, transaction } from '../../store/pool.ts';

/** SQLSTATE class of values that the database can never hold: such a report is dropped, not tried for ever. */
const DATA_EXCEPTION = '22';
/** How many printers of an agent are kept: those that it has, and then those that it had last. */
const MOST_PRINTERS = 10_000;
/** s without a newer report (they come every 15 s) after which an agent's clock must have been set back. */
const CLOCK_DOUBTED = 30;

/** What became of a job's report: whether the agent has the job's printer, and whether it was news of a known job. */
const applied = z.object({ has: z.boolean().nullable(), applied: z.boolean() });
const answered = z.object({ applied: z.array(applied) });

/** The JSON escapes of what PostgreSQL takes in no text: NUL, and half of a surrogate pair. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** JSON without these characters, so that no report is lost because of one character of a device's name. */
function storable(value: unknown): string {
  const json = JSON.stringify(value);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? inner.toWellFormed().replaceAll('\0', '\ufffd') : inner,
  );
}

type OfJob = Reported & { report: JobReport };

export class Reports {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #applied: (report: Report, isNews: boolean) => void;
  readonly #commit: 'on' | 'off';

  /**
   * @param applied called with each report that was taken; `isNews`: and that was newer than what was known
   * @param again reports stay in this database until they are applied. A crash that loses a commit brings back the
   *   reports that it had applied, so no commit has to wait for the disk
   */
  constructor(
    pool: Pool,
    logger: Logger,
    applied: (report: Report, isNews: boolean) => void = () => {},
    again = false,
  ) {
    this.#pool = pool;
    this.#commit = again ? 'off' : 'on';
    this.#logger = logger;
    this.#applied = applied;
  }

  /**
   * Applies reports in their order. One that cannot be stored is left out, and holds up no other.
   * @returns those that came too early: the agent does not have the job's printer, or has not reported it yet
   *   (another instance may have that report in hand)
   * @throws when the database cannot be reached; all must be delivered again
   */
  async apply(batch: readonly Reported[]): Promise<Reported[]> {
    const early: Reported[] = [];
    let jobs: OfJob[] = [];
    for (const reported of batch) {
      const { report, ageMs } = reported;
      if (report.kind === 'job') jobs.push({ report, ageMs });
      else {
        // Reports of jobs before this one are about the printers that the agent had until then.
        early.push(...(await this.#jobs(jobs)));
        jobs = [];
        await this.#agent(report, ageMs).then(
          () => this.#applied(report, true),
          (error: unknown) => this.#notStored(report, error),
        );
      }
    }
    early.push(...(await this.#jobs(jobs)));
    return early;
  }

  /** @throws the error, unless it is the report's own fault */
  #notStored({ kind, agentId }: Report, error: unknown): void {
    if (!sqlState(error)?.startsWith(DATA_EXCEPTION)) throw error;
    this.#logger.error({ err: error, kind, agentId }, 'a report cannot be stored');
  }

  async #agent(report: AgentStateReport, ageMs: number): Promise<void> {
    const { after, upTo } = report.stretch ?? {};
    await transaction(this.#pool, async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO platen.agents AS a (id, name, version, tenant_id, online, reported_at, seen_at, unreached,
           went_back, counts)
         VALUES ($1, $2, $3, $4, $5, least($6, now()), now() - make_interval(secs => $7), $8, $10, $11)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version,
           tenant_id = excluded.tenant_id, online = excluded.online, reported_at = excluded.reported_at, seen_at = excluded.seen_at,
           went_back = excluded.went_back,
           unreached = CASE WHEN $9 THEN excluded.unreached ELSE a.unreached END,
           counts = CASE WHEN $9 THEN excluded.counts ELSE a.counts END
         WHERE (a.reported_at <= excluded.reported_at
             OR a.seen_at < now() - make_interval(secs => ${CLOCK_DOUBTED}))
           AND (a.tenant_id IS NOT DISTINCT FROM excluded.tenant_id OR NOT a.online
             OR a.seen_at < now() - make_interval(secs => ${HEARTBEAT_LOST}))`,
        [
          report.agentId,
          report.name.replaceAll('\0', '\ufffd'),
          report.version.replaceAll('\0', '\ufffd'),
          report.tenantId,
          report.online,
          report.at,
          ageMs / 1_000,
          storable(report.unreached ?? []),
          after === undefined,
          report.wentBack === undefined ? null : storable(report.wentBack),
          report.counts === undefined ? null : storable(report.counts),
        ],
      );
      if (rowCount === 0) return await this.#notTaken(client, report);
      const printers = [...new Map(report.printers.map((printer) => [printer.id, printer])).values()];
      const changed = await client.query(
        `INSERT INTO platen.agent_printers AS p (agent_id, printer_id, name, uri, model, state, reasons, supplies, formats,
           confirmed_by)
         SELECT $1, r.id, r.name, r.uri, r.model, r.state,
           ARRAY(SELECT json_array_elements_text(r.reasons)), coalesce(r.supplies, '[]'), r.formats, r."confirmedBy"
         FROM json_to_recordset($2) AS r(id text, name text, uri text, model text, state text, reasons json, supplies json, formats json,
           "confirmedBy" text)
         ON CONFLICT (agent_id, printer_id) DO UPDATE SET name = excluded.name, uri = excluded.uri,
           model = excluded.model, state = excluded.state, reasons = excluded.reasons, supplies = excluded.supplies,
           formats = excluded.formats, confirmed_by = coalesce(excluded.confirmed_by, p.confirmed_by), gone_at = NULL
         WHERE (p.name, p.uri, p.model, p.state, p.reasons, p.supplies::text, p.formats::text, p.confirmed_by, p.gone_at) IS DISTINCT FROM
           (excluded.name, excluded.uri, excluded.model, excluded.state, excluded.reasons, excluded.supplies::text, excluded.formats::text,
            coalesce(excluded.confirmed_by, p.confirmed_by), NULL)`,
        [report.agentId, storable(printers)],
      );
      const gone = await client.query(
        `UPDATE platen.agent_printers SET gone_at = now()
         WHERE agent_id = $1 AND gone_at IS NULL AND NOT printer_id = ANY($2)
           AND ($3::text IS NULL OR printer_id > $3 COLLATE "C") AND ($4::text IS NULL OR printer_id <= $4 COLLATE "C")`,
        [report.agentId, printers.map((printer) => printer.id), after, upTo],
      );
      // An agent may name other printers in each report, and other stretches, so the number of all is bounded.
      if ((changed.rowCount ?? 0) + (gone.rowCount ?? 0) > 0)
        await client.query(
          `DELETE FROM platen.agent_printers WHERE agent_id = $1 AND printer_id IN (
             SELECT printer_id FROM platen.agent_printers WHERE agent_id = $1
             ORDER BY gone_at DESC NULLS FIRST, printer_id OFFSET ${MOST_PRINTERS})`,
          [report.agentId],
        );
    });
  }

  async #notTaken(client: Queryable, { agentId, tenantId }: AgentStateReport): Promise<void> {
    const { rowCount } = await client.query(
      'SELECT FROM platen.agents WHERE id = $1 AND tenant_id IS DISTINCT FROM $2',
      [agentId, tenantId],
    );
    if (rowCount === 0) return;
    this.#logger.warn(
      { agentId, tenant: tenantId },
      "report under the ID of another tenant's agent: left out",
    );
  }

  /** Applies reports of jobs in one statement. Returns those that came too early. */
  async #jobs(batch: readonly OfJob[]): Promise<Reported[]> {
    const [first, ...more] = batch;
    if (first === undefined) return [];
    try {
      const found = await onlyRow(
        this.#pool,
        answered,
        `SELECT set_config('synchronous_commit', $3, true), platen.apply_job_reports($1, $2) AS applied`,
        [
          storable(batch.map(({ report }, index) => rowOf(index, report))),
          statesChangedBy('agent'),
          this.#commit,
        ],
      );
      return batch.filter(({ report }, index) => !this.#isDone(report, found.applied[index]));
    } catch (error) {
      if (more.length === 0) {
        this.#notStored(first.report, error);
        return [];
      }
      if (!sqlState(error)?.startsWith(DATA_EXCEPTION)) throw error;
    }
    // One report cannot be stored, and nothing of the statement remains: each is applied by itself.
    const early: Reported[] = [];
    for (const one of batch) early.push(...(await this.#jobs([one])));
    return early;
  }

  #isDone(report: JobReport, result: z.infer<typeof applied> | undefined): boolean {
    if (result?.has === false) return false;
    this.#applied(report, result?.applied === true);
    const ids = { jobId: report.jobId, printerId: report.printerId, agentId: report.agentId };
    if (result?.applied !== true)
      this.#logger.debug(ids, 'report of an unknown job, or an old one: left out');
    else if (report.status !== 'printing')
      this.#logger.info({ ...ids, status: report.status }, 'job reported');
    return true;
  }
}

/** The report in the form that `platen.apply_job_reports` reads. */
function rowOf(n: number, report: JobReport): object {
  return {
    n,
    job: report.jobId,
    agent: report.agentId,
    printer: report.printerId,
    round: report.round ?? 0,
    delivery: report.delivery,
    seq: report.seq,
    status: report.status,
    before: statesBefore(report.status, 'agent'),
    late: statesBefore(report.status, 'late agent'),
    ...report.labels,
    reasons: report.reasons,
    error: report.error ?? null,
    from: report.uncertain?.from ?? null,
    to: report.uncertain?.to ?? null,
  };
}
