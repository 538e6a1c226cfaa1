/** A whole run at the most talkative log level, and not one secret or label value in what it wrote. */
import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Integrator, PlatenUp } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';
import { useHost } from '../kit/service/use-host.ts';

const PATIENT = `Patient-${randomUUID()}`;
const TEMPLATE = smallLabel(
  'tube',
  ['patient'],
  [
    { type: 'text', x: 2, y: 2, width: 46, height: 5, text: '{{patient}}', size: 3 },
    { type: 'barcode', symbology: 'ean13', x: 5, y: 8, height: 8, value: '{{ean}}' },
  ],
);

const host = useHost();
let up: PlatenUp;
beforeAll(async () => {
  up = await PlatenUp.start({
    dataDir: host.path('data'),
    args: ['--virtual-speed', '100', '--samples'],
    env: { LOG_LEVEL: 'trace', ...host.env },
  });
});
afterAll(() => up?.stop());

test('the output of a run holds no secret and no label contents', async () => {
  const integrator = await Integrator.make(up);
  const { id } = await up.admin.importTemplate('default', TEMPLATE);
  const good = { idT: id, printer: 'virtual-1', data: [{ patient: PATIENT, ean: '4006381333931' }] };

  // What goes well, and all the ways to be refused and to fail that have such a thing at hand.
  const printed = await integrator.post(good);
  expect(await up.ended(printed)).toMatchObject({ status: 'printed' });
  const bad = { ...good, data: [{ patient: PATIENT, ean: `no-${PATIENT}` }] };
  const unprintable = await integrator.request('/v2/jobs', bad, { 'idempotency-key': 'bad' });
  expect([unprintable.status, await unprintable.text()]).toEqual([
    400,
    expect.stringContaining('data-unprintable'),
  ]);
  const refused = await integrator.request(
    '/v2/jobs',
    { ...good, [PATIENT]: PATIENT },
    { 'idempotency-key': 'k' },
  );
  expect(refused.status).toBe(400);
  const query = await integrator.request(`/v2/jobs?access_token=${integrator.token}`, good, {
    'idempotency-key': 'q',
  });
  expect(query.status).toBe(201);
  const wrong = await fetch(integrator.account.tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: integrator.account.apiKey,
      client_secret: `${integrator.account.apiSecret}x`,
      audience: integrator.account.audience,
    }),
  });
  expect(wrong.status).toBe(401);
  expect(await up.stop()).toBe(0);

  const output = up.output;
  const form = new URLSearchParams(await readFile(join(up.dataDir, 'sample-account.form'), 'utf8'));
  const secrets = {
    'API secret': integrator.account.apiSecret,
    'access token': integrator.token,
    'admin token': up.adminToken,
    'key of the data directory': (await readFile(join(up.dataDir, 'platen.key'), 'utf8')).trim(),
    'label value': PATIENT,
    'secret of the sample account': form.get('client_secret') ?? '',
    'database password': new URL(inject('databaseUrl')).password,
    'Redis password': new URL(inject('redisUrl')).password,
  };
  // The run was logged at all, and by every part.
  for (const part of ['service listens', 'agent started', printed]) expect(output).toContain(part);
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(8);
    expect(output.includes(secret), `the output holds the ${what}`).toBe(false);
  }
});

test('files that hold secrets are for their owner only', async () => {
  for (const file of ['service.json', 'sample-account.form', 'platen.key']) {
    expect((await stat(join(up.dataDir, file))).mode & 0o077, file).toBe(0);
  }
});
