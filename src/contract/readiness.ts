/** What `GET /readyz` says besides its status: the health of whatever else is set up. A load balancer could mend none of it. */
import { z } from 'zod';

const receivers = z.object({
  disabled: z.int(),
  /** When the oldest event happened that an enabled receiver has not taken yet. */
  oldestUndelivered: z.iso.datetime().nullable(),
});
export type ReceiversHealth = z.infer<typeof receivers>;

/** `failed`: why it did not work the last time, in a word; null: it did, or nothing was tried yet. */
const reached = z.object({ failed: z.string().nullable() });

export const readiness = z
  .object({
    /** Of all tenants. */
    webhooks: receivers,
    alerts: receivers,
    /** The mail server, asked at most every five minutes. */
    mail: reached,
    /** The endpoint for traces, by what it last answered to this instance. */
    traces: reached,
    /** Agents at other sites that have enrolled, and those of them that are connected to any instance. */
    gateway: z.object({ agents: z.int(), connected: z.int() }),
    /** What the service's https address last showed. */
    certificate: z.object({ host: z.string(), endsAt: z.iso.datetime(), isSoon: z.boolean() }),
  })
  .partial();
export type ServiceHealth = z.infer<typeof readiness>;
