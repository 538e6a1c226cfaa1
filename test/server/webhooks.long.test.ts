/** Webhooks as a receiver sees them: each ended job's event arrives, signed and with one ID, whatever happens between. */
import { beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { jobView } from '../../src/contract/job.ts';
import { webhookMessage, webhookReplayed, webhookSecret, webhookView } from '../../src/contract/webhook.ts';
import { SecretKey } from '../../src/server/secret-key.ts';
import { Webhooks } from '../../src/server/webhooks/webhooks.ts';
import { codeOf, pointersOf, SECRET_KEY } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';
import { useWebhookReceiver, verified } from '../kit/wire/webhook-receiver.ts';

const service = useService({ redis: false, config: { webhookAllow: ['127.0.0.0/8'] } });
const acme = useTenant(service);
const receiver = useWebhookReceiver(service);

beforeAll(async () => {
  await service.tenant('globex');
});

const hooks = (method: string, path = '', body?: unknown) =>
  service.admin(method, `/tenants/acme/webhooks${path}`, body);
const create = async (path: string, more: object = {}) =>
  webhookSecret.parse((await hooks('POST', '', { url: receiver.base + path, ...more })).body);
const deliveries = async (id: string) =>
  z.array(webhookMessage).parse((await hooks('GET', `/${id}/messages`)).body);
const hook = async (id: string) =>
  z
    .array(webhookView)
    .parse((await hooks('GET')).body)
    .find((one) => one.id === id);

async function ended(changes: object): Promise<string> {
  const id = await acme.newJob();
  const labels = { sent: 1, printed: 0 };
  await service.report(jobReport(id, { at: new Date().toISOString(), seq: 1, labels, ...changes }));
  return id;
}
const printed = () => ended({ status: 'printed', labels: { sent: 1, printed: 1 } });

/** Has the message that was tried and failed be due at once. */
const hurry = () =>
  service.pool.query('UPDATE platen.webhook_messages SET due_at = now() WHERE due_at IS NOT NULL');

test('each end of a job is one signed message, which says what the job’s address says', async () => {
  const { id, secret } = await create('/all');
  const fault = { code: 'printer-refused', message: 'The printer refused it' };
  const jobs = {
    'job.printed': await printed(),
    'job.failed': await ended({ status: 'failed', error: fault }),
    'job.held': await ended({ status: 'held', error: fault, uncertain: { from: 0, to: 1 } }),
    'job.canceled': await acme.newJob(),
  };
  await service.admin('POST', `/jobs/${jobs['job.canceled']}/cancel`);
  const all = (await receiver.arrived('/all', 4)).map((one) => verified(one, secret));
  expect(all.map(({ type }) => type).toSorted()).toEqual(Object.keys(jobs).toSorted());
  for (const [type, job] of Object.entries(jobs)) {
    const shown = jobView.strip().parse((await service.admin('GET', `/jobs/${job}`)).body);
    expect(all.find((one) => one.type === type)?.data, type).toEqual(shown);
  }
  const log = await deliveries(id);
  expect(new Set(log.map((one) => one.id))).toEqual(
    new Set(receiver.got.map(({ headers }) => headers['webhook-id'])),
  );
  await vi.waitFor(async () =>
    expect((await deliveries(id)).map(({ attempts }) => attempts[0]?.status)).toEqual([204, 204, 204, 204]),
  );
});

test('only what it asks for, only of its tenant, and nothing where there is no webhook', async () => {
  await service.admin('POST', '/tenants/globex/webhooks', { url: `${receiver.base}/globex` });
  await printed();
  expect((await service.pool.query('SELECT FROM platen.webhook_messages')).rowCount).toBe(0);
  const { secret } = await create('/failed', { events: ['job.failed'] });
  await printed();
  await ended({ status: 'failed', error: { code: 'internal', message: 'x' } });
  const [one] = await receiver.arrived('/failed', 1);
  expect(one && verified(one, secret).type).toBe('job.failed');
  expect((await service.pool.query('SELECT FROM platen.webhook_messages')).rowCount).toBe(1);
});

test('an answer of 500 is tried again after some 5 s, with the same ID and a signature of then', async () => {
  receiver.answers = { '/weak': 500 };
  const { id, secret } = await create('/weak');
  const job = await printed();
  await receiver.arrived('/weak', 1);
  await vi.waitFor(async () => expect((await hook(id))?.failingSince).not.toBeNull());
  const [waits] = await deliveries(id);
  expect(waits).toMatchObject({ job, arrivedAt: null, attempts: [{ status: 500, answer: 'answer 500' }] });
  const wait = Date.parse(waits?.dueAt ?? '') - Date.parse(waits?.attempts[0]?.at ?? '');
  expect(wait).toBeGreaterThan(4_000);
  expect(wait).toBeLessThan(6_000);
  receiver.answers = {};
  const [first, second] = await receiver.arrived('/weak', 2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second && verified(second, secret).data).toMatchObject({ id: job });
  await vi.waitFor(async () => expect((await hook(id))?.failingSince).toBeNull());
});

test('Retry-After is kept to', async () => {
  receiver.answers = { '/busy': 429 };
  const { id } = await create('/busy');
  await printed();
  await vi.waitFor(async () => expect((await deliveries(id))[0]?.attempts).toHaveLength(1), {
    timeout: 10_000,
  });
  expect(Date.parse((await deliveries(id))[0]?.dueAt ?? '') - Date.now()).toBeGreaterThan(3_500_000);
});

test('410 ends it, and a replay begins again', async () => {
  receiver.answers = { '/gone': 410 };
  const { id } = await create('/gone');
  const job = await printed();
  await vi.waitFor(async () => expect((await hook(id))?.disabled?.why).toBe('gone'), { timeout: 10_000 });
  await printed();
  expect(await deliveries(id)).toHaveLength(1);
  receiver.answers = {};
  expect(webhookReplayed.parse((await hooks('POST', `/${id}/replay`)).body)).toEqual({ messages: 1 });
  const [first, again] = await receiver.arrived('/gone', 2);
  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(await hook(id)).toMatchObject({ disabled: null });
  await vi.waitFor(async () => expect((await deliveries(id))[0]).toMatchObject({ job, dueAt: null }));
  // One that has arrived is sent again only where it is named.
  expect((await hooks('POST', `/${id}/replay`)).body).toEqual({ messages: 0 });
  const message = (await deliveries(id))[0]?.id;
  expect((await hooks('POST', `/${id}/replay`, { message })).body).toEqual({ messages: 1 });
  expect((await receiver.arrived('/gone', 3))[2]?.headers['webhook-id']).toBe(message);
});

test('five days without an arrival disable it, and it says so', async () => {
  receiver.answers = { '/dead': 500 };
  const { id } = await create('/dead');
  await printed();
  await vi.waitFor(async () => expect((await hook(id))?.failingSince).not.toBeNull(), { timeout: 10_000 });
  expect((await hook(id))?.disabled).toBeNull();
  await service.pool.query("UPDATE platen.webhooks SET failing_since = now() - interval '5 days 1 second'");
  await hurry();
  await vi.waitFor(async () => expect((await hook(id))?.disabled?.why).toBe('failing'), { timeout: 10_000 });
});

test('an endpoint that hangs holds up no other, and one that is away gets its message later', async () => {
  receiver.answers = { '/hangs': null };
  await create('/hangs');
  const away = webhookSecret.parse((await hooks('POST', '', { url: 'https://127.0.0.1:1/' })).body);
  await create('/works');
  for (let n = 0; n < 3; n++) await printed();
  await receiver.arrived('/hangs', 3);
  await receiver.arrived('/works', 3);
  await printed();
  await receiver.arrived('/works', 4);
  await vi.waitFor(async () =>
    expect((await deliveries(away.id)).at(-1)?.attempts[0]).toMatchObject({
      status: null,
      answer: 'ECONNREFUSED',
    }),
  );
  await service.pool.query('UPDATE platen.webhooks SET url = $2 WHERE id = $1', [
    away.id,
    `${receiver.base}/back`,
  ]);
  await hurry();
  const ids = new Set((await receiver.arrived('/back', 4)).map(({ headers }) => headers['webhook-id']));
  expect(ids.size).toBe(4);
});

test('what an instance had in hand when it was killed is sent by another, under its ID', async () => {
  await create('/later');
  await service.pool.query("UPDATE platen.webhooks SET disabled_at = now() WHERE url LIKE '%/later'");
  const other = new Webhooks(service.pool, new SecretKey(SECRET_KEY));
  const { rows } = await service.pool.query<{ id: string }>(
    `INSERT INTO platen.webhook_messages (webhook_id, event) SELECT id, 'webhook.test' FROM platen.webhooks RETURNING id`,
  );
  const [both] = await Promise.all([
    service.pool
      .query("UPDATE platen.webhooks SET disabled_at = NULL WHERE url LIKE '%/later'")
      .then(() => Promise.all([other.take([]), other.take([])])),
  ]);
  // Whoever was first has it alone: the service itself, or one of these two.
  expect(both.flat().length).toBeLessThanOrEqual(1);
  await hurry();
  const [one] = await receiver.arrived('/later', 1);
  expect(one?.headers['webhook-id']).toBe(rows[0]?.id);
});

test('while the secret is changed both sign; the test event is verified with either', async () => {
  const { id, secret } = await create('/rotates');
  const { secret: other } = webhookSecret.parse((await hooks('POST', `/${id}/secret`)).body);
  expect(other).not.toBe(secret);
  await hooks('POST', `/${id}/test`);
  const [both] = await receiver.arrived('/rotates', 1);
  for (const one of [secret, other])
    expect(both && verified(both, one)).toMatchObject({ type: 'webhook.test', data: {} });
  await service.pool.query('UPDATE platen.webhooks SET old_ends_at = now()');
  await hooks('POST', `/${id}/test`);
  const [, alone] = await receiver.arrived('/rotates', 2);
  expect(alone && verified(alone, other).type).toBe('webhook.test');
  expect(() => alone && verified(alone, secret)).toThrow();
  const stored = JSON.stringify((await service.pool.query('SELECT * FROM platen.webhooks')).rows);
  for (const one of [secret, other]) {
    expect(stored + service.log + JSON.stringify((await hooks('GET')).body)).not.toContain(one.slice(6));
  }
});

test('a secret that another key has sealed is said, and nothing is sent unsigned', async () => {
  const { id } = await create('/sealed');
  await service.pool.query('UPDATE platen.webhooks SET sealed = $1', [
    new SecretKey('another key of some 32 characters').seal('whsec_AAAA', `webhook ${id}`),
  ]);
  await hooks('POST', `/${id}/test`);
  await vi.waitFor(
    async () =>
      expect((await deliveries(id))[0]?.attempts[0]).toMatchObject({
        ...{ status: null, answer: expect.stringContaining('PLATEN_KEY') },
      }),
    { timeout: 10_000 },
  );
  expect(receiver.got).toEqual([]);
});

test('/readyz is ready whatever receivers do, and says what is disabled and what waits', async () => {
  const ready = async () => (await service.call('/readyz')).body;
  expect(await ready()).toEqual({ status: 'ready' });
  receiver.answers = { '/down': 500 };
  const { id } = await create('/down');
  expect(await ready()).toEqual({ status: 'ready', webhooks: { disabled: 0, oldestUndelivered: null } });
  await hooks('POST', `/${id}/test`);
  const [{ at } = { at: '' }] = await deliveries(id);
  expect(await ready()).toEqual({ status: 'ready', webhooks: { disabled: 0, oldestUndelivered: at } });
  await service.pool.query('UPDATE platen.webhooks SET disabled_at = now()');
  const webhooks = { disabled: 1, oldestUndelivered: null };
  expect(await ready()).toEqual({ status: 'ready', webhooks });
  // Receivers of alerts are kept with them, and listed elsewhere.
  const chat = { form: 'chat', to: `${receiver.base}/chat` };
  expect((await service.admin('POST', '/tenants/acme/alerts', chat)).status).toBe(201);
  const alerts = { disabled: 0, oldestUndelivered: null };
  expect(await ready()).toEqual({ status: 'ready', webhooks, alerts });
});

test('another tenant’s webhook is as if it did not exist; what is no https address is refused', async () => {
  const { id } = await create('/mine');
  for (const [method, path] of [
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/secret'],
    ['POST', '/replay'],
    ['GET', '/messages'],
  ] as const) {
    const answer = await service.admin(method, `/tenants/globex/webhooks/${id}${path}`);
    expect(codeOf(answer), path).toBe('webhook-not-found');
  }
  const refused = await hooks('POST', '', { url: 'http://example.com/', events: ['job.lost'] });
  expect([codeOf(refused), pointersOf(refused)]).toEqual(['payload-invalid', ['/url', '/events/0']]);
  expect((await hooks('DELETE', `/${id}`)).status).toBe(204);
  expect((await hooks('GET')).body).toEqual([]);
});
