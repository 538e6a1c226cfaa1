/** Printers as the internal interface shows them; `admin.ts` has its other routes. */
import { z } from 'zod';
import { printerFormat } from './format.ts';
import { confirmedBy, printerReason, printerState, printerSupply } from './printer.ts';
import { tenantId } from './tenant-id.ts';

// GET /app/printers?tenant=
export const printerView = z.object({
  id: z.string(),
  /** Whose it is; null: shared. Two tenants may have printers with the same ID. */
  tenant: tenantId.nullable(),
  name: z.string(),
  status: z.union([printerState, z.literal('offline')]),
  reasons: z.array(printerReason),
  /** Empty: it tells none. */
  supplies: z.array(printerSupply).default([]),
  formats: z.array(printerFormat),
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      online: z.boolean(),
      /** This agent gets the printer's jobs. null: the queue did not say. */
      serves: z.boolean().nullable(),
    }),
  ),
  uri: z.string(),
  model: z.string().nullable(),
  /** null: not known yet. */
  confirmedBy: confirmedBy.nullable().default(null),
  /** People have hidden it: it is not offered where one is chosen. */
  hidden: z.boolean().default(false),
  /** The tenants that may use it, by their IDs; null: every tenant. Left out: it is not shared, or the caller is not told. */
  grantedTo: z.array(z.string()).nullable().exactOptional(),
});
export type PrinterView = z.infer<typeof printerView>;

/** Whether it prints nothing until somebody looks: it is stopped, or nobody reaches it. */
export function standsStill({ status, reasons }: Pick<PrinterView, 'status' | 'reasons'>): boolean {
  return (
    status === 'stopped' || status === 'offline' || (status === 'unknown' && reasons.includes('offline'))
  );
}

/** `GET /app/printers/counts`: of those that are offered, how many stand still. */
export const printerCounts = z.object({ standing: z.int().min(0) });
