/** A back-up of a Platen that runs, and what a restored one does: nothing is printed again by itself. */
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { reachEmbedded } from '../../src/server/store/embedded-reach.ts';
import { ask } from '../kit/servers/embedded-parents.ts';
import { PlatenUp, platen, refusedUp, temporaryDirectory } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';
import { useHost } from '../kit/service/use-host.ts';

const TEXT = { type: 'text', x: 4, y: 4, width: 40, height: 8, size: 5, text: '{{number}}' };
const TEMPLATE = smallLabel('numbered', ['number'], [TEXT]);
/** What a service writes once it runs for a while, or once a printer says how it is; of the others a back-up leaves the rows out. */
const NOT_COMPARED = ['usage_days', 'usage_days_done', 'printer_attention', 'sessions', 'one_time_tokens'];
const countRow = z.object({ name: z.string(), rows: z.coerce.number() });
const restored = z.object({ held: z.array(z.object({ id: z.string(), printed: z.int(), total: z.int() })) });

const host = useHost();
let place: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  place = await temporaryDirectory();
});
afterAll(() => place[Symbol.asyncDispose]());

async function start(name: string, env: Record<string, string> = {}): Promise<PlatenUp> {
  const up = await PlatenUp.start({ dataDir: join(place.path, name), args: ['--virtual', '1'], env });
  onTestFinished(async () => void (await up.stop()));
  await up.printerOnline('virtual-1');
  return up;
}

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen(args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

async function refusal(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen(args);
  expect([code, stdout]).toEqual([1, '']);
  return stderr;
}

/** How many rows each table of the service has, by the catalogue. */
async function counts(dataDir: string): Promise<Map<string, number>> {
  await using database = await reachEmbedded(dataDir);
  const found = await ask(
    database.service,
    `SELECT table_name AS name, (xpath('/row/c/text()', query_to_xml('SELECT count(*) AS c FROM platen.' || table_name,
       false, true, '')))[1]::text AS rows FROM information_schema.tables WHERE table_schema = 'platen'`,
  );
  const tables = z.array(countRow).parse(found);
  return new Map(
    tables.filter(({ name }) => !NOT_COMPARED.includes(name)).map(({ name, rows }) => [name, rows]),
  );
}

test('what was printed since is held by name, and not printed again', async () => {
  const up = await start('first');
  const { id: idT } = await up.admin.importTemplate('default', TEMPLATE);
  const print = (of: PlatenUp, numbers: number[]) =>
    of.admin.print('default', {
      idT,
      printer: 'virtual-1',
      data: numbers.map((number) => ({ number: `${number}` })),
    });
  const before = await print(up, [1, 2]);
  expect(await up.ended(before)).toMatchObject({ status: 'printed' });
  await done('virtual', 'fault', 'virtual-1', 'media-empty', '--data', up.dataDir);
  const printing = await print(up, [3, 4]);
  const waiting = await print(up, [5]);
  await expect.poll(async () => (await up.admin.job(printing)).reasons).toContain('media-empty');
  const canceled = await print(up, [6]);
  await done('job', 'cancel', canceled, '--data', up.dataDir);
  const rows = await counts(up.dataDir);

  const file = join(place.path, 'backup');
  expect(await done('backup', file, '--data', up.dataDir)).toMatch(/: \d+ tables, as they were at 20/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const key = readFileSync(join(up.dataDir, 'platen.key'), 'utf8').trim();
  expect(readFileSync(file).includes(key)).toBe(false);
  expect(await refusal('backup', file, '--data', up.dataDir)).toContain('is there already');

  // Since then all of it is printed, and more.
  await done('virtual', 'fault', 'virtual-1', 'clear', '--data', up.dataDir);
  for (const job of [printing, waiting]) expect(await up.ended(job)).toMatchObject({ status: 'printed' });
  const after = await print(up, [7]);
  expect(await up.ended(after)).toMatchObject({ status: 'printed' });
  const pictures = await up.pictures();
  expect(pictures).toHaveLength(6);

  // Where a service runs, or data is, nothing is restored.
  expect(await refusal('restore', file, '--data', up.dataDir)).toContain(': stop it first');
  await up.stop();
  expect(await refusal('restore', file, '--data', up.dataDir)).toContain('--force replaces it');

  // A file that is not whole, or of a later version, is refused before anything is made of it.
  const fresh = join(place.path, 'fresh');
  const [cut, later] = [join(place.path, 'cut'), join(place.path, 'later')];
  copyFileSync(file, cut);
  truncateSync(cut, statSync(file).size - 1);
  const bytes = readFileSync(file);
  const head = bytes.subarray(0, bytes.indexOf('\n')).toString();
  writeFileSync(
    later,
    bytes.toString('latin1').replace(head, head.replace('0001-platen', '9999-platen')),
    'latin1',
  );
  expect(await refusal('restore', cut, '--data', fresh)).toContain('is not whole');
  expect(await refusal('restore', later, '--data', fresh)).toContain('does not know (9999-platen.sql)');
  expect(existsSync(fresh)).toBe(false);

  const { held } = restored.parse(
    JSON.parse(await done('restore', file, '--data', up.dataDir, '--force', '--json')),
  );
  expect(held).toEqual([
    { id: printing, printed: 0, total: 2 },
    { id: waiting, printed: 0, total: 1 },
  ]);

  const again = await start('first');
  const now = await counts(again.dataDir);
  // A job that is held has one event more.
  expect(now.get('job_events')).toBe((rows.get('job_events') ?? 0) + held.length);
  for (const counted of [rows, now]) counted.delete('job_events');
  expect(now).toEqual(rows);
  expect(await again.admin.job(before)).toMatchObject({ status: 'printed' });
  expect(await again.admin.job(canceled)).toMatchObject({ status: 'canceled' });
  for (const job of [printing, waiting])
    expect(await again.admin.job(job)).toMatchObject({
      status: 'held',
      error: { code: 'outcome-unknown', reason: { code: 'restored-from-backup' } },
      uncertain: { from: 0 },
    });
  // A new job is printed, so the agent has its lane; of the held ones nothing came out before it.
  const next = await print(again, [8]);
  expect(await again.ended(next)).toMatchObject({ status: 'printed' });
  expect(await again.pictures()).toHaveLength(pictures.length + 1);

  // The agent's journal knows how `waiting` ended. A person who wants its label again gets it all the same.
  await done('job', 'release', waiting, '--from', '1', '--data', again.dataDir);
  expect(await again.ended(waiting)).toMatchObject({ status: 'printed' });
  expect(await again.pictures()).toHaveLength(pictures.length + 2);
  await done('job', 'release', printing, '--from', '3', '--data', again.dataDir);
  expect(await again.admin.job(printing)).toMatchObject({ status: 'printed' });
  expect(await again.pictures()).toHaveLength(pictures.length + 2);
});

test('into an empty directory, from a service that does not run', async () => {
  const up = await start('stopped');
  await up.admin.importTemplate('default', TEMPLATE);
  await up.stop();
  const [file, fresh] = [join(place.path, 'of-stopped'), join(place.path, 'elsewhere')];
  await done('backup', file, '--data', up.dataDir);
  expect(await done('restore', file, '--data', fresh)).toContain('No job is held');
  copyFileSync(join(up.dataDir, 'platen.key'), join(fresh, 'platen.key'));
  const again = await start('elsewhere');
  expect((await again.admin.templates('default')).map(({ name }) => name)).toEqual(['numbered']);
});

test('under lanes in Redis that still have jobs, a restored service does not start', async () => {
  const env = { REDIS_URL: host.redisUrl, PLATEN_QUEUE_PREFIX: host.env.PLATEN_QUEUE_PREFIX };
  const up = await start('redis', env);
  const { id: idT } = await up.admin.importTemplate('default', TEMPLATE);
  const file = join(place.path, 'of-redis');
  await done('backup', file, '--data', up.dataDir);
  await done('virtual', 'fault', 'virtual-1', 'media-empty', '--data', up.dataDir);
  const job = await up.admin.print('default', { idT, printer: 'virtual-1', data: [{ number: '1' }] });
  await expect.poll(async () => (await up.admin.job(job)).reasons).toContain('media-empty');
  await up.kill();
  await expect
    .poll(async () => (await platen(['restore', file, '--data', up.dataDir, '--force'])).code, {
      timeout: 60_000,
    })
    .toBe(0);
  const options = { dataDir: up.dataDir, args: ['--virtual', '1'], env };
  const { code, output } = await refusedUp(options);
  expect(code).toBe(1);
  expect(output).toContain('1 lanes in Redis still have jobs');
  const elsewhere = await start('redis', { ...env, PLATEN_QUEUE_PREFIX: `${env.PLATEN_QUEUE_PREFIX}-2` });
  expect(await elsewhere.admin.printers()).toHaveLength(1);
});

test('without an embedded database there is nothing to back up', async () => {
  const { code, stderr } = await platen([
    'backup',
    join(place.path, 'none'),
    '--data',
    join(place.path, 'nowhere'),
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain('has no embedded database');
});
