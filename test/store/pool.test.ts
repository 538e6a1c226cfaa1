/** Connections of the service: what they are set to, and that one which breaks while it is checked out ends no process. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/log.ts';
import { createPool, onlyRow, type Pool, transaction } from '../../src/server/store/pool.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';

let backend: OpenBackend;
let pool: Pool;
beforeAll(async () => {
  backend = await onRedis().open();
  pool = createPool({ database: backend.database, max: 2, logger: createLogger({ level: 'silent' }) });
});
afterAll(async () => {
  await pool.end();
  await backend.close();
});

// Without its listener the error would be the process's end; here vitest would report it as uncaught.
test('a connection that is ended inside of a transaction, between two statements, makes that one fail', async () => {
  const killer = new Client(backend.database);
  await killer.connect();
  const broken = transaction(pool, async (client) => {
    const { pid } = await onlyRow(client, z.object({ pid: z.int() }), 'SELECT pg_backend_pid() AS pid');
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    await killer.query('SELECT pg_terminate_backend($1)', [pid]);
    await ended;
    await client.query('SELECT 1');
  });
  await expect(broken).rejects.toThrow(/not queryable|terminated/);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await killer.end();
});

test('no statement is compiled, on a server that would', async () => {
  const plain = new Client(backend.database);
  await plain.connect();
  expect((await plain.query('SHOW jit')).rows).toEqual([{ jit: 'on' }]);
  await plain.end();
  expect((await pool.query('SHOW jit')).rows).toEqual([{ jit: 'off' }]);
  expect((await pool.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '15s' }]);
});

test('names in columns of JSON are as they were stored, whatever was read before', async () => {
  for (const type of ['json', 'jsonb']) {
    for (const [planted, name] of [
      [String.raw`a\"`, 'a"b'],
      [String.raw`x\\`, String.raw`x\y`],
    ] as const) {
      for (const key of [planted, name]) {
        const record = { sku: '1', [key]: key };
        const { rows } = await pool.query(`SELECT $1::${type} AS record`, [JSON.stringify(record)]);
        expect(rows).toEqual([{ record }]);
      }
    }
  }
});
