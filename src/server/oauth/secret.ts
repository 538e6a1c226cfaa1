/**
 * API keys and secrets. A secret is 256 random bits: there is nothing to guess, so a salted SHA-256 keeps it as well
 * as a slow hash would, and comparing takes microseconds: a flood of wrong secrets slows nobody down.
 *
 * Secrets of earlier versions are kept under scrypt (60 ms of a thread, 32 MiB). They are compared one at a time, and
 * stored anew the first time that they are right.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { slowHash } from '../slow-hash.ts';

export function newApiKey(): string {
  return `pk_${randomBytes(15).toString('base64url')}`;
}

export function newApiSecret(): string {
  return `sk_${randomBytes(32).toString('base64url')}`;
}

function digest(secret: string, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(secret).digest();
}

/** `sha256$salt$hash`. */
export function hashSecret(secret: string): string {
  const salt = randomBytes(16);
  return ['sha256', salt.toString('base64url'), digest(secret, salt).toString('base64url')].join('$');
}

/** Stands in for the hash of a client that does not exist: refusing it must take as long as refusing a wrong secret. */
const NOBODY = ['sha256', 'A'.repeat(22), 'A'.repeat(43)].join('$');

/** Whether a stored hash is of the kind that is stored today. */
export function isCurrent(stored: string): boolean {
  return stored.startsWith('sha256$');
}

/**
 * Compares in constant time; without a stored hash it takes the same time and is false.
 * @throws HashingBusy
 */
export async function secretMatches(secret: string, stored: string | undefined): Promise<boolean> {
  const [kind, ...parts] = (stored ?? NOBODY).split('$');
  const [salt, hash] = parts.slice(-2);
  if (salt === undefined || hash === undefined) throw new Error('the hash of a secret cannot be read');
  const expected = Buffer.from(hash, 'base64url');
  let found: Buffer;
  if (kind === 'sha256') found = digest(secret, Buffer.from(salt, 'base64url'));
  else if (kind === 'scrypt') found = await slowDigest(secret, parts);
  else throw new Error('unknown kind of hash');
  return timingSafeEqual(found, expected) && stored !== undefined;
}

/** `N$r$p$salt$hash`. */
function slowDigest(secret: string, [N, r, p, salt = '']: readonly string[]): Promise<Buffer> {
  return slowHash(secret, Buffer.from(salt, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) });
}
