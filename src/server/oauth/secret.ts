/**
 * API keys and secrets. A secret is 256 random bits: there is nothing to guess, so a salted SHA-256 keeps it as well
 * as a slow hash would, and comparing takes microseconds: a flood of wrong secrets slows nobody down.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export function newApiKey(): string {
  return `pk_${randomBytes(15).toString('base64url')}`;
}

export function newApiSecret(): string {
  return `sk_${randomBytes(32).toString('base64url')}`;
}

/** Key and secret in one string, as PrintNode's clients have it. Neither has a full stop. */
export function printNodeKey({ apiKey, apiSecret }: { apiKey: string; apiSecret: string }): string {
  return `${apiKey}.${apiSecret}`;
}

/** What `printNodeKey` was made of; of anything else, something that nobody has. */
export function credentialsIn(key: string): { apiKey: string; apiSecret: string } {
  const [apiKey = '', apiSecret = ''] = key.split('.', 2);
  return { apiKey, apiSecret };
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

/** Compares in constant time; without a stored hash it takes the same time and is false. */
export function secretMatches(secret: string, stored: string | undefined): boolean {
  const [kind, salt, hash] = (stored ?? NOBODY).split('$');
  if (kind !== 'sha256' || salt === undefined || hash === undefined)
    throw new Error('the hash of a secret cannot be read');
  const found = digest(secret, Buffer.from(salt, 'base64url'));
  return timingSafeEqual(found, Buffer.from(hash, 'base64url')) && stored !== undefined;
}
