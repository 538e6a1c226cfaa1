/**
 * Printers that people have added by their address. An agent is told of all of its own at each look, also of those that were
 * added at another instance: the look is every sweep's, and one after each change here.
 */
import { z } from 'zod';
import { type AddedPrinter, type AddedPrinterView, addedPrinter } from '../../contract/added-printer.ts';
import { unreachedPrinter } from '../../contract/printer.ts';
import { because } from '../../contract/reason.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import { type Also, type Pool, rowsOf, transaction } from '../store/pool.ts';
import { HEARTBEAT_LOST } from './printers.ts';

/** An agent that this process can tell of its printers. */
export interface ToldAgent {
  readonly id: string;
  /** @param printers all that were added for it */
  drive(printers: readonly AddedPrinter[]): void;
}

type Of = { tenant: string | undefined; shared: boolean };

/** Most printers that are added for one agent. */
const MOST = 1_000;

const told = z.object({ agent_id: z.string(), uri: z.string(), said: addedPrinter.omit({ uri: true }) });
const row = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  online: z.boolean(),
  uri: z.string(),
  name: z.string().nullable(),
  added_by: z.string(),
  added_at: z.date(),
  printer: z.object({ id: z.string(), name: z.string() }).nullable(),
  unreached: z.array(unreachedPrinter),
});
/** Whose agent it is; undefined: none of these. */
const agentRow = z.object({ tenant_id: z.string().nullable() });

export class AddedPrinters {
  readonly #pool: Pool;
  readonly #agents: () => Iterable<ToldAgent>;

  constructor(pool: Pool, agents: () => Iterable<ToldAgent>) {
    this.#pool = pool;
    this.#agents = agents;
  }

  /**
   * @param of `tenant`: whose agents, undefined: all; `shared`: also agents that tenants share, and who added what there
   */
  async list({ tenant, shared }: Of, id?: string): Promise<AddedPrinterView[]> {
    const rows = await rowsOf(
      this.#pool,
      row,
      `SELECT d.id, d.agent_id, a.name AS agent_name, d.uri, d.said->>'name' AS name, d.added_by, d.added_at, a.unreached,
         (a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST})) AS online,
         (SELECT json_build_object('id', p.printer_id, 'name', coalesce(s.display_name, p.name))
          FROM platen.agent_printers p
          LEFT JOIN platen.lane_settings s ON s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id
          WHERE p.agent_id = d.agent_id AND p.uri = d.uri AND p.gone_at IS NULL LIMIT 1) AS printer
       FROM platen.added_printers d JOIN platen.agents a ON a.id = d.agent_id
       WHERE ($1::text IS NULL OR a.tenant_id = $1 OR ($3 AND a.tenant_id IS NULL)) AND ($2::uuid IS NULL OR d.id = $2)
       ORDER BY d.added_at DESC, d.id LIMIT ${MOST}`,
      [tenant ?? null, id ?? null, shared],
    );
    return rows.map(({ agent_id, agent_name, online, added_by, added_at, unreached, ...of }) => ({
      ...of,
      agent: { id: agent_id, name: agent_name, online },
      by: added_by,
      at: added_at.toISOString(),
      why: unreached.find(({ uri }) => uri === of.uri)?.why ?? null,
    }));
  }

  /** Whose an agent is; null: every tenant's. @throws ProblemError `not-found`, also for another tenant's */
  async scopeOf(agentId: string, tenant: string | undefined): Promise<string | null> {
    const [agent] = await rowsOf(
      this.#pool,
      agentRow,
      'SELECT tenant_id FROM platen.agents WHERE id = $1 AND ($2::text IS NULL OR coalesce(tenant_id, $2) = $2)',
      [agentId, tenant ?? null],
    );
    if (agent === undefined) throw new ProblemError('not-found', 'there is no such agent');
    return agent.tenant_id;
  }

  /** @returns its ID @throws ProblemError `printer-not-added` for an address that the agent has, or one too many */
  async add(agentId: string, { uri, ...said }: AddedPrinter, by: string, also: Also<string>) {
    return transaction(this.#pool, async (client) => {
      // Two at once count one after the other.
      await client.query('SELECT FROM platen.agents WHERE id = $1 FOR UPDATE', [agentId]);
      const [had] = await rowsOf(
        client,
        z.object({ known: z.boolean(), count: z.int() }),
        `SELECT count(*)::int AS count, coalesce(bool_or(uri = $2), false) AS known
         FROM platen.added_printers WHERE agent_id = $1`,
        [agentId, uri],
      );
      if (had?.known) throw refusedBecause('printer-not-added', because('printer-added', {}));
      if ((had?.count ?? 0) >= MOST) {
        throw refusedBecause('printer-not-added', because('printers-added-most', { most: MOST }));
      }
      const [made] = await rowsOf(
        client,
        z.object({ id: z.string() }),
        `INSERT INTO platen.added_printers (agent_id, uri, said, added_by) VALUES ($1, $2, $3, $4) RETURNING id`,
        [agentId, uri, JSON.stringify(said), by],
      );
      if (made === undefined) throw new Error('a printer was added without an ID');
      await also(client, made.id);
      return made.id;
    });
  }

  /** @throws ProblemError `not-found` */
  async remove(id: string, also: Also<void>): Promise<void> {
    await transaction(this.#pool, async (client) => {
      const { rowCount } = await client.query('DELETE FROM platen.added_printers WHERE id = $1', [id]);
      if (rowCount === 0) throw noSuch();
      await also(client, undefined);
    });
  }

  /** One of `list`. @throws ProblemError `not-found` */
  async find(id: string, of: Of): Promise<AddedPrinterView> {
    const [found] = z.uuid().safeParse(id).success ? await this.list(of, id) : [];
    if (found === undefined) throw noSuch();
    return found;
  }

  /** Tells the agents of this process all that was added for them. */
  async tell(): Promise<void> {
    const agents = [...this.#agents()];
    if (agents.length === 0) return;
    const rows = await rowsOf(
      this.#pool,
      told,
      `SELECT agent_id, uri, said FROM platen.added_printers WHERE agent_id = ANY($1) ORDER BY added_at, id`,
      [agents.map(({ id }) => id)],
    );
    const of = Map.groupBy(rows, (one) => one.agent_id);
    for (const agent of agents) {
      agent.drive((of.get(agent.id) ?? []).map(({ uri, said }) => ({ uri, ...said })));
    }
  }
}

function noSuch(): ProblemError {
  return new ProblemError('not-found', 'nobody has added such a printer');
}
