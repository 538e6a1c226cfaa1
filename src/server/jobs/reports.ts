/**
 * Applies what agents report. Reports may come late, twice or out of order: one is applied only if it is newer
 * than what is known. For a job that is by (delivery, number within the delivery), for an agent by its own clock.
 *
 * Two things do not go by their order. That a job was printed is the word of the agent that counted its labels:
 * another one, which got the job later and could only hold it, knows less. And a canceled job, of which the
 * queue was rid before, is not made to wait again by what an agent said of it earlier.
 *
 * What is reported of a round that is over, since a person decided about the job, is history.
 */
import type { AgentStateReport, JobReport, Report } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import { type Pool, sqlState, transaction } from '../store/pool.ts';

/** SQLSTATE class of values that the database can never hold: such a report is dropped, not tried for ever. */
const DATA_EXCEPTION = '22';
/** s without an accepted report, of 15 s apart, after which an agent's clock has been set back rather than its reports late. */
const CLOCK_DOUBTED = 30;

export class Reports {
  readonly #pool: Pool;
  readonly #logger: Logger;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  /** @throws when the database cannot be reached; the report must be delivered again */
  async apply(report: Report): Promise<void> {
    try {
      if (report.kind === 'agent') await this.#agent(report);
      else await this.#job(report);
    } catch (error) {
      if (!sqlState(error)?.startsWith(DATA_EXCEPTION)) throw error;
      this.#logger.error(
        { err: error, kind: report.kind, agentId: report.agentId },
        'a report cannot be stored',
      );
    }
  }

  async #agent(report: AgentStateReport): Promise<void> {
    await transaction(this.#pool, async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO platen.agents AS a (id, name, version, tenant_id, online, reported_at, seen_at)
         VALUES ($1, $2, $3, $4, $5, $6, now())
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version,
           tenant_id = excluded.tenant_id, online = excluded.online, reported_at = excluded.reported_at, seen_at = now()
         WHERE a.reported_at < excluded.reported_at
           OR a.seen_at < now() - make_interval(secs => ${CLOCK_DOUBTED})`,
        [report.agentId, report.name, report.version, report.tenantId, report.online, report.at],
      );
      if (rowCount === 0) return;
      const printers = [...new Map(report.printers.map((printer) => [printer.id, printer])).values()];
      await client.query(
        `INSERT INTO platen.agent_printers AS p (agent_id, printer_id, name, uri, model, state, reasons, formats)
         SELECT $1, r.id, r.name, r.uri, r.model, r.state,
           ARRAY(SELECT json_array_elements_text(r.reasons)), r.formats
         FROM json_to_recordset($2) AS r(id text, name text, uri text, model text, state text, reasons json, formats json)
         ON CONFLICT (agent_id, printer_id) DO UPDATE SET name = excluded.name, uri = excluded.uri,
           model = excluded.model, state = excluded.state, reasons = excluded.reasons, formats = excluded.formats,
           gone_at = NULL
         WHERE (p.name, p.uri, p.model, p.state, p.reasons, p.formats::text, p.gone_at) IS DISTINCT FROM
           (excluded.name, excluded.uri, excluded.model, excluded.state, excluded.reasons, excluded.formats::text, NULL)`,
        [report.agentId, JSON.stringify(printers)],
      );
      await client.query(
        `UPDATE platen.agent_printers SET gone_at = now()
         WHERE agent_id = $1 AND gone_at IS NULL AND NOT printer_id = ANY($2)`,
        [report.agentId, printers.map((printer) => printer.id)],
      );
    });
  }

  async #job(report: JobReport): Promise<void> {
    const { rowCount } = await this.#pool.query(
      // What the printer has counted stays so: an agent that cannot read a job, or does not know what another one did
      // of it, says less. A printed job needs no payload any more, and the payload is personal.
      `UPDATE platen.jobs SET sent = greatest($5, printed), printed = greatest($6, printed), reasons = $7, error = $8,
         uncertain_from = CASE WHEN $9::integer IS NULL THEN NULL ELSE greatest($9, printed) END,
         uncertain_to = least($10::integer, records * copies), agent_id = $11, delivery = $2, report_seq = $3, updated_at = now(),
         status = CASE WHEN status = 'canceled' AND $4 IN ('queued', 'printing') THEN status ELSE $4 END,
         payload = CASE WHEN $4 = 'printed' THEN NULL ELSE payload END,
         dispatched_at = coalesce(dispatched_at, now())
       WHERE id = $1 AND printer_id = $12 AND round = $13 AND status <> 'printed'
         AND ((delivery, report_seq) < ($2, $3) OR (status = 'held' AND $4 = 'printed'))`,
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
      ],
    );
    const ids = { jobId: report.jobId, printerId: report.printerId, agentId: report.agentId };
    if (rowCount === 0) this.#logger.debug(ids, 'report of an unknown job, or an old one: left out');
    else if (report.status !== 'printing')
      this.#logger.info({ ...ids, status: report.status }, 'job reported');
  }
}
