/**
 * Applies what agents report. Reports may come late, twice or out of order. A report is applied only if it is newer than what
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
import type { ReceivedReport } from '../../../queue/index.ts';
import { HEARTBEAT_LOST } from '../../printers/printers.ts';
import { onlyRow, type Pool, type Queryable, rowsOf, sqlState, transaction } from '../../store/pool.ts';

/** SQLSTATE class of values that the database can never hold: such a report is dropped, not tried for ever. */
const DATA_EXCEPTION = '22';
const DEADLOCK = '40P01';
/** How many printers of an agent are kept: first those that it has now, then those that it had most recently. */
const MOST_PRINTERS = 10_000;
/** How many printers the states that are applied together may name, unless one alone names more. */
const MOST_NAMED = 5_000;
/** s without a newer report (they come every 15 s) after which an agent's clock must have been set back. */
const CLOCK_DOUBTED = 30;

/** What became of a job's report: whether the agent has the job's printer, and whether it was news of a known job. */
const applied = z.object({ has: z.boolean().nullable(), applied: z.boolean() });
const answered = z.object({ applied: z.array(applied) });
const ofAgent = z.object({ agent: z.string() });

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

type OfJob = ReceivedReport & { report: JobReport };
type OfAgent = ReceivedReport & { report: AgentStateReport };

export class Reports {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #applied: (report: Report, isNews: boolean) => void;
  readonly #commit: 'on' | 'off';

  /**
   * @param applied called with each report that was taken; `isNews`: the report was newer than what was known
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
  async apply(batch: readonly ReceivedReport[]): Promise<ReceivedReport[]> {
    const early: ReceivedReport[] = [];
    let jobs: OfJob[] = [];
    let states = new Map<string, OfAgent>();
    let named = 0;
    const applyStates = async () => {
      await this.#agents([...states.values()]);
      states = new Map();
      named = 0;
    };
    for (const { report, ageMs } of batch) {
      if (report.kind === 'job') {
        await applyStates();
        jobs.push({ report, ageMs });
        continue;
      }
      // The reports of jobs before this one are about the printers that the agent had then, so they are applied first.
      early.push(...(await this.#jobs(jobs)));
      jobs = [];
      // A statement can change an agent once only, and says of which stretch of its printers it knows all.
      const alone = report.stretch !== undefined;
      const names = report.printers.length + (report.unreached?.length ?? 0);
      if (alone || states.has(report.agentId) || named + names > MOST_NAMED) await applyStates();
      states.set(report.agentId, { report, ageMs });
      named += names;
      if (alone) await applyStates();
    }
    await applyStates();
    early.push(...(await this.#jobs(jobs)));
    return early;
  }

  /** @throws the error, unless it is the report's own fault */
  #notStored({ kind, agentId }: Report, error: unknown): void {
    if (!sqlState(error)?.startsWith(DATA_EXCEPTION)) throw error;
    this.#logger.error({ err: error, kind, agentId }, 'a report cannot be stored');
  }

  /** Applies the states of different agents in one commit; one of a stretch of printers is the only one. */
  async #agents(batch: readonly OfAgent[]): Promise<void> {
    const [first, ...more] = batch;
    if (first === undefined) return;
    try {
      await transaction(
        this.#pool,
        (client) => this.#states(client, batch, first.report.stretch ?? {}),
        `BEGIN; SET LOCAL synchronous_commit = ${this.#commit}`,
      );
      for (const { report } of batch) this.#applied(report, true);
    } catch (error) {
      if (more.length === 0) this.#notStored(first.report, error);
      else if (!sqlState(error)?.startsWith(DATA_EXCEPTION) && sqlState(error) !== DEADLOCK) throw error;
      // One state cannot be stored, or waits for those of another instance that wait for others here. Nothing of the statements
      // remains: each is applied by itself.
      else for (const one of batch) await this.#agents([one]);
    }
  }

  /** A change of a printer locks the printer's scope until the commit (`platen.note_printer_event`), so scopes are written in one order. */
  async #states(
    client: Queryable,
    batch: readonly OfAgent[],
    { after, upTo }: NonNullable<AgentStateReport['stretch']>,
  ): Promise<void> {
    const taken = await rowsOf(
      client,
      ofAgent,
      `INSERT INTO platen.agents AS a (id, name, version, tenant_id, online, reported_at, seen_at, unreached,
         went_back, counts)
       SELECT r.agent, r.name, r.version, r.tenant, r.online, least(r.at, now()), now() - make_interval(secs => r.age),
         r.unreached, r."wentBack", r.counts
       FROM json_to_recordset($1) AS r(agent text, name text, version text, tenant text, online boolean, at timestamptz,
         age float8, unreached json, "wentBack" json, counts json)
       ORDER BY r.agent
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version,
         tenant_id = excluded.tenant_id, online = excluded.online, reported_at = excluded.reported_at, seen_at = excluded.seen_at,
         went_back = excluded.went_back,
         unreached = CASE WHEN $2 THEN excluded.unreached ELSE a.unreached END,
         counts = CASE WHEN $2 THEN excluded.counts ELSE a.counts END
       WHERE (a.reported_at <= excluded.reported_at
           OR a.seen_at < now() - make_interval(secs => ${CLOCK_DOUBTED}))
         AND (a.tenant_id IS NOT DISTINCT FROM excluded.tenant_id OR NOT a.online
           OR a.seen_at < now() - make_interval(secs => ${HEARTBEAT_LOST}))
       RETURNING a.id AS agent`,
      [storable(batch.map(stateRow)), after === undefined],
    );
    const ids = new Set(taken.map(({ agent }) => agent));
    const of = batch.map(({ report }) => report);
    await this.#notTaken(
      client,
      of.filter(({ agentId }) => !ids.has(agentId)),
    );
    const printers = of.filter(({ agentId }) => ids.has(agentId)).flatMap(printersOf);
    const changed = await rowsOf(
      client,
      ofAgent,
      `INSERT INTO platen.agent_printers AS p (agent_id, printer_id, name, uri, model, state, reasons, supplies, formats,
         confirmed_by)
       SELECT r.agent, r.id, r.name, r.uri, r.model, r.state,
         ARRAY(SELECT json_array_elements_text(r.reasons)), coalesce(r.supplies, '[]'), r.formats, r."confirmedBy"
       FROM json_to_recordset($1) AS r(tenant text, agent text, id text, name text, uri text, model text, state text, reasons json, supplies json,
         formats json, "confirmedBy" text)
       ORDER BY r.tenant, r.agent
       ON CONFLICT (agent_id, printer_id) DO UPDATE SET name = excluded.name, uri = excluded.uri,
         model = excluded.model, state = excluded.state, reasons = excluded.reasons, supplies = excluded.supplies,
         formats = excluded.formats, confirmed_by = coalesce(excluded.confirmed_by, p.confirmed_by), gone_at = NULL
       WHERE (p.name, p.uri, p.model, p.state, p.reasons, p.supplies::text, p.formats::text, p.confirmed_by, p.gone_at) IS DISTINCT FROM
         (excluded.name, excluded.uri, excluded.model, excluded.state, excluded.reasons, excluded.supplies::text, excluded.formats::text,
          coalesce(excluded.confirmed_by, p.confirmed_by), NULL)
       RETURNING p.agent_id AS agent`,
      [storable(printers)],
    );
    const gone = await rowsOf(
      client,
      ofAgent,
      `UPDATE platen.agent_printers SET gone_at = now()
       WHERE agent_id = ANY($1) AND gone_at IS NULL
         AND (agent_id, printer_id) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
         AND ($4::text IS NULL OR printer_id > $4 COLLATE "C") AND ($5::text IS NULL OR printer_id <= $5 COLLATE "C")
       RETURNING agent_id AS agent`,
      [[...ids], printers.map(({ agent }) => agent), printers.map(({ id }) => id), after, upTo],
    );
    // An agent may name other printers in each report, and other stretches, so the number of all is bounded.
    for (const agent of new Set([...changed, ...gone].map((row) => row.agent)))
      await client.query(
        `DELETE FROM platen.agent_printers WHERE agent_id = $1 AND printer_id IN (
           SELECT printer_id FROM platen.agent_printers WHERE agent_id = $1
           ORDER BY gone_at DESC NULLS FIRST, printer_id OFFSET ${MOST_PRINTERS})`,
        [agent],
      );
  }

  async #notTaken(client: Queryable, reports: readonly AgentStateReport[]): Promise<void> {
    if (reports.length === 0) return;
    const others = await rowsOf(
      client,
      ofAgent.extend({ tenant: z.string().nullable() }),
      `SELECT a.id AS agent, r.tenant FROM unnest($1::text[], $2::text[]) AS r(agent, tenant)
       JOIN platen.agents a ON a.id = r.agent AND a.tenant_id IS DISTINCT FROM r.tenant`,
      [reports.map(({ agentId }) => agentId), reports.map(({ tenantId }) => tenantId)],
    );
    for (const { agent, tenant } of others)
      this.#logger.warn(
        { agentId: agent, tenant },
        "report under the ID of another tenant's agent: left out",
      );
  }

  /** Applies reports of jobs in one statement. Returns those that came too early. */
  async #jobs(batch: readonly OfJob[]): Promise<ReceivedReport[]> {
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
    // One report cannot be stored, and the whole statement was undone. So each report is applied by itself.
    const early: ReceivedReport[] = [];
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

/** The report in the form that `#states` reads. */
function stateRow({ report, ageMs }: OfAgent): object {
  const { agentId, name, version, tenantId, online, at, unreached = [], wentBack, counts } = report;
  return {
    agent: agentId,
    name,
    version,
    tenant: tenantId,
    online,
    at,
    age: ageMs / 1_000,
    unreached,
    wentBack,
    counts,
  };
}

/** One that an agent names twice counts as it is named last. */
function printersOf({ tenantId, agentId, printers }: AgentStateReport) {
  const own = new Map(printers.map((printer) => [printer.id, printer]));
  return [...own.values()].map((printer) => ({ tenant: tenantId, agent: agentId, ...printer }));
}
