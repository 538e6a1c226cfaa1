/** Agents as the internal interface shows them, and what people decide about those at other sites. */
import { z } from 'zod';
import { givenText } from './given-text.ts';
import { unreachedPrinter } from './printer.ts';
import { tenantId } from './tenant-id.ts';

const time = z.iso.datetime();

/** An agent that never enrolled may be taken off the list once it has been away for this time, hours. */
export const LONG_AWAY_HOURS = 24;

/** Of a printer that an agent at another site has reported: whether the agent gets its jobs. */
export const BROUGHT_STATES = ['approved', 'waiting', 'refused'] as const;
export type BroughtState = (typeof BROUGHT_STATES)[number];

/** What an agent at another site has besides: it has enrolled, and joins over a WebSocket. */
const enrolment = z.object({
  at: time,
  /** By which invitation, as `invitationMade` has it. */
  invitation: z.string().nullable(),
  revokedAt: time.nullable(),
  /** It goes to another tenant as soon as it has finished what it has in hand. */
  moves: z.boolean().default(false),
  /** null: it is not connected. */
  connectedSince: time.nullable(),
  /** Why it was not let in the last time that it tried, as a code of `GOODBYES`; null: it was let in since. */
  refused: z.object({ code: z.string(), at: time }).nullable(),
  /**
   * The service's database was restored to an earlier time than the agent's, as it found when the agent came. `waits`: the agent
   * had not enrolled by then, and a person has to let it in.
   */
  ahead: z.object({ at: time, waits: z.boolean() }).nullable().default(null),
  /** Printers that it has reported and does not serve, or not yet. */
  notServed: z.array(
    z.object({ id: z.string(), name: z.string(), state: z.enum(['waiting', 'refused']), since: time }),
  ),
});

// GET /app/agents?tenant=
export const agentView = z.object({
  id: z.string(),
  tenant: tenantId.nullable(),
  name: z.string(),
  /** null: it has never reported. */
  version: z.string().nullable(),
  online: z.boolean(),
  /** When it was last heard of. */
  seenAt: time.nullable(),
  printers: z.int(),
  unreached: z.array(unreachedPrinter),
  /** The version of its last update, where that did not come up. */
  wentBackFrom: z.string().nullable(),
  /** null: its jobs come from the queues' own server. */
  enrolled: enrolment.nullable().default(null),
});
export type AgentView = z.infer<typeof agentView>;

/** Whether it was refused for an old state of its data directory, and waits until a person lets it in. */
export function waitsOutside({ enrolled }: AgentView): boolean {
  return (
    enrolled?.refused?.code === 'stale' && enrolled.connectedSince === null && enrolled.revokedAt === null
  );
}

/** `GET /app/agents/counts`: printers that wait until somebody says whether their agents get their jobs. */
export const agentCounts = z.object({ waiting: z.int().min(0) });

const agentName = givenText.trim().min(1).max(200);

// GET|POST /app/agents/invitations?tenant=
export const invitationMake = z.strictObject({
  name: agentName,
  /** The tenant whose printers the agent has; left out: they print for every tenant. */
  tenant: tenantId.optional(),
  /** `approve`: each printer that the agent brings waits for a person. `any`: only one that another agent has, too. */
  printers: z.enum(['any', 'approve']).default('any'),
});
export const invitationMade = z.object({
  id: z.string(),
  code: z.string(),
  /** All that a person at the other site needs: the service's address and the code. */
  url: z.string(),
  expiresAt: time,
});
export type InvitationMade = z.infer<typeof invitationMade>;
/** One whose code nobody has used yet. */
export const openInvitation = z.object({
  id: z.string(),
  name: z.string(),
  tenant: tenantId.nullable(),
  expiresAt: time,
});
export type OpenInvitation = z.infer<typeof openInvitation>;

// PUT /app/agents/{id}/name
export const agentRename = z.strictObject({ name: agentName });

// POST /app/agents/{id}/move
export const agentMove = z.strictObject({
  /** Whose printers it has from then on; null: every tenant's. */
  tenant: tenantId.nullable(),
});

// POST /app/agents/{id}/printers
export const printerDecision = z.strictObject({
  state: z.enum(['approved', 'refused']),
  /** Their IDs; left out: all that wait. */
  printers: z.array(givenText.max(100)).min(1).max(5_000).optional(),
});
export type PrinterDecision = z.infer<typeof printerDecision>;
/** The IDs of those that were not so before. */
export const printersDecided = z.object({ printers: z.array(z.string()) });
