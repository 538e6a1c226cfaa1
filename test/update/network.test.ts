/** Whether an update takes the network for missing: asked of the servers that the program itself would use. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Home } from '../../src/cli/update/home.ts';
import { networkIsThere } from '../../src/cli/update/network.ts';
import { supervisorOf } from '../../src/cli/update/supervisor.ts';
import { TestGateway } from '../kit/queue/over-gateway.ts';
import { type OpenBackend, onRedis, onServer } from '../kit/servers/backends.ts';
import { httpPeer } from '../kit/wire/http-peer.ts';

const DOWN = { redis: 'redis://127.0.0.1:1', database: 'postgres://x@127.0.0.1:1/x' };
const directory = mkdtempSync(join(tmpdir(), 'platen-network-'));
let backend: OpenBackend;
beforeAll(async () => {
  backend = await onRedis().open();
});
afterAll(async () => {
  await backend?.close();
  rmSync(directory, { recursive: true });
});

function file(name: 'agent.json' | 'platen.json', content: object): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test('by the configuration, and by the environment, which wins', async () => {
  const { redisUrl = '', databaseUrl = '' } = backend;
  const alone = (redis: string) => file('agent.json', { redisUrl: redis });
  expect(await networkIsThere(alone(redisUrl), {}, directory)).toBe(true);
  expect(await networkIsThere(alone(DOWN.redis), {}, directory)).toBe(false);
  expect(await networkIsThere(alone(DOWN.redis), { REDIS_URL: redisUrl }, directory)).toBe(true);
  expect(await networkIsThere(alone(redisUrl), { REDIS_URL: DOWN.redis }, directory)).toBe(false);
  expect(await networkIsThere(file('platen.json', { databaseUrl }), {}, directory)).toBe(true);
  expect(await networkIsThere(file('platen.json', {}), { DATABASE_URL: DOWN.database }, directory)).toBe(
    false,
  );
  expect(await networkIsThere(null, { REDIS_URL: DOWN.redis }, directory)).toBe(false);
});

test('of an agent at another site the service is asked, as far as the door of the agents', async () => {
  const own = await onServer().open({ migrated: true });
  onTestFinished(() => own.close());
  const gateway = await TestGateway.start(own.database);
  onTestFinished(() => gateway.stop());
  const portal = await httpPeer((_, response) => response.end('<p>Welcome to our network</p>'));
  const place = await gateway.enroll('agent-at-a-branch', null);
  const there = (origin: string) => {
    writeFileSync(join(directory, 'enrolment.json'), JSON.stringify({ ...place, name: 'Dock', origin }));
    return networkIsThere(file('agent.json', {}), {}, directory);
  };
  onTestFinished(() => rmSync(join(directory, 'enrolment.json')));
  expect(await there(gateway.origin)).toBe(true);
  expect(await there('http://127.0.0.1:1')).toBe(false);
  expect(await there(portal.uri.replace(/^ipp(.*)\/ipp\/print$/, 'http$1'))).toBe(false);
});

test('what cannot be read excuses no version', async () => {
  expect(
    await networkIsThere(file('agent.json', { redisUrl: 3 }), { DATABASE_URL: 'mysql://x' }, directory),
  ).toBe(true);
  expect(await networkIsThere(null, {}, directory)).toBe(true);
});

test('the environment is that of what runs the program, and not that of the update', async () => {
  symlinkSync('1.0.0', join(directory, 'current'));
  const home = new Home(directory);
  const launch = join(directory, 'launch');
  writeFileSync(launch, '#!/bin/sh\necho runs\nread -r line\n');
  chmodSync(launch, 0o755);
  const running = spawn(launch, { env: { REDIS_URL: DOWN.redis, EMPTY: '', EQUAL: 'a=b' } });
  onTestFinished(() => void running.kill('SIGKILL'));
  await once(running.stdout, 'data');
  writeFileSync(join(home.notes, 'launcher.pid'), String(running.pid));
  const environment = await (await supervisorOf(home))?.environment();
  expect(environment).toMatchObject({ REDIS_URL: DOWN.redis, EMPTY: '', EQUAL: 'a=b' });
  expect(environment).not.toHaveProperty('VITEST');
});
