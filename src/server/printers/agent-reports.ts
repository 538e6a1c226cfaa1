/**
 * Stores what agents say of themselves and of their printers. A report counts if it is newer than what is known, by the
 * agent's clock.
 *
 * A time later than the database's counts as now, and an agent's ID stays with its tenant while the agent reports: nobody can
 * silence an agent by a false time or by its ID.
 */
import { z } from 'zod';
import type { AgentStateReport } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import type { ReceivedReport } from '../../queue/index.ts';
import { type Queryable, rowsOf } from '../store/pool.ts';
import { storable } from '../store/storable.ts';
import { HEARTBEAT_LOST } from './printers.ts';

/** How many printers of an agent are kept: first those that it has now, then those that it had most recently. */
const MOST_PRINTERS = 10_000;
/** s without a newer report (they come every 15 s) after which an agent's clock must have been set back. */
const CLOCK_DOUBTED = 30;

const ofAgent = z.object({ agent: z.string() });

export type OfAgent = ReceivedReport & { report: AgentStateReport };

/**
 * A change of a printer locks the printer's scope until the commit (`platen.note_printer_event`), so scopes are written in one
 * order.
 * @param batch of different agents; one of a stretch of printers is the only one
 */
export async function storeAgents(
  client: Queryable,
  logger: Logger,
  batch: readonly OfAgent[],
): Promise<void> {
  const { after, upTo } = batch[0]?.report.stretch ?? {};
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
  await notTaken(
    client,
    logger,
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

async function notTaken(
  client: Queryable,
  logger: Logger,
  reports: readonly AgentStateReport[],
): Promise<void> {
  if (reports.length === 0) return;
  const others = await rowsOf(
    client,
    ofAgent.extend({ tenant: z.string().nullable() }),
    `SELECT a.id AS agent, r.tenant FROM unnest($1::text[], $2::text[]) AS r(agent, tenant)
     JOIN platen.agents a ON a.id = r.agent AND a.tenant_id IS DISTINCT FROM r.tenant`,
    [reports.map(({ agentId }) => agentId), reports.map(({ tenantId }) => tenantId)],
  );
  for (const { agent, tenant } of others)
    logger.warn({ agentId: agent, tenant }, "report under the ID of another tenant's agent: left out");
}

/** The report in the form that `storeAgents` reads. */
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
