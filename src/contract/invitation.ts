/** How an agent at another site comes to a service: a code that works once, which an operator hands to whoever is there. */
import { z } from 'zod';
import { origin, publicKey, signature } from './gateway.ts';
import { scope } from './lane.ts';
import { saying } from './reason.ts';
import { agentId } from './report.ts';
import { tenantId } from './tenant-id.ts';

/** Crockford's alphabet: no letter looks like a digit. https://www.crockford.com/base32.html */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Random characters of a code, of 5 bits each; one more tells a slip of the pen. */
const RANDOM = 15;
/** h for which a code works. */
export const CODE_HOURS = 24;

/**
 * The last character. The weights are odd, and so each changed character shows; two neighbours that were swapped show unless
 * their values lie 16 apart.
 */
function checkOf(characters: string): string {
  const sum = [...characters].reduce((all, one, at) => all + ALPHABET.indexOf(one) * (2 * at + 1), 0);
  return ALPHABET.charAt(sum % 32);
}

/** @param bytes 15 random ones */
export function codeOf(bytes: Uint8Array): string {
  const random = [...bytes.subarray(0, RANDOM)].map((byte) => ALPHABET.charAt(byte % 32)).join('');
  return random + checkOf(random);
}

/** `7K3M-Q9TX-2VHD-R8WP`. */
export function shownCode(code: string): string {
  return code.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** A code as people write it, as it is compared; undefined: it is none. */
export function plainCode(text: string): string | undefined {
  if (text.length > 100) return undefined;
  const plain = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  const known = plain.length === RANDOM + 1 && [...plain].every((one) => ALPHABET.includes(one));
  return known && checkOf(plain.slice(0, RANDOM)) === plain.at(-1) ? plain : undefined;
}

// POST /app/agents/invitations
export const invitationMake = z.strictObject({
  name: z.string().trim().min(1).max(200),
  /** The tenant whose printers the agent has; left out: they print for every tenant. */
  tenant: tenantId.optional(),
  /** `approve`: each printer that the agent brings waits for a person. `any`: only one that another agent has, too. */
  printers: z.enum(['any', 'approve']).default('any'),
});
export const invitationMade = z.object({
  code: z.string(),
  /** All that a person at the other site needs: the service's address and the code. */
  url: z.string(),
  expiresAt: z.iso.datetime(),
});
export type InvitationMade = z.infer<typeof invitationMade>;

/** Of a printer that an agent at another site has reported: whether the agent gets its jobs. */
export const BROUGHT_STATES = ['approved', 'waiting', 'refused'] as const;
export type BroughtState = (typeof BROUGHT_STATES)[number];

// POST /app/agents/{id}/printers
export const printerDecision = z.strictObject({
  state: z.enum(['approved', 'refused']),
  /** Their IDs; left out: all that wait. */
  printers: z.array(z.string().max(100)).min(1).max(5_000).optional(),
});
export type PrinterDecision = z.infer<typeof printerDecision>;
/** The IDs of those that were not so before. */
export const printersDecided = z.object({ printers: z.array(z.string()) });

// GET /app/agents/enrolled
const time = z.iso.datetime();
export const enrolledAgents = z.object({
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      tenant: z.string().nullable(),
      enrolledAt: time,
      revokedAt: time.nullable(),
      /** null: it is not connected. */
      connectedSince: time.nullable(),
      /** Why it was not let in the last time that it tried, as a code of `GOODBYES`; null: it was let in since. */
      refused: z.object({ code: z.string(), at: time }).nullable(),
      /** Printers that it has reported and does not serve, or not yet. */
      notServed: z.array(
        z.object({ id: z.string(), name: z.string(), state: z.enum(['waiting', 'refused']), since: time }),
      ),
    }),
  ),
  /** Codes that nobody has used yet. */
  invitations: z.array(z.object({ name: z.string(), tenant: z.string().nullable(), expiresAt: time })),
});
export type EnrolledAgents = z.infer<typeof enrolledAgents>;

// POST /agent/v1/enroll
export const enroll = z.object({
  code: z.string().transform((text, context) => {
    const code = plainCode(text);
    if (code === undefined)
      context.addIssue({ code: 'custom', message: saying('invitation-code', {}), input: text });
    return code ?? z.NEVER;
  }),
  agentId,
  publicKey,
  origin,
  signature,
});
export type Enroll = z.input<typeof enroll>;
export const enrolled = z.object({ agentId, name: z.string(), scope });
export type Enrolled = z.infer<typeof enrolled>;
