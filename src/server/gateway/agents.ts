/** Agents: what they report of themselves, and what is known of those at other sites, which have enrolled. */
import { z } from 'zod';
import type { AgentView } from '../../contract/agent-view.ts';
import { type Scope, scope } from '../../contract/lane.ts';
import { unreachedPrinter } from '../../contract/printer.ts';
import { because } from '../../contract/reason.ts';
import { UNDECIDED } from '../jobs/shown/job-list.ts';
import { HEARTBEAT_LOST, LONG_AWAY } from '../printers/printers.ts';
import { refusedBecause } from '../problems.ts';
import { type Queryable, rowOf, rowsOf } from '../store/pool.ts';
import { agentNotFound, GONE_SECONDS } from './enrolments.ts';

const row = z.object({
  id: z.string(),
  tenant_id: z.string().nullable(),
  name: z.string(),
  version: z.string().nullable(),
  online: z.boolean(),
  seen_at: z.date().nullable(),
  printers: z.int(),
  unreached: z.array(unreachedPrinter),
  wentBackFrom: z.string().nullable(),
  enrolled_at: z.date().nullable(),
  invitation: z.string().nullable(),
  revoked_at: z.date().nullable(),
  moves: z.boolean().nullable(),
  connected_since: z.date().nullable(),
  refused: z.string().nullable(),
  refused_at: z.date().nullable(),
  ahead_at: z.date().nullable(),
  newer: z.boolean().nullable(),
});
const notServedRow = z.object({
  agent_id: z.string(),
  printer_id: z.string(),
  name: z.string(),
  state: z.enum(['waiting', 'refused']),
  since: z.date(),
});
/** Days for which people are told that the database was restored to a time before the agent's state. */
const AHEAD_DAYS = 7;
/** Most agents, and most printers that they do not serve. */
const MOST_LISTED = 5_000;

/**
 * Agents that are online come first, revoked agents last.
 * @param tenantId only agents whose printers this tenant may use, and of a shared one no more than it reports; undefined: all
 */
export async function listAgents(db: Queryable, tenantId: string | undefined): Promise<AgentView[]> {
  const of = [tenantId ?? null];
  const rows = await rowsOf(
    db,
    row,
    `SELECT * FROM (
       SELECT coalesce(e.id, a.id) AS id, CASE WHEN e.id IS NULL THEN a.tenant_id ELSE e.tenant_id END AS tenant_id,
         coalesce(e.name, a.name) AS name, a.version, a.seen_at, coalesce(a.unreached, '[]') AS unreached,
         a.went_back->>'version' AS "wentBackFrom",
         coalesce(a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST}), false) AS online,
         (SELECT count(*)::int FROM platen.agent_printers p
          LEFT JOIN platen.lane_settings s ON s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id
          WHERE p.agent_id = a.id AND p.gone_at IS NULL AND platen.may_use($1, a.tenant_id, s.granted_to)) AS printers,
         e.enrolled_at, e.invitation, e.moves, e.revoked_at, e.refused, e.refused_at,
         e.joined_at IS NULL AND e.refused = 'stale' AND e.revoked_at IS NULL AND NOT e.let_in AS newer,
         CASE WHEN e.ahead_at > now() - make_interval(days => ${AHEAD_DAYS})
           OR (e.joined_at IS NULL AND e.refused = 'stale') THEN coalesce(e.ahead_at, e.refused_at) END AS ahead_at,
         a.id IS NULL AND coalesce(e.forgotten_at >= e.revoked_at, false) AS forgotten,
         CASE WHEN e.session IS NOT NULL AND e.heard_at > now() - make_interval(secs => ${GONE_SECONDS})
           THEN e.joined_at END AS connected_since
       FROM platen.agents a FULL JOIN platen.enrolled_agents e ON e.id = a.id) AS known
     WHERE platen.may_see_agent($1, id, tenant_id) AND NOT forgotten
     ORDER BY revoked_at IS NOT NULL, online DESC, name, id LIMIT ${MOST_LISTED}`,
    of,
  );
  const notServed = await rowsOf(
    db,
    notServedRow,
    `SELECT b.agent_id, b.printer_id, b.name, b.state, b.since
     FROM platen.brought_printers b JOIN platen.enrolled_agents e ON e.id = b.agent_id
     WHERE b.state <> 'approved' AND ($1::text IS NULL OR e.tenant_id = $1)
     ORDER BY b.state DESC, b.name, b.printer_id LIMIT ${MOST_LISTED}`,
    of,
  );
  const byAgent = Map.groupBy(notServed, ({ agent_id }) => agent_id);
  return rows.map(
    ({
      id,
      tenant_id: tenant,
      name,
      version,
      online,
      seen_at,
      printers,
      unreached,
      wentBackFrom,
      ...rest
    }) => ({
      ...{
        id,
        tenant,
        name,
        version,
        online,
        seenAt: seen_at?.toISOString() ?? null,
        printers,
        unreached,
        wentBackFrom,
      },
      enrolled: enrolmentOf(rest, tenantId === undefined || tenant === tenantId, byAgent.get(id) ?? []),
    }),
  );
}

const forgottenRow = z.object({ tenant_id: scope, enrolled: z.boolean(), may: z.boolean(), jobs: z.int() });

/**
 * Takes an agent that comes no more off the list, with what it has reported: a revoked one, or one that never enrolled and has been
 * away for a day. Where a report of it comes after all, it is listed again. What keeps a revoked one out stays. One whose jobs are
 * undecided stays too: should it come again, it may say which labels are out, and only of an agent that is known is that believed.
 * @param within the only tenant of which the caller may name an agent
 * @returns whose it was
 * @throws ProblemError `agent-not-found`, `agent-in-use`
 */
export async function forgetAgent(db: Queryable, id: string, within: string | undefined): Promise<Scope> {
  await db.query('SELECT FROM platen.enrolled_agents WHERE id = $1 FOR UPDATE', [id]);
  // A report of the agent's waits meanwhile, and then is of an agent that nobody knows yet.
  await db.query('SELECT FROM platen.agents WHERE id = $1 FOR UPDATE', [id]);
  const found = await rowOf(
    db,
    forgottenRow,
    `SELECT * FROM (
       SELECT CASE WHEN e.id IS NULL THEN a.tenant_id ELSE e.tenant_id END AS tenant_id, e.id IS NOT NULL AS enrolled,
         CASE WHEN e.id IS NULL THEN ${LONG_AWAY} ELSE e.revoked_at IS NOT NULL END AS may,
         (SELECT count(*)::int FROM platen.jobs j WHERE j.agent_id = $1 AND (j.status = 'printing' OR ${UNDECIDED})) AS jobs
       FROM platen.agents a FULL JOIN platen.enrolled_agents e ON e.id = a.id
       WHERE coalesce(e.id, a.id) = $1 AND (a.id IS NOT NULL OR e.forgotten_at IS NULL OR e.forgotten_at < e.revoked_at)) AS known
     WHERE $2::text IS NULL OR tenant_id = $2`,
    [id, within ?? null],
  );
  if (found === undefined) throw agentNotFound();
  if (!found.may) throw refusedBecause('agent-in-use', because('agent-may-come', {}));
  if (found.jobs > 0) throw refusedBecause('agent-in-use', because('agent-has-jobs', { jobs: found.jobs }));
  // First: that a printer needs attention ends with its row only while it is known whose the agent is.
  await db.query('DELETE FROM platen.agent_printers WHERE agent_id = $1', [id]);
  await db.query('DELETE FROM platen.agents WHERE id = $1', [id]);
  if (found.enrolled)
    await db.query('UPDATE platen.enrolled_agents SET forgotten_at = now() WHERE id = $1', [id]);
  return found.tenant_id;
}

/** @param whole true: include what only the agent's own tenant is told */
function enrolmentOf(
  of: Pick<
    z.infer<typeof row>,
    | 'enrolled_at'
    | 'invitation'
    | 'moves'
    | 'revoked_at'
    | 'connected_since'
    | 'refused'
    | 'refused_at'
    | 'ahead_at'
    | 'newer'
  >,
  whole: boolean,
  notServed: readonly z.infer<typeof notServedRow>[],
): AgentView['enrolled'] {
  const { enrolled_at: at, invitation, revoked_at, connected_since, refused: code, refused_at } = of;
  if (at === null) return null;
  const wasRefused = whole && code !== null && refused_at !== null;
  return {
    at: at.toISOString(),
    invitation: whole ? invitation : null,
    revokedAt: revoked_at?.toISOString() ?? null,
    moves: of.moves === true,
    connectedSince: connected_since?.toISOString() ?? null,
    refused: wasRefused ? { code, at: refused_at.toISOString() } : null,
    ahead: whole && of.ahead_at !== null ? { at: of.ahead_at.toISOString(), waits: of.newer === true } : null,
    notServed: notServed.map(({ printer_id, since, name, state }) => ({
      ...{ id: printer_id, name, state, since: since.toISOString() },
    })),
  };
}
