/**
 * Applies what agents report. Reports may come late, twice or out of order: one is applied only if it is newer than what
 * is known. A job's reports are ordered by (delivery, number within the delivery), an agent's by its clock.
 *
 * Which state a report may change, and when an older one counts: `contract/job-life.ts`. A report of an earlier round,
 * from before a person had the job go on, changes nothing.
 *
 * An agent may report on its own printers and on jobs in their lanes only. A time later than the database's counts as
 * now, and its ID stays with its tenant while it reports: nobody can silence an agent by a false time or by its ID.
 */
import { z } from 'zod';
import { statesBefore, statesChangedBy } from '../../../contract/job-life.ts';
import type { AgentStateReport, JobReport, Report } from '../../../contract/report.ts';
import type { Logger } from '../../../log.ts';
import { HEARTBEAT_LOST } from '../../printers/printers.ts';
import { inSql, type Pool, type Queryable, rowOf, sqlState, transaction } from '../../store/pool.ts';

/**
 * `early`: the agent has not reported the job's printer yet, or does not have it. Another instance may have that report
 * in hand.
 */
export type Applied = 'done' | 'early';

/** SQLSTATE class of values that the database can never hold: such a report is dropped, not tried for ever. */
const DATA_EXCEPTION = '22';
/** s without a newer report (they come every 15 s) after which an agent's clock must have been set back. */
const CLOCK_DOUBTED = 30;

/** SQL, for a row of `platen.jobs`: the agent has, or had, its printer in the scope of its lane. */
const hasPrinter = (agent: string) => `EXISTS (
  SELECT FROM platen.agents a JOIN platen.agent_printers p ON p.agent_id = a.id
  WHERE a.id = ${agent} AND p.printer_id = jobs.printer_id AND a.tenant_id IS NOT DISTINCT FROM jobs.scope)`;

export class Reports {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #applied: (report: Report) => void;

  /** @param applied told of each report that was, maybe without a change */
  constructor(pool: Pool, logger: Logger, applied: (report: Report) => void = () => {}) {
    this.#pool = pool;
    this.#logger = logger;
    this.#applied = applied;
  }

  /** @throws when the database cannot be reached; the report must be delivered again */
  async apply(report: Report, ageMs = 0): Promise<Applied> {
    try {
      if (report.kind === 'job' && (await this.#job(report)) === 'early') return 'early';
      if (report.kind === 'agent') await this.#agent(report, ageMs);
      this.#applied(report);
    } catch (error) {
      if (!sqlState(error)?.startsWith(DATA_EXCEPTION)) throw error;
      this.#logger.error(
        { err: error, kind: report.kind, agentId: report.agentId },
        'a report cannot be stored',
      );
    }
    return 'done';
  }

  async #agent(report: AgentStateReport, ageMs: number): Promise<void> {
    await transaction(this.#pool, async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO platen.agents AS a (id, name, version, tenant_id, online, reported_at, seen_at, unreached)
         VALUES ($1, $2, $3, $4, $5, least($6, now()), now() - make_interval(secs => $7), $8)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version,
           tenant_id = excluded.tenant_id, online = excluded.online, reported_at = excluded.reported_at, seen_at = excluded.seen_at,
           unreached = excluded.unreached
         WHERE (a.reported_at < excluded.reported_at
             OR a.seen_at < now() - make_interval(secs => ${CLOCK_DOUBTED}))
           AND (a.tenant_id IS NOT DISTINCT FROM excluded.tenant_id OR NOT a.online
             OR a.seen_at < now() - make_interval(secs => ${HEARTBEAT_LOST}))`,
        [
          report.agentId,
          report.name,
          report.version,
          report.tenantId,
          report.online,
          report.at,
          ageMs / 1_000,
          JSON.stringify(report.unreached ?? []),
        ],
      );
      if (rowCount === 0) return await this.#notTaken(client, report);
      const printers = [...new Map(report.printers.map((printer) => [printer.id, printer])).values()];
      await client.query(
        `INSERT INTO platen.agent_printers AS p (agent_id, printer_id, name, uri, model, state, reasons, formats,
           confirmed_by)
         SELECT $1, r.id, r.name, r.uri, r.model, r.state,
           ARRAY(SELECT json_array_elements_text(r.reasons)), r.formats, r."confirmedBy"
         FROM json_to_recordset($2) AS r(id text, name text, uri text, model text, state text, reasons json, formats json,
           "confirmedBy" text)
         ON CONFLICT (agent_id, printer_id) DO UPDATE SET name = excluded.name, uri = excluded.uri,
           model = excluded.model, state = excluded.state, reasons = excluded.reasons, formats = excluded.formats,
           confirmed_by = coalesce(excluded.confirmed_by, p.confirmed_by), gone_at = NULL
         WHERE (p.name, p.uri, p.model, p.state, p.reasons, p.formats::text, p.confirmed_by, p.gone_at) IS DISTINCT FROM
           (excluded.name, excluded.uri, excluded.model, excluded.state, excluded.reasons, excluded.formats::text,
            coalesce(excluded.confirmed_by, p.confirmed_by), NULL)`,
        [report.agentId, JSON.stringify(printers)],
      );
      await client.query(
        `UPDATE platen.agent_printers SET gone_at = now()
         WHERE agent_id = $1 AND gone_at IS NULL AND NOT printer_id = ANY($2)`,
        [report.agentId, printers.map((printer) => printer.id)],
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

  async #job(report: JobReport): Promise<Applied> {
    const target = await rowOf(
      this.#pool,
      z.object({ has: z.boolean(), applied: z.boolean() }),
      // What the printer has counted stays so: an agent that cannot read a job, or does not know what another one did
      // of it, says less. Whether the agent has the printer is asked in the same statement: a moment later it may.
      `WITH target AS (
         SELECT round <> $13 OR (printer_id = $12 AND ${hasPrinter('$11')}) AS has FROM platen.jobs WHERE id = $1
       ), applied AS (
       UPDATE platen.jobs SET sent = greatest($5, printed), printed = greatest($6, printed), reasons = $7, error = $8,
         uncertain_from = CASE WHEN $9::integer IS NULL THEN NULL ELSE greatest($9, printed) END,
         uncertain_to = least($10::integer, records * copies), agent_id = $11, delivery = $2, report_seq = $3, updated_at = now(),
         status = CASE WHEN status = ANY($14) THEN $4 ELSE status END,
         dispatched_at = coalesce(dispatched_at, now())
       WHERE id = $1 AND (SELECT has FROM target) AND round = $13 AND status IN (${inSql(statesChangedBy('agent'))})
         AND ((delivery, report_seq) < ($2, $3) OR status = ANY($15))
       RETURNING id)
       SELECT has, EXISTS (SELECT FROM applied) AS applied FROM target`,
      [
        report.jobId,
        report.delivery,
        report.seq,
        report.status,
        report.labels.sent,
        report.labels.printed,
        report.reasons,
        report.error === undefined ? null : JSON.stringify(report.error),
        report.uncertain?.from ?? null,
        report.uncertain?.to ?? null,
        report.agentId,
        report.printerId,
        report.round ?? 0,
        statesBefore(report.status, 'agent'),
        statesBefore(report.status, 'late agent'),
      ],
    );
    const ids = { jobId: report.jobId, printerId: report.printerId, agentId: report.agentId };
    if (target?.has === false) return 'early';
    if (target?.applied !== true)
      this.#logger.debug(ids, 'report of an unknown job, or an old one: left out');
    else if (report.status !== 'printing')
      this.#logger.info({ ...ids, status: report.status }, 'job reported');
    return 'done';
  }
}
