/**
 * Printers, as agents report them. A tenant sees what its own agents and the shared ones say of a printer, and
 * nothing of what another tenant's agents say. Where both have a printer of one ID, it is the tenant's own: a job goes
 * to one lane, and to the same each time. Of a shared printer that is granted to others it sees nothing (`platen.may_use`).
 */
import { z } from 'zod';
import { LONG_AWAY_HOURS } from '../../contract/agent-view.ts';
import { type PrinterFormat, printerFormat } from '../../contract/format.ts';
import { type Lane, laneOf, type Scope, scope } from '../../contract/lane.ts';
import { keptSettings } from '../../contract/print-settings.ts';
import { confirmedBy, printerState, printerSupply } from '../../contract/printer.ts';
import type { PrinterView } from '../../contract/printer-view.ts';
import { tolerantReasons } from '../../contract/read-report.ts';
import { type Queryable, rowsOf } from '../store/pool.ts';
import { formatsAsSet } from './format-settings.ts';

/** s without a report after which an agent counts as offline; it reports every 15 s. */
export const HEARTBEAT_LOST = 45;

/** s without a report after which an agent no longer counts as serving: its lease may outlive it by half a minute. */
const SERVING_LOST = 20;

/** One agent's word on one printer. */
const reportedPrinter = z
  .object({
    printer_id: z.string(),
    name: z.string(),
    /** What people call it. */
    display_name: z.string().nullable(),
    hidden: z.boolean(),
    /** The settings that people have made. */
    print_settings: keptSettings,
    uri: z.string(),
    model: z.string().nullable(),
    state: printerState,
    reasons: tolerantReasons,
    supplies: z.array(printerSupply),
    formats: z.array(printerFormat),
    confirmed_by: confirmedBy.nullable().catch(null),
    gone: z.boolean(),
    virtual: z.boolean(),
    agent_id: z.string(),
    tenant_id: scope,
    agent_name: z.string(),
    online: z.boolean(),
    /** The agent has reported within `SERVING_LOST`. */
    heard: z.boolean(),
  })
  .transform(({ formats, print_settings, ...rest }) => ({
    ...rest,
    formats: formatsAsSet(formats, print_settings),
  }))
  .readonly();
type ReportedPrinter = z.infer<typeof reportedPrinter>;

/** A printer of one scope, with all that is known of it, best agent first. */
export type ScopePrinter = {
  id: string;
  scope: Scope;
  /** What people call it; until they rename it, what its agent calls it. */
  name: string;
  reportedName: string;
  formats: readonly PrinterFormat[];
  /** Agents that are assigned to it; the first takes the job. Empty: nobody has it any more. */
  agents: readonly { id: string; name: string; online: boolean }[];
  /** Each of these agents has it at a virtual printer, as `platen.only_virtual` says. */
  virtual: boolean;
};

/** Whether an agent has been away for so long that what it has told may be forgotten, in SQL. */
export const LONG_AWAY = `a.seen_at < now() - interval '${LONG_AWAY_HOURS} hours'`;

/** What agents say of printers, with what people have set. */
export const REPORTED = `platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
  LEFT JOIN platen.lane_settings s ON s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id`;
const SELECT_REPORTED = `SELECT p.printer_id, p.name, s.display_name, coalesce(s.hidden, false) AS hidden, coalesce(s.print_settings, '{}') AS print_settings, p.uri, p.model, p.state, p.reasons, p.supplies, p.formats, p.confirmed_by,
    p.gone_at IS NOT NULL AS gone,
    EXISTS (SELECT FROM platen.virtual_printers v WHERE v.agent_id = p.agent_id AND v.uri = p.uri) AS virtual,
    a.id AS agent_id, a.tenant_id, a.name AS agent_name,
    (a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST})) AS online,
    a.seen_at > now() - make_interval(secs => ${SERVING_LOST}) AS heard
  FROM ${REPORTED}`;
/** Assigned before gone, the tenant's own before shared, online before offline, then whoever was heard last. */
const BEST_FIRST = 'ORDER BY gone, a.tenant_id IS NULL, online DESC, a.seen_at DESC, a.id';
const VISIBLE = 'platen.may_use($1, a.tenant_id, s.granted_to)';

/** No agent of the printer's scope has it any more. */
const GONE = `p.gone_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM platen.agent_printers other JOIN platen.agents o ON o.id = other.agent_id
    WHERE other.printer_id = p.printer_id AND other.gone_at IS NULL AND o.tenant_id IS NOT DISTINCT FROM a.tenant_id)`;
const MOST_GONE = 500;

function reported(
  db: Queryable,
  where: string,
  values: readonly unknown[],
  most?: number,
): Promise<ReportedPrinter[]> {
  const limit = most === undefined ? '' : `LIMIT ${most}`;
  return rowsOf(db, reportedPrinter, `${SELECT_REPORTED} WHERE ${where} ${BEST_FIRST} ${limit}`, values);
}

/** By ID, what agents report of the printer that the tenant's jobs go to: its own before a shared one. */
function ofOneTenant(seen: readonly ReportedPrinter[]): Map<string, ReportedPrinter[]> {
  const byPrinter = Map.groupBy(seen, (row) => row.printer_id);
  for (const [id, rows] of byPrinter) {
    byPrinter.set(
      id,
      rows.filter((row) => row.tenant_id === rows[0]?.tenant_id),
    );
  }
  return byPrinter;
}

function onlyVirtual(seen: readonly ReportedPrinter[]): boolean {
  const present = seen.filter(({ gone }) => !gone);
  return present.length > 0 && present.every(({ virtual }) => virtual);
}

function printer(id: string, seen: readonly ReportedPrinter[]): ScopePrinter | undefined {
  const [best] = seen;
  if (best === undefined) return undefined;
  return {
    id,
    scope: best.tenant_id,
    name: best.display_name ?? best.name,
    reportedName: best.name,
    formats: best.formats,
    agents: seen
      .filter((one) => !one.gone)
      .map((one) => ({ id: one.agent_id, name: one.agent_name, online: one.online })),
    virtual: onlyVirtual(seen),
  };
}

/**
 * The printer with this ID, and the printers whose current name, given by people or reported by their best
 * agent, is exactly this one. If any of the latter still has an agent, only those that have one are returned.
 */
export async function askedPrinters(
  db: Queryable,
  tenantId: string,
  asked: { id: string | null; name: string | null },
): Promise<{ byId: ScopePrinter | undefined; named: ScopePrinter[] }> {
  // Agents may know one printer under several names; the best agent's counts, so all that they report is read.
  const seen = await reported(
    db,
    `${VISIBLE} AND p.printer_id IN (SELECT $2::text UNION ALL SELECT printer_id FROM platen.agent_printers WHERE name = $3
       UNION ALL SELECT substring(lane FROM '[^/]*$') FROM platen.lane_settings WHERE display_name = $3)`,
    [tenantId, asked.id, asked.name],
  );
  const found = [...ofOneTenant(seen)].flatMap(([id, rows]) => printer(id, rows) ?? []);
  const named = found.filter(({ name, reportedName }) => [name, reportedName].includes(asked.name ?? ''));
  const assigned = named.filter((one) => one.agents.length > 0);
  return {
    byId: found.find(({ id }) => id === asked.id),
    named: assigned.length > 0 ? assigned : named,
  };
}

/** Most reported printers that are read to name other printers than the one asked for. */
const MOST_OTHERS = 200;

/** Printers that a tenant's jobs can go to; not all, where there are many. */
export async function otherPrinters(db: Queryable, tenantId: string): Promise<ScopePrinter[]> {
  const shown = `${VISIBLE} AND p.gone_at IS NULL AND NOT coalesce(s.hidden, false)`;
  const seen = await reported(db, shown, [tenantId], MOST_OTHERS);
  return [...ofOneTenant(seen)].flatMap(([id, rows]) => printer(id, rows) ?? []);
}

/** Whose printers are seen: those that a tenant may use, or with `shared` all shared ones besides its own; undefined: all. */
export type SeenBy = { tenant: string; shared?: boolean } | undefined;

/** The rule for printers that somebody sees, in SQL for `REPORTED`. @param at the parameters of the tenant and of `shared` */
export function seenIn(at: { tenant: string; shared: string }): string {
  return `platen.may_use(${at.tenant}, a.tenant_id, CASE WHEN NOT ${at.shared} THEN s.granted_to END)`;
}

function reportedOf(
  db: Queryable,
  by: SeenBy,
  which: 'present' | 'gone' | { lane: Lane },
): Promise<ReportedPrinter[]> {
  if (typeof which === 'object')
    return reported(db, `coalesce(a.tenant_id || '/', '') || p.printer_id = $1`, [which.lane]);
  const visible = seenIn({ tenant: '$1', shared: '$2' });
  const values = [by?.tenant ?? null, by?.shared ?? false];
  return which === 'gone'
    ? reported(db, `${visible} AND ${GONE}`, values, MOST_GONE)
    : reported(db, `${visible} AND p.gone_at IS NULL`, values).then((all) =>
        by === undefined ? all : [...ofOneTenant(all).values()].flat(),
      );
}

/** The agent that serves each lane; null: that cannot be known now. */
export type HoldersOf = (lanes: Lane[]) => Promise<Map<Lane, string> | null>;

export function holdersIn(
  queue: { leaseHolders: (lanes: readonly Lane[]) => Promise<Map<Lane, string>> },
  log: { warn: (what: object, message: string) => void },
): HoldersOf {
  return async (lanes) => {
    try {
      return await queue.leaseHolders(lanes);
    } catch (error) {
      log.warn({ err: error }, 'the queue does not say which agents serve the printers');
      return null;
    }
  };
}

/** As people call it, and as its agent does; `forTests`: a test key may print there. */
export type ListedPrinter = PrinterView & { reportedName: string; forTests: boolean };

/**
 * Printers that a tenant sees, or (undefined) of the whole deployment, where one ID in two scopes is two printers.
 * @param which `present`: an agent has the printer; `gone`: none has it any more; a lane: its printer alone
 */
export async function listPrinters(
  db: Queryable,
  by: SeenBy,
  holdersOf: HoldersOf,
  which: 'present' | 'gone' | { lane: Lane } = 'present',
): Promise<ListedPrinter[]> {
  const listed = await listedOf(await reportedOf(db, by, which), holdersOf);
  return listed.sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
}

/**
 * A page of the printers that a tenant's jobs, or its tests, can go to, by ID; those that people have hidden are left out.
 * @param after the last ID of the page before
 */
export async function printerPage(
  db: Queryable,
  { tenantId, test }: { tenantId: string; test: boolean },
  { limit, after }: { limit: number; after?: string | undefined },
  holdersOf: HoldersOf,
): Promise<{ printers: ListedPrinter[]; next: string | null }> {
  const ids = await rowsOf(
    db,
    sightedId,
    `SELECT DISTINCT p.printer_id FROM ${REPORTED}
     WHERE ${VISIBLE} AND p.gone_at IS NULL AND p.printer_id > $2
       AND (NOT $4 OR platen.only_virtual(a.tenant_id, p.printer_id)) ORDER BY 1 LIMIT $3`,
    [tenantId, after ?? '', limit + 1, test],
  );
  const shown = ids.slice(0, limit).map((row) => row.printer_id);
  const where = `${VISIBLE} AND p.gone_at IS NULL AND p.printer_id = ANY($2)`;
  const seen = [...ofOneTenant(await reported(db, where, [tenantId, shown])).values()].flat();
  const listed = await listedOf(seen, holdersOf);
  return {
    printers: listed
      .filter((one) => !one.hidden && (one.forTests || !test))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    next: ids.length > limit ? (shown.at(-1) ?? null) : null,
  };
}

const sightedId = z.object({ printer_id: z.string() });

/** The state of a printer is what the agent that serves it reports. */
async function listedOf(seen: readonly ReportedPrinter[], holdersOf: HoldersOf): Promise<ListedPrinter[]> {
  const lanes = Map.groupBy(seen, (row) => laneOf({ scope: row.tenant_id, printerId: row.printer_id }));
  const holders = lanes.size === 0 ? null : await holdersOf([...lanes.keys()]);
  return [...lanes].flatMap(([lane, rows]): ListedPrinter[] => {
    const serves = ({ agent_id, online, heard }: ReportedPrinter) =>
      online && heard && holders?.get(lane) === agent_id;
    const best = rows.find(serves) ?? rows[0];
    if (best === undefined) return [];
    const online = rows.some((row) => row.online && !row.gone);
    return [
      {
        id: best.printer_id,
        tenant: best.tenant_id,
        name: best.display_name ?? best.name,
        reportedName: best.name,
        status: online ? best.state : 'offline',
        reasons: online ? best.reasons : [],
        supplies: online ? best.supplies : [],
        formats: best.formats,
        agents: rows
          .filter(({ gone }) => !gone)
          .map((row) => ({
            id: row.agent_id,
            name: row.agent_name,
            online: row.online,
            serves: holders === null ? null : serves(row),
          })),
        uri: best.uri,
        model: best.model,
        confirmedBy: best.confirmed_by,
        hidden: best.hidden,
        forTests: onlyVirtual(rows),
      },
    ];
  });
}
