/** The next version changes the schema while instances of this one are at work. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { migrate, type SchemaFiles } from '../../src/queue/index.ts';
import { jobIdOf, ServiceHarness } from '../kit/service/harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-test-next-'));
const clients: Client[] = [];
let service: ServiceHarness;
let named = 9_000;

beforeAll(async () => {
  service = await ServiceHarness.start({ redis: false });
  await service.tenant('acme');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The schema of the next version: one file more. */
function next(sql: string): { schema: SchemaFiles; file: string } {
  const home = mkdtempSync(join(directory, 'schema-'));
  const file = `${++named}-next.sql`;
  writeFileSync(join(home, file), sql);
  return { schema: { name: 'platen', directory: pathToFileURL(`${home}/`) }, file };
}

async function client(): Promise<Client> {
  const made = new Client({ ...service.backend.database, statement_timeout: 20_000 });
  await made.connect();
  clients.push(made);
  return made;
}

test('while somebody reads a table for long, a change of it lets whatever else asks for the table go first', async () => {
  const [reader, other] = [await client(), await client()];
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM platen.jobs');
  const { schema, file } = next('ALTER TABLE platen.jobs ADD COLUMN of_the_next_version text');
  const migrated = migrate(service.backend.database, schema);
  const waits = async () => {
    const { rows } = await other.query(
      `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
       WHERE a.application_name = 'platen-migration' AND a.datname = current_database() AND NOT l.granted`,
    );
    return rows.length;
  };
  for (let times = 0; times < 3; times++) {
    await expect.poll(waits, { interval: 10 }).toBeGreaterThan(0);
    // Behind the change it would wait for as long as the reader does, and fail.
    expect((await other.query('SELECT count(*) FROM platen.jobs')).rows).toHaveLength(1);
  }
  await reader.query('COMMIT');
  expect(await migrated).toEqual([file]);
});

test('an instance accepts jobs all the while, and starts again beside the later schema', async () => {
  const idT = await service.template('acme');
  await service.agent([{ id: 'serial-0a1b2c3d4e5f' }], { tenantId: 'acme' });
  const body = { idT, printerId: 'serial-0a1b2c3d4e5f', data: [{ sku: '1', name: '1' }] };
  const post = async (to: ServiceHarness) => {
    const accepted = await to.admin('POST', '/tenants/acme/jobs', body);
    expect(accepted.status, accepted.text).toBe(201);
    return jobIdOf(accepted);
  };
  let over = false;
  const posted: string[] = [];
  const posting = Array.from({ length: 3 }, async () => {
    while (!over) posted.push(await post(service));
  });
  const files: string[] = [];
  for (const table of ['jobs', 'templates', 'agents', 'agent_printers', 'tenants', 'integrations']) {
    const { schema, file } = next(`
      ALTER TABLE platen.${table} ADD COLUMN next_of_this text NOT NULL DEFAULT '';
      CREATE INDEX ON platen.${table} (next_of_this)`);
    expect(await migrate(service.backend.database, schema)).toEqual([file]);
    files.push(file);
    const before = posted.length;
    await expect.poll(() => posted.length).toBeGreaterThan(before);
  }
  over = true;
  await Promise.all(posting);
  // The version before is started again, as after an update that did not come up.
  const again = await ServiceHarness.start({ backend: service.backend });
  try {
    await post(again);
    const { rows } = await again.pool.query('SELECT name FROM platen.migrations WHERE name = ANY($1)', [
      files,
    ]);
    expect(rows).toHaveLength(files.length);
  } finally {
    await again.stop();
  }
});
