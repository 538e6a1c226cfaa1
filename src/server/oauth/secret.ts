/**
 * API keys and secrets. A secret is 256 random bits, so guessing is hopeless anyway; it is still stored under a
 * slow, salted hash (scrypt, RFC 7914), because a database leaks more easily than it should.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** 32 MiB and about 60 ms for each comparison. */
const COST = { N: 2 ** 15, r: 8, p: 1 } as const;
const MAX_MEMORY = 128 * 1024 * 1024;
const HASH_BYTES = 32;

export function newApiKey(): string {
  return `pk_${randomBytes(15).toString('base64url')}`;
}

export function newApiSecret(): string {
  return `sk_${randomBytes(32).toString('base64url')}`;
}

function derive(secret: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, HASH_BYTES, { ...options, maxmem: MAX_MEMORY }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

/** `scrypt$N$r$p$salt$hash`: the cost travels with the hash, so that it can be raised later. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(secret, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Stands in for the hash of a client that does not exist: refusing it must take as long as refusing a wrong secret. */
const NOBODY = ['scrypt', COST.N, COST.r, COST.p, 'A'.repeat(22), 'A'.repeat(43)].join('$');

/** Compares in constant time; without a stored hash it takes the same time and is false. */
export async function secretMatches(secret: string, stored: string | undefined): Promise<boolean> {
  const [kind, N, r, p, salt, hash] = (stored ?? NOBODY).split('$');
  if (kind !== 'scrypt' || salt === undefined || hash === undefined) throw new Error('unknown kind of hash');
  const expected = Buffer.from(hash, 'base64url');
  const found = await derive(secret, Buffer.from(salt, 'base64url'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(found, expected) && stored !== undefined;
}
