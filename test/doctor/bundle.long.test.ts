/** The support bundle of an installation that has secrets and label data wherever they can stand. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logLine } from '../../src/cli/doctor/bundle.ts';
import { Integrator, PlatenUp, platen } from '../kit/service/platen.ts';
import { useHost } from '../kit/service/use-host.ts';

const PATIENT = `Patient-${randomUUID()}`;
const PRINTER_PASSWORD = `printer "${randomUUID()}`;
const COMMUNITY = `community-${randomUUID()}`;

const host = useHost();
let up: PlatenUp;
beforeAll(async () => {
  up = await PlatenUp.start({
    dataDir: host.path('data'),
    args: ['--virtual-speed', '100', '--samples'],
    env: host.env,
  });
});
afterAll(() => up?.stop());

test('it says what there is, and holds no secret and no label data', async () => {
  const integrator = await Integrator.make(up);
  const { id } = await up.admin.importTemplate('default', {
    name: `Tube of ${PATIENT}`,
    width: 50,
    height: 25,
    fields: [{ name: 'patient' }],
    elements: [{ type: 'text', x: 2, y: 2, width: 46, height: 5, text: '{{patient}}', size: 3 }],
  });
  const job = await integrator.post({ idT: id, printer: 'virtual-1', data: [{ patient: PATIENT }] });
  await up.ended(job);
  const config = host.path('platen.json');
  const settings = {
    redisUrl: host.redisUrl,
    databaseUrl: host.databaseUrl,
    queuePrefix: host.env.PLATEN_QUEUE_PREFIX,
    folders: [{ directory: host.path('.'), template: `Tube of ${PATIENT}`, printer: 'virtual-1' }],
    service: { adminToken: up.adminToken, secretKey: `key-${randomUUID()}` },
    agent: {
      access: [{ host: 'labels.lab', user: 'somebody', password: PRINTER_PASSWORD }],
      discovery: { snmp: { targets: ['192.0.2.1'], community: COMMUNITY } },
      // A secret that also stands where nobody would look for one.
      name: `dock of ${up.adminToken}`,
    },
  };
  await writeFile(config, JSON.stringify(settings));
  await chmod(config, 0o600);
  const crashes = join(up.dataDir, 'crashes');
  await mkdir(crashes);
  await writeFile(join(crashes, 'half.json'), '{"at": "2026-');
  await writeFile(join(crashes, 'whole.json'), '{"origin": "test"}');
  const file = host.path('bundle.tar.gz');
  const { code, stdout, stderr } = await platen(
    ['doctor', '--data', up.dataDir, '--config', config, '--bundle', file, '--json'],
    { PLATEN_ADMIN_TOKEN: up.adminToken },
  );
  expect([code, stderr, JSON.parse(stdout).length > 5]).toEqual([0, '', true]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const entries = await unpackTar(gunzipSync(await readFile(file)));
  const parts = new Map(
    entries.map(({ header, data }) => [
      header.name.replace('platen-support/', ''),
      Buffer.from(data ?? []).toString(),
    ]),
  );
  expect([...parts.keys()]).toEqual([
    'findings.json',
    'system.json',
    'configuration.json',
    'agent-status.json',
    'printers.json',
    'agents.json',
    'jobs.json',
    'crashes.json',
    'log.jsonl',
  ]);
  expect(JSON.parse(parts.get('jobs.json') ?? '')).toContainEqual(
    expect.objectContaining({ id: job, status: 'printed', template: id }),
  );
  expect(JSON.parse(parts.get('crashes.json') ?? '')).toEqual([
    { file: 'half.json', unreadable: expect.stringContaining('JSON') },
    { origin: 'test' },
  ]);
  expect(JSON.parse(parts.get('agent-status.json') ?? '')).toMatchObject({ told: { error: null } });
  expect(JSON.parse(parts.get('system.json') ?? '')).toMatchObject({
    variables: expect.arrayContaining(['PLATEN_ADMIN_TOKEN']),
  });
  const form = new URLSearchParams(await readFile(join(up.dataDir, 'sample-account.form'), 'utf8'));
  const secrets = {
    'admin token': up.adminToken,
    'key of the data directory': (await readFile(join(up.dataDir, 'platen.key'), 'utf8')).trim(),
    'key of the configuration': settings.service.secretKey,
    'API secret': integrator.account.apiSecret,
    'secret of the sample account': form.get('client_secret') ?? '',
    'password of a printer': PRINTER_PASSWORD,
    'the same in JSON': JSON.stringify(PRINTER_PASSWORD).slice(1, -1),
    'SNMP community': COMMUNITY,
    'database password': new URL(host.databaseUrl).password,
    'Redis password': new URL(host.redisUrl).password,
    'label value': PATIENT,
  };
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(8);
    for (const [name, text] of parts) expect(text.includes(secret), `${name} holds the ${what}`).toBe(false);
  }
});

test('a line of the log keeps who and what, and no text that may quote a label', () => {
  const line = {
    level: 50,
    time: '2026-11-22T10:00:00.000Z',
    msg: 'job failed',
    job: 'j-1',
    printer: 'serial-00000001',
    value: PATIENT,
    err: {
      type: 'RenderError',
      message: `no room for ${PATIENT}`,
      code: 'overflow',
      stack: `RenderError: no room for ${PATIENT}\n    at draw (a.ts:1:2)`,
    },
  };
  expect(JSON.parse(logLine(JSON.stringify(line)))).toEqual({
    level: 50,
    time: line.time,
    msg: 'job failed',
    job: 'j-1',
    printer: 'serial-00000001',
    err: { type: 'RenderError', code: 'overflow', frames: ['    at draw (a.ts:1:2)'] },
  });
  expect(logLine(`{"msg": ${PATIENT}`)).toBe('[left out]');
  expect(logLine(PATIENT)).toBe('[left out]');
});
