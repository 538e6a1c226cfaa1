/** What single checks of the doctor find, without a service. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readStatus, StatusFile } from '../../src/agent/status-file.ts';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { folders, isLetWrite } from '../../src/cli/doctor/folders.ts';
import { permissions } from '../../src/cli/doctor/machine.ts';
import { jobsUnderWay } from '../../src/cli/doctor/printers.ts';
import { agents, lanes, service } from '../../src/cli/doctor/service.ts';
import type { Subject } from '../../src/cli/doctor/subject.ts';
import { ownAccount } from '../../src/server/store/own-account.ts';
import { nobody } from '../kit/programs/ordinary-user.ts';
import { onRedis } from '../kit/servers/backends.ts';
import { MAY_MOUNT, SmallDisk } from '../kit/servers/small-disk.ts';
import { httpPeer } from '../kit/wire/http-peer.ts';

const isRoot = process.getuid?.() === 0;

function subject(more: Partial<Subject> = {}): Subject {
  const dataDir = mkdtempSync(join(tmpdir(), 'platen-permissions-'));
  const none = {
    file: null,
    installed: null,
    isAgent: false,
    agent: null,
    folders: [],
    metricsUrl: null,
    service: null,
    client: null,
    status: null,
  };
  return { dataDir, places: {}, ...none, ...more };
}

const print = { template: 'Shelf', printer: 'zebra-1', settle: 2, wait: false };

test('a watched folder that is not there, is none, or whose account is not there', async () => {
  const { dataDir } = subject();
  const [file, own] = [join(dataDir, 'file'), join(dataDir, 'own')];
  writeFileSync(file, '');
  mkdirSync(own);
  const listed = [
    { ...print, directory: join(dataDir, 'none') },
    { ...print, directory: file },
    { ...print, directory: own, account: join(dataDir, 'none.json') },
    { ...print, directory: own, account: file },
  ];
  expect((await folders(subject({ folders: listed }))).map(({ result, detail }) => [result, detail])).toEqual(
    [
      ['failed', 'is not there'],
      ['failed', 'is no folder'],
      ['failed', expect.stringContaining('cannot read its account')],
      ['ok', 'is there, and can be written'],
    ],
  );
});

test.each([
  ['', true],
  ['ProtectSystem=strict\nReadWritePaths=\n', false],
  ['ProtectSystem=strict\nReadWritePaths=/srv/lab /var/spool\n', false],
  ['ReadWritePaths=/opt -/srv/labels\nProtectSystem=strict\n', true],
  ['ReadWritePaths=/srv\nProtectSystem=strict\n', true],
  ['ReadWritePaths=\nProtectSystem=full\n', true],
])('whether systemd lets a folder be written: %j', (shown, lets) => {
  expect(isLetWrite('/srv/labels', shown)).toBe(lets);
  expect(isLetWrite('/var/lib/platen/labels', shown)).toBe(true);
});

describe.runIf(isRoot)('what belongs to the wrong user', () => {
  test('a watched folder that the service’s user cannot write', async () => {
    const account = ownAccount(() => {});
    const { dataDir } = subject();
    chmodSync(dataDir, 0o755);
    const one = subject({
      folders: [{ ...print, directory: dataDir }],
      installed: { account, command: null },
    });
    expect(await folders(one)).toMatchObject([
      { result: 'failed', detail: `platen cannot read and write ${dataDir}` },
    ]);
    chownSync(dataDir, account.uid, account.gid);
    mkdirSync(join(dataDir, 'done'));
    expect(await folders(one)).toMatchObject([
      { result: 'failed', detail: `platen cannot read and write ${join(dataDir, 'done')}` },
    ]);
    chownSync(join(dataDir, 'done'), account.uid, account.gid);
    expect(await folders(one)).toMatchObject([{ result: 'ok' }]);
  });

  test('a database that other programs reach, since it is nobody’s', async () => {
    const one = subject();
    const home = join(one.dataDir, 'postgres');
    mkdirSync(home);
    chownSync(home, nobody?.uid ?? 0, nobody?.gid ?? 0);
    expect(await permissions(one)).toEqual([
      expect.objectContaining({
        result: 'warning',
        detail: expect.stringContaining(`${home} belongs to nobody`),
      }),
    ]);
  });

  test('a service that its user could not start: its configuration, its directory, its program', async () => {
    const account = ownAccount(() => {});
    const top = mkdtempSync(join(tmpdir(), 'platen-closed-'));
    const [file, command] = [join(top, 'platen.json'), join(top, 'true')];
    writeFileSync(file, '{}', { mode: 0o600 });
    copyFileSync('/bin/true', command);
    const one = subject({ file, installed: { account, command } });
    expect((await permissions(one)).map(({ result, detail }) => [result, detail])).toEqual([
      ['failed', expect.stringContaining(`cannot read ${file}`)],
      ['failed', expect.stringContaining(`${one.dataDir} is not for platen`)],
      ['failed', expect.stringMatching(`cannot run ${command}: .*EACCES`)],
    ]);
    // As the advice says.
    for (const path of [top, file, one.dataDir]) chownSync(path, account.uid, account.gid);
    expect((await permissions(one)).map(({ result }) => result)).toEqual(['ok']);
    // A program that is there, and ends.
    chmodSync(command, 0o755);
    copyFileSync('/bin/false', command);
    expect(await permissions(one)).toMatchObject([
      { result: 'failed', detail: expect.stringContaining('ends with 1') },
    ]);
  });
});

test('a wrong password is mended in the configuration, not by starting the server', async () => {
  const backend = await onRedis().open();
  try {
    const [redis, postgres] = [new URL(backend.redisUrl ?? ''), new URL(backend.databaseUrl ?? '')];
    redis.password = 'wrong';
    postgres.password = 'wrong';
    const places = { redisUrl: redis.href, databaseUrl: postgres.href };
    const found = await lanes(subject({ places }));
    expect(found).toMatchObject([
      {
        check: 'database',
        result: 'failed',
        advice: expect.stringMatching(/^Set user, password .* databaseUrl/),
      },
      { check: 'lanes', result: 'failed', advice: expect.stringMatching(/^Set user, password .* redisUrl/) },
    ]);
    expect(JSON.stringify(found)).not.toContain('wrong@');
  } finally {
    await backend.close();
  }
});

test.runIf(MAY_MOUNT)('an agent whose disk is full runs, though its status is an old one', async () => {
  const small = new SmallDisk(1);
  onTestFinished(() => small.stop());
  const at = new Date(Date.now() - 3_600_000);
  const status = {
    pid: process.pid,
    startedAt: at.toISOString(),
    report: {
      ...{ kind: 'agent' as const, agentId: 'agent-of-a-full-disk', name: 'dock', version: '0.1.0' },
      ...{ tenantId: null, at: at.toISOString(), online: true, printers: [] },
    },
    told: { at: at.toISOString(), error: null },
  };
  const written: boolean[] = [];
  const file = new StatusFile(small.path, (one) => written.push(one));
  const write = async () => {
    file.write(status);
    await file.settled();
  };
  const found = async () => await agents(subject({ isAgent: true, status: readStatus(small.path) }));
  await write();
  // Its process stands still.
  utimesSync(join(small.path, 'agent-status.json'), at, at);
  expect(await found()).toMatchObject([{ result: 'failed', detail: expect.stringMatching('^none runs') }]);
  small.fill();
  await write();
  expect(written).toEqual([true, false]);
  expect(await found()).toMatchObject([
    { check: 'agent', result: 'failed', detail: expect.stringContaining('could not write down') },
  ]);
});

test.each([
  ['not connected to the service: the service has revoked this agent', /another code/],
  ['not connected to the service: the connection was closed', /"service elsewhere"/],
])('an agent that is "%s" says so, with what helps', async (error, advice) => {
  const at = new Date().toISOString();
  const status = {
    ...{ pid: process.pid, startedAt: at, told: { at, error: `QueueError: ${error}` }, isOld: false },
    report: {
      ...{ kind: 'agent' as const, agentId: 'agent-at-a-branch', name: 'dock', version: '0.1.0' },
      ...{ tenantId: null, at, online: true, printers: [] },
    },
  };
  expect(await agents(subject({ isAgent: true, status }))).toMatchObject([
    { result: 'failed', detail: expect.stringContaining(error), advice: expect.stringMatching(advice) },
  ]);
});

test('a disk that takes nothing, at an agent on another machine', async () => {
  const at = new Date().toISOString();
  const named = { id: 'x', name: 'dock' };
  const job = {
    ...{ id: 'x', tenant: 'default', status: 'printing', labels: { total: 1, sent: 0, printed: 0 } },
    ...{
      reasons: ['agent-disk'],
      error: null,
      uncertain: null,
      printer: named,
      template: named,
      format: 'x',
    },
    ...{ orientation: 'portrait', copies: 1, records: 1, createdAt: at, updatedAt: at },
  };
  const { uri } = await httpPeer(
    (_, response) => void response.end(JSON.stringify({ jobs: [job], next: null })),
  );
  const client = new AdminClient({ url: `http://${new URL(uri).host}`, adminToken: 'a-token-for-tests' });
  expect(await jobsUnderWay(subject({ client }))).toMatchObject([
    { check: 'printer dock', result: 'failed', detail: expect.stringContaining('takes nothing') },
  ]);
});

test.each([
  ['none there', undefined, []],
  ['all arrive', { disabled: 0, oldestUndelivered: null }, [['ok', 'arrive']]],
  [
    'one tried a moment ago, one disabled',
    { disabled: 1, oldestUndelivered: new Date(Date.now() - 60_000).toISOString() },
    [['warning', 'one is disabled, and is told nothing']],
  ],
  [
    'one that is away, two disabled',
    { disabled: 2, oldestUndelivered: '2026-01-08T09:30:01.000Z' },
    [
      ['warning', '2 are disabled, and are told nothing'],
      ['warning', 'an event of 2026-01-08T09:30:01.000Z has not arrived yet'],
    ],
  ],
])('webhooks and alerts, %s', async (_, of, expected) => {
  const { uri } = await httpPeer((request, response) => {
    const ready = request.url === '/readyz';
    response.end(JSON.stringify(ready ? { status: 'ready', ...(of && { webhooks: of, alerts: of }) } : []));
  });
  const url = `http://${new URL(uri).host}`;
  const client = new AdminClient({ url, adminToken: 'x' });
  const found = await service(subject({ service: { url, adminToken: 'x' }, client }));
  for (const [what, command] of [
    ['webhooks', 'platen webhook list'],
    ['alerts', 'platen alert list'],
  ]) {
    const its = found.filter(({ check }) => check === what);
    expect(its.map(({ result, detail }) => [result, detail])).toEqual(expected);
    for (const { result, advice } of its) if (result === 'warning') expect(advice).toContain(command);
  }
});

test('what is set up beside jobs is a line each, and nothing of it a failure', async () => {
  let said = {};
  const { uri } = await httpPeer((request, response) => {
    response.end(JSON.stringify(request.url === '/readyz' ? { status: 'ready', ...said } : []));
  });
  const url = `http://${new URL(uri).host}`;
  const client = new AdminClient({ url, adminToken: 'x' });
  const besides = async (ready: object) => {
    said = ready;
    const found = await service(subject({ service: { url, adminToken: 'x' }, client }));
    for (const { result, advice } of found) expect(advice === undefined).toBe(result === 'ok');
    return found.slice(2).map(({ check, result, detail }) => [check, result, detail]);
  };
  expect(await besides({})).toEqual([]);
  const endsAt = '2026-12-01T10:00:00.000Z';
  const certificate = { host: 'print.example.com', endsAt, isSoon: false };
  const gateway = { agents: 2, connected: 1 };
  expect(await besides({ mail: { failed: null }, traces: { failed: null }, gateway, certificate })).toEqual([
    ['mail', 'ok', 'nothing has failed'],
    ['traces', 'ok', 'nothing has failed'],
    ['gateway', 'ok', '1 of 2 agents at other sites connected'],
    ['certificate', 'ok', `that of print.example.com is good until ${endsAt}`],
  ]);
  expect(
    await besides({
      mail: { failed: 'EAUTH' },
      traces: { failed: 'there was no answer' },
      gateway: { agents: 1, connected: 0 },
      certificate: { ...certificate, isSoon: true },
    }),
  ).toEqual([
    ['mail', 'warning', 'fails: EAUTH'],
    ['traces', 'warning', 'fails: there was no answer'],
    ['gateway', 'warning', '0 of 1 agent at other sites connected'],
    ['certificate', 'warning', `that of print.example.com is good until ${endsAt}`],
  ]);
});
