/** `platen doctor` on real installations, each with one thing that is wrong. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { RunningPrograms } from '../kit/service/running.ts';
import { useDirectory } from '../kit/service/use-directory.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';

const findings = z.array(
  z.object({
    check: z.string(),
    result: z.enum(['ok', 'warning', 'failed']),
    detail: z.string(),
    advice: z.string().optional(),
  }),
);

const programs = new RunningPrograms();
const directory = useDirectory();
let backend: OpenBackend;
let road: BreakableRoad;
let redisUrl: string;
let up: PlatenUp;
beforeAll(async () => {
  backend = await onRedis().open();
  const redis = new URL(backend.redisUrl ?? '');
  road = new BreakableRoad(redis.hostname, Number(redis.port));
  await road.open();
  redis.port = String(road.port);
  redisUrl = redis.href;
  up = await PlatenUp.start({
    dataDir: at('data'),
    args: ['--virtual-speed', '100'],
    env: {
      REDIS_URL: redisUrl,
      DATABASE_URL: backend.databaseUrl ?? '',
      PLATEN_QUEUE_PREFIX: backend.prefix,
    },
  });
});
afterEach(() => programs.end());
afterAll(async () => {
  await up?.stop();
  await road?.close();
  await backend?.close();
});

const at = (name: string) => join(directory.path, name);

/** What it finds; of what is not in order it has to say what to do, and the exit code says whether anything failed. */
async function examined(args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await platen(['doctor', '--json', ...args], env);
  const found = findings.parse(JSON.parse(stdout));
  for (const { result, advice, check } of found) expect(advice === undefined, check).toBe(result === 'ok');
  expect(code, stderr).toBe(found.some(({ result }) => result === 'failed') ? 1 : 0);
  return found;
}

async function written(name: string, content: object): Promise<string> {
  await writeFile(at(name), JSON.stringify(content));
  await chmod(at(name), 0o600);
  return at(name);
}

/** The lanes and the database of `up`, as its configuration names them. */
function places() {
  return { redisUrl, databaseUrl: backend.databaseUrl, queuePrefix: backend.prefix };
}

test('an installation in order: everything was looked at, in the order in which one rests on the other', async () => {
  const config = await written('platen.json', places());
  const found = await examined(['--config', config, '--data', up.dataDir]);
  expect(found.filter(({ result }) => result !== 'ok')).toEqual([]);
  const checks = found.map(({ check }) => check).filter((check) => !/^(name|agent) /.test(check));
  expect([...new Set(checks)]).toEqual([
    'configuration',
    'program',
    'permissions',
    'disk',
    'clock',
    'service',
    'database',
    'lanes',
    'printer virtual-1',
    'jobs that need a person',
  ]);
  expect(found.filter(({ check }) => check === 'clock').map(({ detail }) => detail)).toEqual([
    'agrees with that of the service',
    'agrees with that of PostgreSQL',
    'agrees with that of Redis',
  ]);
});

test('a misspelt key is named with the one that was meant', async () => {
  const config = await written('misspelt.json', { ...places(), redisUrI: 'x' });
  const [first] = await examined(['--config', config, '--data', up.dataDir]);
  expect(first).toMatchObject({ check: 'configuration', result: 'failed' });
  expect(first?.detail).toContain('did you mean "redisUrl"?');
});

test('what others can read, and what nobody can', async () => {
  await mkdir(at('open'), { mode: 0o755 });
  await chmod(at('open'), 0o755);
  const open = await examined(['--data', at('open')]);
  expect(open).toContainEqual(
    expect.objectContaining({ check: 'permissions', result: 'warning', advice: `chmod 0700 ${at('open')}` }),
  );
  const none = await examined(['--data', at('nothing')]);
  expect(none).toContainEqual(expect.objectContaining({ check: 'permissions', result: 'warning' }));
});

test('a name that nobody knows', async () => {
  const config = await written('agent-nowhere.json', { redisUrl: 'redis://nowhere.invalid:6379' });
  const found = await examined(['--config', config, '--data', at('nothing')]);
  expect(found).toContainEqual(expect.objectContaining({ check: 'name nowhere.invalid', result: 'failed' }));
  expect(found).toContainEqual(
    expect.objectContaining({
      check: 'lanes',
      result: 'failed',
      detail: expect.stringContaining('nowhere.invalid:6379'),
    }),
  );
});

test('lanes that are away: said from here, and by the service that runs', async () => {
  const config = await written('platen.json', places());
  await road.close();
  try {
    const found = await examined(['--config', config, '--data', up.dataDir]);
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'lanes',
        result: 'failed',
        detail: expect.stringContaining(`:${road.port} `),
      }),
    );
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'service',
        result: 'failed',
        detail: expect.stringContaining('queue cannot be reached'),
      }),
    );
    // Without the configuration the service alone says it.
    const alone = await examined(['--data', up.dataDir]);
    expect(alone).toContainEqual(expect.objectContaining({ check: 'service', result: 'failed' }));
  } finally {
    await road.open();
  }
});

test('an agent with another prefix than its service, and one with the right one', async () => {
  const printer = new VirtualZplPrinter({
    name: 'alone',
    outDir: at('alone'),
    dpi: 203,
    width: 50,
    height: 25,
  });
  await printer.start();
  const settings = {
    redisUrl: backend.redisUrl,
    name: 'dock 3',
    printers: [
      { uri: `socket://127.0.0.1:${printer.port}`, name: 'alone' },
      { uri: 'socket://127.0.0.1:1', name: 'never there' },
    ],
  };
  for (const [queuePrefix, dataDir, result] of [
    [`${backend.prefix}x`, at('agent-1'), 'failed'],
    [backend.prefix, at('agent-2'), 'ok'],
  ] as const) {
    const config = await written(`agent-${result}.json`, { ...settings, queuePrefix });
    const agent = programs.start(['agent', '--config', config, '--data', dataDir]);
    await agent.until(() => agent.said().includes('this agent serves the printer'));
    const found = await examined(['--config', config, '--data', dataDir]);
    const lanes = found.find(({ check }) => check === 'lanes');
    expect(lanes?.result).toBe(result);
    if (result === 'failed')
      expect(lanes?.detail).toContain(`no service is there with the prefix "${queuePrefix}"`);
    expect(found).toContainEqual(expect.objectContaining({ check: 'agent', result: 'ok' }));
    expect(found).toContainEqual(expect.objectContaining({ check: 'printer alone', result: 'ok' }));
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'printer never there',
        result: 'failed',
        detail: expect.stringContaining('ECONNREFUSED'),
      }),
    );
    agent.kill('SIGTERM');
    expect(await agent.exited(40_000)).toBe(0);
    const stopped = await examined(['--config', config, '--data', dataDir]);
    expect(stopped).toContainEqual(
      expect.objectContaining({
        check: 'agent',
        result: 'failed',
        detail: expect.stringContaining('none runs'),
      }),
    );
    // Now the command asks the printers itself.
    expect(stopped).toContainEqual(
      expect.objectContaining({
        check: 'printer alone',
        detail: expect.stringContaining('asked by this command'),
      }),
    );
    expect(stopped).toContainEqual(
      expect.objectContaining({ check: 'printer never there', result: 'failed' }),
    );
  }
  await printer.stop();
});

test('a test label comes out, and leaves no template behind', async () => {
  const before = await up.pictures();
  const found = await examined(['--data', up.dataDir, '--print', 'virtual-1']);
  expect(found.at(-1)).toMatchObject({ check: 'test label', result: 'ok' });
  expect(await up.pictures()).toHaveLength(before.length + 1);
  expect(await up.admin.templates('default')).toEqual([]);
  const after = await examined(['--data', up.dataDir]);
  expect(after.find(({ check }) => check === 'printer virtual-1')?.detail).toContain('printed last at');
  const unknown = await examined(['--data', up.dataDir, '--print', 'nope']);
  expect(unknown.at(-1)).toMatchObject({ check: 'test label', result: 'failed' });
});

test('for a person: a line for each, and under it what to do', async () => {
  const { code, stdout } = await platen(['doctor', '--data', at('nothing')]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ok {7}configuration: .*\n/);
  expect(stdout).toMatch(/^warning {2}service: none has run on .*\n {9}→ Start it/m);
});
