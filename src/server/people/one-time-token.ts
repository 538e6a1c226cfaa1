/** Tokens of links that work once. 256 random bits leave nothing to guess, so they are kept as SHA-256. */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { onlyRow, type Queryable, rowOf } from '../store/pool.ts';

/** What a link is for, and the hours that it works. */
const HOURS = { invitation: 7 * 24, 'sign-in': 1 } as const;
type Purpose = keyof typeof HOURS;

const personOnly = z.object({ person_id: z.string() });

export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** A new token for a person; the person's earlier tokens of the same purpose stop working. */
export async function makeToken(
  db: Queryable,
  personId: string,
  purpose: Purpose,
): Promise<{ token: string; expiresAt: string }> {
  const token = newToken();
  await db.query('DELETE FROM platen.one_time_tokens WHERE person_id = $1 AND purpose = $2', [
    personId,
    purpose,
  ]);
  const { expires_at } = await onlyRow(
    db,
    z.object({ expires_at: z.date() }),
    `INSERT INTO platen.one_time_tokens (token_hash, person_id, purpose, expires_at)
     VALUES ($1, $2, $3, now() + make_interval(hours => $4)) RETURNING expires_at`,
    [tokenHash(token), personId, purpose, HOURS[purpose]],
  );
  return { token, expiresAt: expires_at.toISOString() };
}

/** The person whose token it is, while it works. The token is not used up. */
export async function lookAtToken(
  db: Queryable,
  token: string,
  purpose: Purpose,
): Promise<string | undefined> {
  const sql = `SELECT person_id FROM platen.one_time_tokens
    WHERE token_hash = $1 AND purpose = $2 AND expires_at > now()`;
  return (await rowOf(db, personOnly, sql, [tokenHash(token), purpose]))?.person_id;
}

/**
 * Uses a token up. Of several requests with the same token only one gets the person. The person is locked first, as when all
 * their sessions and links are ended.
 */
export async function useToken(db: Queryable, token: string, purpose: Purpose): Promise<string | undefined> {
  const personId = await lookAtToken(db, token, purpose);
  if (personId === undefined) return undefined;
  await db.query('SELECT FROM platen.people WHERE id = $1 FOR NO KEY UPDATE', [personId]);
  const sql = `DELETE FROM platen.one_time_tokens
    WHERE token_hash = $1 AND purpose = $2 AND expires_at > now() RETURNING person_id`;
  return (await rowOf(db, personOnly, sql, [tokenHash(token), purpose]))?.person_id;
}
