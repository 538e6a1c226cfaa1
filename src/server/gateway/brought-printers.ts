/**
 * Which printers an agent at another site may serve. A stolen or rogue agent can report any ID: with the ID of somebody else's
 * printer it would get that printer's jobs. So a printer waits for a person if another agent of the scope has its ID, or if the
 * agent was invited with the approval of each printer. So does one with the ID of a shared printer that its tenant may use: a
 * tenant's own printer gets the tenant's jobs before a shared one does. Shared printers that it may not use do not count, so
 * that nobody learns of them.
 */
import { z } from 'zod';
import { BROUGHT_STATES, type BroughtState, type PrinterDecision } from '../../contract/agent-view.ts';
import { type Scope, scope } from '../../contract/lane.ts';
import type { PrinterDescription } from '../../contract/printer.ts';
import { ProblemError } from '../problems.ts';
import { type Also, onlyRow, type Pool, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { agentNotFound } from './enrolments.ts';

/** How many printers of an agent are kept, as many as a report may have. Printers beyond that get no jobs. */
export const MOST_BROUGHT = 5_000;

/** Whether jobs of the tenant of agent `e` may be for the printer `new` of another agent, which has this name in the statement. */
const MAY_BE_ITS = (other: 'o' | 'a') =>
  `(${other}.tenant_id IS NOT DISTINCT FROM e.tenant_id OR ${other}.tenant_id IS NULL AND platen.may_use(e.tenant_id, NULL,
    (SELECT granted_to FROM platen.lane_settings WHERE lane = new.id)))`;

const broughtRow = z.object({ printer_id: z.string(), state: z.enum(BROUGHT_STATES) });
const decidedRow = z.object({ id: z.string() });
const scopeOnly = z.object({ tenant_id: scope });
const countRow = z.object({ count: z.int() });

export class BroughtPrinters {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async of(agentId: string): Promise<Map<string, BroughtState>> {
    const sql = 'SELECT printer_id, state FROM platen.brought_printers WHERE agent_id = $1';
    return statesOf(await rowsOf(this.#pool, broughtRow, sql, [agentId]));
  }

  /**
   * Keeps printers that the agent has not reported before. A printer that no other agent has is approved, unless the agent was
   * invited with the approval of each. Agents that were revoked do not count.
   * @returns the states of all that it has brought
   */
  async bring(
    agentId: string,
    printers: readonly Pick<PrinterDescription, 'id' | 'name'>[],
  ): Promise<Map<string, BroughtState>> {
    await transaction(this.#pool, async (db) => {
      // One at a time: if two agents bring the same ID at once, the second one waits for the first.
      await db.query("SELECT pg_advisory_xact_lock(hashtextextended('platen.brought_printers', 0))");
      await db.query(
        `INSERT INTO platen.brought_printers (agent_id, printer_id, name, state)
         SELECT e.id, new.id, new.name, CASE
           WHEN e.approve
             OR EXISTS (SELECT FROM platen.brought_printers b JOIN platen.enrolled_agents o ON o.id = b.agent_id
               WHERE b.printer_id = new.id AND o.id <> e.id AND ${MAY_BE_ITS('o')}
                 AND o.revoked_at IS NULL AND b.state <> 'refused')
             OR EXISTS (SELECT FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
               WHERE p.printer_id = new.id AND a.id <> e.id AND ${MAY_BE_ITS('a')}
                 AND NOT EXISTS (SELECT FROM platen.enrolled_agents o WHERE o.id = a.id))
           THEN 'waiting' ELSE 'approved' END
         FROM platen.enrolled_agents e CROSS JOIN unnest($2::text[], $3::text[]) AS new (id, name)
         WHERE e.id = $1
           AND NOT EXISTS (SELECT FROM platen.brought_printers b WHERE b.agent_id = e.id AND b.printer_id = new.id)
         ORDER BY new.id
         LIMIT greatest(0, ${MOST_BROUGHT} - (SELECT count(*) FROM platen.brought_printers WHERE agent_id = $1))
         ON CONFLICT (agent_id, printer_id) DO NOTHING`,
        [
          ...[agentId, printers.map(({ id }) => id)],
          printers.map(({ name }) => name.replaceAll('\0', '\ufffd')),
        ],
      );
    });
    return await this.of(agentId);
  }

  /**
   * A person approves or refuses printers of an agent.
   * @param printers their IDs; undefined: all that wait
   * @param within the only tenant of which the caller may name an agent
   * @param also is told whose the agent is, and of the same printers
   * @returns the IDs of those that are so now, and were not before
   * @throws ProblemError `agent-not-found`, `printer-not-found`
   */
  async decide(
    agentId: string,
    { printers, state }: PrinterDecision,
    within: string | undefined,
    also: Also<{ of: Scope; ids: readonly string[] }>,
  ): Promise<string[]> {
    return await transaction(this.#pool, async (db) => {
      const agent = await rowOf(
        db,
        scopeOnly,
        `UPDATE platen.enrolled_agents SET decided = decided + 1
         WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2) RETURNING tenant_id`,
        [agentId, within ?? null],
      );
      if (agent === undefined) throw agentNotFound();
      if (printers !== undefined) {
        const sql =
          'SELECT printer_id AS id FROM platen.brought_printers WHERE agent_id = $1 AND printer_id = ANY($2)';
        const known = new Set((await rowsOf(db, decidedRow, sql, [agentId, printers])).map(({ id }) => id));
        const unknown = printers.find((id) => !known.has(id));
        if (unknown !== undefined) {
          throw new ProblemError('printer-not-found', `this agent has reported no printer "${unknown}"`);
        }
      }
      const sql = `UPDATE platen.brought_printers SET state = $2, since = now()
        WHERE agent_id = $1 AND state <> $2 AND CASE WHEN $3::text[] IS NULL THEN state = 'waiting' ELSE printer_id = ANY($3) END
        RETURNING printer_id AS id`;
      const ids = (await rowsOf(db, decidedRow, sql, [agentId, state, printers ?? null])).map(({ id }) => id);
      if (state === 'refused') {
        // The agent need not say so: it may report other stretches of its printers.
        const gone = `UPDATE platen.agent_printers SET gone_at = now()
          WHERE agent_id = $1 AND printer_id = ANY($2) AND gone_at IS NULL`;
        await db.query(gone, [agentId, ids]);
      }
      await also(db, { of: agent.tenant_id, ids });
      return ids;
    });
  }

  /** How many wait for a person. @param within of agents of this tenant alone */
  async waiting(within: string | undefined): Promise<number> {
    const { count } = await onlyRow(
      this.#pool,
      countRow,
      `SELECT count(*)::int AS count FROM platen.brought_printers b JOIN platen.enrolled_agents e ON e.id = b.agent_id
       WHERE b.state = 'waiting' AND e.revoked_at IS NULL AND ($1::text IS NULL OR e.tenant_id = $1)`,
      [within ?? null],
    );
    return count;
  }
}

function statesOf(rows: readonly z.infer<typeof broughtRow>[]): Map<string, BroughtState> {
  return new Map(rows.map(({ printer_id, state }) => [printer_id, state]));
}
