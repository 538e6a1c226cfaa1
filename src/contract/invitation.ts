/** How an agent at another site comes to a service: a code that works once, which an operator hands to whoever is there. */
import { z } from 'zod';
import { origin, publicKey, signature } from './gateway.ts';
import { scope } from './lane.ts';
import { saying } from './reason.ts';
import { agentId } from './report.ts';

/** Crockford's alphabet: no letter looks like a digit. https://www.crockford.com/base32.html */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Random characters of a code, of 5 bits each; one more shows a slip of the pen. */
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
