/**
 * Where a printer's jobs wait: its lane, which belongs to one scope. Two tenants' printers may report the same serial
 * number, and still share no lane, lease or report.
 */
import { z } from 'zod';
import { printerId } from './printer.ts';
import { saying } from './reason.ts';
import { tenantId } from './tenant-id.ts';

/** Whose printers an agent has: those of one tenant, or (null) shared ones, that print for every tenant. */
export const scope = tenantId.nullable();
export type Scope = z.infer<typeof scope>;

/**
 * `<tenant>/<printer ID>`, and of a shared printer its ID alone. It names the queue and the lease, so it begins with the
 * tenant: one pattern then stands for all lanes of a tenant, and no other's.
 */
export const lane = z
  .string()
  .refine(
    (text) => {
      const [printer = '', tenant, ...more] = text.split('/').toReversed();
      const scoped = tenant === undefined || tenantId.safeParse(tenant).success;
      return scoped && more.length === 0 && printerId.safeParse(printer).success;
    },
    { error: saying('lane-name', {}) },
  )
  .brand<'lane'>();
export type Lane = z.infer<typeof lane>;

/** The lane of a printer, or of a job for it. @throws ZodError for what is no printer ID or no tenant */
export function laneOf(of: { scope: Scope; printerId: string }): Lane {
  return lane.parse(of.scope === null ? of.printerId : `${of.scope}/${of.printerId}`);
}

export function scopeOf(of: Lane): Scope {
  const end = of.indexOf('/');
  return end < 0 ? null : of.slice(0, end);
}

export function printerOf(of: Lane): string {
  return of.slice(of.indexOf('/') + 1);
}

/** Longest lease of a lane that another agent wants, ms: for so long jobs may wait for an agent that has died. */
export const MOST_LEASE = 300_000;
/** How many times as long a lease is while no other agent wants the printer. */
export const ALONE = 4;
