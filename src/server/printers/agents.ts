/** Agents, as they report themselves. */
import { z } from 'zod';
import { unreachedPrinter } from '../../contract/printer.ts';
import type { AgentView } from '../../contract/printer-view.ts';
import { type Queryable, rowsOf } from '../store/pool.ts';
import { HEARTBEAT_LOST } from './printers.ts';

const row = z.object({
  id: z.string(),
  tenant_id: z.string().nullable(),
  name: z.string(),
  version: z.string(),
  online: z.boolean(),
  seen_at: z.date(),
  printers: z.int(),
  unreached: z.array(unreachedPrinter),
});

/** All agents, or those whose printers this tenant may use; agents that are online come first. */
export async function listAgents(db: Queryable, tenantId: string | undefined): Promise<AgentView[]> {
  const rows = await rowsOf(
    db,
    row,
    `SELECT id, tenant_id, name, version, seen_at, unreached,
       (online AND seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST})) AS online,
       (SELECT count(*)::int FROM platen.agent_printers p WHERE p.agent_id = a.id AND p.gone_at IS NULL) AS printers
     FROM platen.agents a WHERE ($1::text IS NULL OR tenant_id IS NULL OR tenant_id = $1)
     ORDER BY 7 DESC, name, id LIMIT 1000`,
    [tenantId ?? null],
  );
  return rows.map(({ tenant_id, seen_at, ...agent }) => ({
    ...agent,
    tenant: tenant_id,
    seenAt: seen_at.toISOString(),
  }));
}
