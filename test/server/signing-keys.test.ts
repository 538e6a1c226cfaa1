import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { migrate } from '../../src/queue/index.ts';
import { SigningKeys } from '../../src/server/oauth/signing-keys.ts';
import { SecretKey } from '../../src/server/secret-key.ts';
import { createPool, type Pool } from '../../src/server/store/pool.ts';
import { PLATEN } from '../../src/server/store/schema.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';

const LIFETIME = 600;
const [ours, another] = [new SecretKey('a'.repeat(40)), new SecretKey('b'.repeat(40))];

let backend: OpenBackend;
let pool: Pool;
beforeAll(async () => {
  backend = await onRedis().open();
  const logger = createLogger({ level: 'silent' });
  await migrate(backend.database, PLATEN);
  pool = createPool({ database: backend.database, max: 4, logger });
});
afterAll(async () => {
  await pool.end();
  await backend.close();
});

async function instance(secretKey: SecretKey): Promise<SigningKeys> {
  const keys = new SigningKeys(pool, LIFETIME, secretKey);
  await keys.maintain();
  return keys;
}

async function published(keys: SigningKeys): Promise<(string | undefined)[]> {
  return (await keys.jwks()).keys.map(({ kid }) => kid);
}

describe('signing keys', () => {
  test('instances with one key sign alike; one with another signs with its own, and all are verified', async () => {
    const [first, second] = [await instance(ours), await instance(ours)];
    const stranger = await instance(another);
    const { kid } = await first.signer();
    expect((await second.signer()).kid).toBe(kid);
    const other = (await stranger.signer()).kid;
    expect(other).not.toBe(kid);
    expect((await published(stranger)).sort()).toEqual([kid, other].sort());
    // Neither makes the other's go, nor makes another of its own at every start.
    await pool.query(
      `UPDATE platen.signing_keys SET created_at = created_at - interval '1 day' WHERE kid = $1`,
      [kid],
    );
    await instance(another);
    expect((await (await instance(ours)).signer()).kid).toBe(kid);
  });

  test('who has the database alone has no private key', async () => {
    const { rows } = await pool.query<{ kid: string; sealed: string }>('SELECT * FROM platen.signing_keys');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      // The private exponent, as it would stand in a JWK.
      expect(JSON.stringify(row)).not.toMatch(/"d\\?"/);
      const key = [ours, another].find((one) => {
        try {
          return one.open(row.sealed, row.kid).includes('"d":');
        } catch {
          return false;
        }
      });
      expect(key).toBeDefined();
      expect(() => key?.open(row.sealed, 'another-kid')).toThrow();
      const changed = (row.sealed.startsWith('A') ? 'B' : 'A') + row.sealed.slice(1);
      expect(() => key?.open(changed, row.kid)).toThrow();
    }
  });
});
