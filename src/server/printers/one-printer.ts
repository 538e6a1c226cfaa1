/** Finds the printer that a person means, and what is known of its lane besides what agents report. */
import { z } from 'zod';
import { MOST_COUNTED } from '../../contract/job-search.ts';
import { type Lane, laneOf, type Scope, scope } from '../../contract/lane.ts';
import { keptSettings } from '../../contract/print-settings.ts';
import { printerId } from '../../contract/printer.ts';
import type { PrinterDetails } from '../../contract/printer-actions.ts';
import type { PrinterView } from '../../contract/printer-view.ts';
import { ProblemError } from '../problems.ts';
import { type Pool, type Queryable, rowsOf } from '../store/pool.ts';
import { limitsOf } from './format-settings.ts';
import { type ListedPrinter, REPORTED, type SeenBy, seenIn } from './printers.ts';

const LANE_FIELDS = z.object({
  lane: z.string(),
  print_settings: keptSettings.nullable(),
  place: z.string().nullable(),
  group_name: z.string().nullable(),
  note: z.string().nullable(),
  granted_to: z.array(z.string()).nullable(),
  held_by: z.string().nullable(),
  held_at: z.date().nullable(),
  held_why: z.string().nullable(),
  queued: z.int(),
  printing: z.int(),
  held: z.int(),
  labels_today: z.coerce.number().int(),
  last_job: z.string().nullable(),
  since: z.date().nullable(),
});

type LaneFacts = Omit<PrinterDetails, keyof ListedPrinter>;

/**
 * How many of a printer's newest jobs are searched for the last one of a scope. Only these are compared by
 * scope: PostgreSQL would take the scope for rare, and read a million jobs to find one.
 */
const LATEST = 100;

/**
 * @param asked the printer's scope: a tenant, or `shared`; undefined: any, if only one scope has this ID
 * @param by who means it: of the printers that they do not see there is none
 * @throws ProblemError `printer-not-found`, `printer-ambiguous`
 */
export async function laneMeant(
  db: Queryable,
  id: string,
  asked: string | undefined,
  by: SeenBy,
): Promise<{ lane: Lane; scope: Scope }> {
  const rows = printerId.safeParse(id).success
    ? await rowsOf(
        db,
        z.object({ tenant_id: scope }),
        `SELECT DISTINCT a.tenant_id FROM ${REPORTED}
         WHERE p.printer_id = $1 AND ${seenIn({ tenant: '$2', shared: '$4' })}
           AND ($3::text IS NULL OR coalesce(a.tenant_id, 'shared') = $3)`,
        [id, by?.tenant ?? null, asked ?? null, by?.shared ?? false],
      )
    : [];
  // Jobs of a tenant go to its own printer before a shared one.
  const own = rows.filter(({ tenant_id }) => by !== undefined && tenant_id === by.tenant);
  const [found, ...others] = own.length > 0 ? own : rows;
  if (found === undefined) throw new ProblemError('printer-not-found', 'no agent has told of such a printer');
  if (others.length > 0) {
    throw new ProblemError(
      'printer-ambiguous',
      'several tenants have a printer with this ID: say which by ?scope=',
    );
  }
  return { lane: laneOf({ scope: found.tenant_id, printerId: id }), scope: found.tenant_id };
}

/**
 * The printers, in this order, with what is known of their lanes; only the tenant's jobs count, if given.
 * @param grants whether it is told which tenants a shared printer is granted to
 */
export async function withLanes(
  pool: Pool,
  printers: readonly ListedPrinter[],
  { tenant, grants }: { tenant: string | undefined; grants: boolean },
  isVirtual: (printer: PrinterView) => boolean,
): Promise<(ListedPrinter & LaneFacts)[]> {
  const lanes = printers.map((one) => laneOf({ scope: one.tenant, printerId: one.id }));
  const agents = printers.map(({ agents: all }) => all.map(({ id }) => id));
  const rows = await rowsOf(
    pool,
    LANE_FIELDS,
    `SELECT asked.lane, s.print_settings, s.place, s.group_name, s.note, s.granted_to, s.held_by, s.held_at, s.held_why,
       ${counted('queued')} AS queued, ${counted('printing')} AS printing, ${counted('held')} AS held,
       (SELECT coalesce(sum(printed - first_label), 0) FROM (SELECT j.printed, j.first_label, j.scope FROM platen.tenants t CROSS JOIN LATERAL (
          SELECT * FROM platen.jobs j WHERE j.tenant_id = t.id AND j.printer_id = asked.printer
            AND j.created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
          ORDER BY j.created_at DESC, j.id DESC LIMIT ${MOST_COUNTED}) AS j
          WHERE $2::text IS NULL OR t.id = $2) AS today WHERE today.scope IS NOT DISTINCT FROM asked.scope) AS labels_today,
       (SELECT j.id FROM platen.tenants t CROSS JOIN LATERAL (
          SELECT j.id, j.created_at, j.scope FROM platen.jobs j WHERE j.tenant_id = t.id AND j.printer_id = asked.printer
            AND j.status = 'printed' ORDER BY j.created_at DESC, j.id DESC LIMIT ${LATEST}) AS j
          WHERE ($2::text IS NULL OR t.id = $2) AND j.scope IS NOT DISTINCT FROM asked.scope
          ORDER BY j.created_at DESC LIMIT 1) AS last_job,
       (SELECT max(p.since) FROM platen.agent_printers p WHERE p.printer_id = asked.printer
          AND p.agent_id = ANY(ARRAY(SELECT json_array_elements_text(asked.agents)))) AS since
     FROM json_to_recordset($1) AS asked(lane text, printer text, scope text, agents json)
     LEFT JOIN platen.lane_settings s ON s.lane = asked.lane`,
    [
      JSON.stringify(
        printers.map((one, at) => ({
          lane: lanes[at],
          printer: one.id,
          scope: one.tenant,
          agents: agents[at],
        })),
      ),
      tenant ?? null,
    ],
  );
  const byLane = new Map(rows.map((row) => [row.lane, row]));
  return printers.map((one, at) => ({
    ...one,
    ...factsOf(one, byLane.get(lanes[at] ?? '')),
    ...(grants && one.tenant === null && { grantedTo: byLane.get(lanes[at] ?? '')?.granted_to ?? null }),
    virtual: isVirtual(one),
  }));
}

function counted(status: string): string {
  return `(SELECT count(*)::int FROM (SELECT FROM platen.jobs j WHERE j.lane = asked.lane AND j.status = '${status}'
    AND ($2::text IS NULL OR j.tenant_id = $2) LIMIT ${MOST_COUNTED}) AS some_of_it)`;
}

function factsOf(one: PrinterView, row: z.infer<typeof LANE_FIELDS> | undefined) {
  const held =
    row?.held_at && row.held_by !== null
      ? { by: row.held_by, at: row.held_at.toISOString(), why: row.held_why }
      : null;
  return {
    held,
    place: row?.place ?? '',
    group: row?.group_name ?? '',
    note: row?.note ?? '',
    settings: row?.print_settings ?? {},
    limits: limitsOf(one.formats),
    jobs: { queued: row?.queued ?? 0, printing: row?.printing ?? 0, held: row?.held ?? 0 },
    labelsToday: row?.labels_today ?? 0,
    since: row?.since?.toISOString() ?? null,
    lastJob: row?.last_job ?? null,
    gone: one.agents.length === 0,
  };
}
