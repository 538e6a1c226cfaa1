/** Passwords, kept as scrypt with the cost that OWASP names for 32 MiB (Password Storage Cheat Sheet). */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { slowHash } from '../slow-hash.ts';

const COST = { N: 2 ** 15, r: 8, p: 3 };
/** Stands in for the hash of nobody: refusing an unknown login must take as long as refusing a wrong password. */
const NOBODY = stored(Buffer.alloc(16), Buffer.alloc(32));

/** `scrypt$N$r$p$salt$hash`. */
function stored(salt: Buffer, hash: Buffer): string {
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** The same characters, however they were typed (RFC 8265 §4.2). */
function bytesOf(password: string): string {
  return password.normalize('NFC');
}

/** @throws HashingBusy */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return stored(salt, await slowHash(bytesOf(password), salt, COST));
}

/**
 * Compares in constant time; without a stored hash it takes the same time and is false.
 * @throws HashingBusy
 */
export async function passwordMatches(password: string, hash: string | null | undefined): Promise<boolean> {
  const [kind, N, r, p, salt, expected] = (hash ?? NOBODY).split('$');
  if (kind !== 'scrypt' || salt === undefined || expected === undefined) {
    throw new Error('the hash of a password cannot be read');
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await slowHash(bytesOf(password), Buffer.from(salt, 'base64url'), cost);
  const matches = timingSafeEqual(found, Buffer.from(expected, 'base64url'));
  return matches && hash !== null && hash !== undefined;
}
