/** Alerts as people get them: what needs somebody is told once, and once that it is over, by mail and in a chat. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type AlertSaid, alertMade, alertSaid, alertView } from '../../src/contract/alert.ts';
import type { PrinterDescription } from '../../src/contract/printer.ts';
import { readiness } from '../../src/contract/readiness.ts';
import { webhookMessage } from '../../src/contract/webhook.ts';
import { createLogger } from '../../src/log.ts';
import { SecretKey } from '../../src/server/secret-key.ts';
import { createPool, type Pool } from '../../src/server/store/pool.ts';
import { Alerts } from '../../src/server/webhooks/alerts.ts';
import { OwnCertificate } from '../../src/server/webhooks/own-certificate.ts';
import { codeOf, PRINTER, pointersOf, SECRET_KEY } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';
import { useWebhookReceiver } from '../kit/wire/webhook-receiver.ts';

const service = useService({
  redis: false,
  config: {
    webhookAllow: ['127.0.0.0/8'],
    mail: { smtpUrl: 'smtp://127.0.0.1:1', from: 'platen@example.com' },
  },
});
const acme = useTenant(service);
const receiver = useWebhookReceiver(service);
beforeAll(async () => {
  await service.tenant('globex');
});
beforeEach(async () => {
  await service.pool.query('TRUNCATE platen.agents, platen.printer_attention CASCADE');
  await service.pool.query("UPDATE platen.jobs SET status = 'canceled'");
  await service.pool.query('DELETE FROM platen.certificates');
});

const alerts = (method: string, body?: unknown, tenant = 'acme') =>
  service.admin(method, `/tenants/${tenant}/alerts`, body);
async function create(body: object, tenant = 'acme'): Promise<string> {
  return alertMade.parse((await alerts('POST', body, tenant)).body).id;
}
const chat = (path: string, more: object = {}) => create({ form: 'chat', to: receiver.base + path, ...more });
/** What happened so far happened earlier. */
const later = async (minutes: number) => {
  for (const [table, column] of [
    ['printer_attention', 'since'],
    ['jobs', 'updated_at'],
    ['jobs', 'created_at'],
    ['agents', 'seen_at'],
  ] as const) {
    const change = `${column} = ${column} - make_interval(mins => $1)`;
    await service.pool.query(`UPDATE platen.${table} SET ${change}`, [minutes]);
  }
};
/** One connection, which holds the lock of the watch: the service's own looks at nothing, and the test says when. */
let watching: Pool;
beforeAll(async () => {
  const database = { ...service.backend.database, idleTimeoutMillis: 0 };
  watching = createPool({ database, max: 1, logger: createLogger({ level: 'silent' }) });
  await watching.query("SELECT pg_advisory_lock(hashtextextended('platen.alerts', 0))");
});
afterAll(() => watching.end());
const watch = async () => {
  // A receiver is left out while the outcome of a delivery to it is written down.
  const underWay = `SELECT FROM platen.webhook_messages m JOIN platen.webhooks w ON w.id = m.webhook_id
    WHERE due_at IS NOT NULL AND disabled_at IS NULL
      AND (attempts = 0 OR attempts > (SELECT count(*) FROM platen.webhook_attempts WHERE message_id = m.id))`;
  const count = async () => (await service.pool.query(underWay)).rowCount;
  await expect.poll(count, { timeout: 30_000 }).toBe(0);
  await new Alerts(watching, new SecretKey(SECRET_KEY), true).watch();
};
const said = async (id: string): Promise<AlertSaid[]> => {
  const sql =
    'SELECT alert FROM platen.webhook_messages WHERE webhook_id = $1 AND alert IS NOT NULL ORDER BY at';
  return (await service.pool.query<{ alert: unknown }>(sql, [id])).rows.map((row) =>
    alertSaid.parse(row.alert),
  );
};
const kinds = async (id: string) =>
  (await said(id)).map(({ isOver, items }) => [isOver, ...items.map(({ kind, name }) => `${kind} ${name}`)]);
const EMPTY: Partial<PrinterDescription> = { state: 'stopped', reasons: ['media-empty'] };
const texts = (path: string) =>
  receiver.got
    .filter((one) => one.path === path)
    .map(({ body }) => z.strictObject({ text: z.string() }).parse(JSON.parse(body)).text);

test('a printer that needs somebody for long enough is one message, and one more when it does not', async () => {
  const id = await chat('/one');
  await service.agent([{ name: 'dock-1', ...EMPTY }]);
  await later(4);
  await watch();
  expect(await said(id)).toEqual([]);
  await later(1);
  await service.agent([{ name: 'dock-1', ...EMPTY }]);
  await watch();
  await watch();
  await service.agent([{ name: 'dock-1' }]);
  await watch();
  await watch();
  await receiver.arrived('/one', 2);
  expect(texts('/one').map((text) => text.replaceAll('\u200b', '').split('\n')[0])).toEqual([
    'Platen: printer dock-1 needs somebody (media empty)',
    'Platen: printer dock-1 does not need somebody any more',
  ]);
  expect(await said(id)).toMatchObject([{ after: null }, { after: expect.any(String) }]);
});

test('a hundred printers that lose one switch are one message, and one when the last is back', async () => {
  const id = await chat('/hall');
  const all = (changes: object, from = 0) =>
    service.agent(
      Array.from({ length: 100 }, (_, n) => ({
        ...{ id: `serial-${String(n).padStart(12, '0')}`, name: `p${n}` },
        ...(n >= from ? changes : {}),
      })),
    );
  await all({ state: 'unknown', reasons: ['offline'] });
  // Whoever is first waits for nobody else, but takes all that are not a minute behind.
  await service.pool.query(
    `UPDATE platen.printer_attention SET since = since + random() * interval '50 seconds' WHERE lane <> 'serial-000000000000'`,
  );
  await later(5);
  await all({ state: 'unknown', reasons: ['offline'] });
  await watch();
  expect((await said(id)).map(({ count, items }) => [count, items.length])).toEqual([[100, 50]]);
  await all({ state: 'unknown', reasons: ['offline'] }, 99);
  await watch();
  expect(await said(id)).toHaveLength(1);
  await all({});
  await watch();
  expect((await said(id)).map(({ isOver, count }) => [isOver, count])).toEqual([
    [false, 100],
    [true, 100],
  ]);
  await receiver.arrived('/hall', 2);
  expect(texts('/hall').join('\n')).toContain('and 50 more');
});

test('held jobs, a lane that grows, an agent that is away, and an old secret that ends', async () => {
  await service.agent([{ name: 'dock-1' }]);
  const held = await acme.newJob();
  await service.pool.query("UPDATE platen.jobs SET status = 'held' WHERE id = $1", [held]);
  await acme.newJob();
  await service.pool.query(
    `UPDATE platen.integrations SET old_secret_hash = 'x', old_secret_ends_at = now() + interval '1 day',
       secret_created_at = now() - interval '10 days'`,
  );
  const id = await chat('/all');
  await later(5);
  await service.agent([{ name: 'dock-1' }]);
  await watch();
  const [first] = await said(id);
  expect(first?.items.map(({ kind }) => kind).toSorted()).toEqual([
    'alert.held',
    'alert.lane',
    'alert.secret',
  ]);
  // Its agent is away: that is what is told, and not that jobs wait for it.
  await later(6);
  await watch();
  expect((await kinds(id)).at(-1)).toEqual([false, 'alert.agent Agent one']);
  // One that was revoked is not away.
  await service.pool.query(
    `INSERT INTO platen.enrolled_agents (id, name, public_key, origin, revoked_at) VALUES ('agent-one', 'One', 'key', 'https://x', now())`,
  );
  await watch();
  expect((await kinds(id)).at(-1)).toEqual([true, 'alert.agent Agent one']);
  await service.pool.query('DELETE FROM platen.enrolled_agents');
  await service.agent([{ name: 'dock-1' }]);
  await service.pool.query("UPDATE platen.jobs SET status = 'canceled'");
  await service.pool.query('UPDATE platen.integrations SET old_secret_hash = NULL');
  await watch();
  expect((await said(id)).filter(({ isOver }) => isOver)).toHaveLength(2);
  expect((await service.pool.query('SELECT FROM platen.alerts')).rowCount).toBe(0);
});

test('an update that went back is told, and that another is under way', async () => {
  const id = await chat('/update', { minutes: 1, alerts: ['alert.update'] });
  // An agent's clock may be wrong: what it says of tomorrow is now.
  const wentBack = { version: '9.9.9', at: new Date(Date.now() + 86_400_000).toISOString() };
  await service.agent([{}], { wentBack });
  await watch();
  expect(await said(id)).toEqual([]);
  await service.agent([{}], { wentBack: { ...wentBack, at: new Date(Date.now() - 61_000).toISOString() } });
  await watch();
  await watch();
  await service.agent([{}]);
  await watch();
  await receiver.arrived('/update', 2);
  expect(texts('/update').map((text) => text.split('\n')[0])).toEqual([
    'Platen: agent Agent one could not be updated to 9.9.9: the version before runs again',
    'Platen: agent Agent one is being updated again',
  ]);
});

test('the certificate of the service is told when its end is near, and a webhook’s old secret too', async () => {
  const id = await chat('/ends', { minutes: 1, alerts: ['alert.certificate', 'alert.secret'] });
  const own = new OwnCertificate(service.pool, receiver.base);
  const stops = new AbortController().signal;
  expect(await own.health()).toEqual({});
  await own.look(stops);
  const { host } = new URL(receiver.base);
  const endsAt = new X509Certificate(receiver.certificate).validToDate.toISOString();
  expect(await own.health()).toEqual({ certificate: { host, endsAt, isSoon: false } });
  await service.admin('POST', '/tenants/acme/webhooks', { url: `${receiver.base}/hook` });
  await service.pool.query(
    `UPDATE platen.webhooks SET old_sealed = sealed, old_ends_at = now() + interval '13 hours' WHERE form = 'signed'`,
  );
  await watch();
  expect(await said(id)).toEqual([]);
  // A day before its end, where it is good for ninety.
  await service.pool.query(
    "UPDATE platen.certificates SET starts_at = now() - interval '89 days', ends_at = now() + interval '1 day'",
  );
  await service.pool.query(
    `UPDATE platen.webhooks SET old_ends_at = now() + interval '11 hours' WHERE form = 'signed'`,
  );
  expect(await own.health()).toMatchObject({ certificate: { isSoon: true } });
  await watch();
  const [first] = await said(id);
  expect(first?.items.map(({ kind, name }) => [kind, name]).toSorted()).toEqual([
    ['alert.certificate', host],
    ['alert.secret', receiver.base],
  ]);
  const [text = ''] = (await receiver.arrived('/ends', 1)).map(({ body }) => body);
  expect(text).toMatch(/is good until \d{4}-\d\d-\d\d \d\d:\d\d UTC, and nobody has renewed it/);
  await own.look(stops);
  await service.pool.query("UPDATE platen.webhooks SET old_ends_at = NULL WHERE form = 'signed'");
  await watch();
  expect((await said(id)).map(({ isOver, count }) => [isOver, count])).toEqual([
    [false, 2],
    [true, 2],
  ]);
  // What does not answer leaves what is known; another address, or none, is another matter.
  await new OwnCertificate(service.pool, `https://${host.split(':')[0]}:1`).look(stops);
  expect(await own.health()).toEqual({});
  await own.look(stops);
  await new OwnCertificate(service.pool, undefined).look(stops);
  expect((await service.pool.query('SELECT FROM platen.certificates')).rowCount).toBe(0);
});

test('/readyz says that the mail server does not answer, and is ready', async () => {
  const ready = readiness.extend({ status: z.literal('ready') });
  await expect
    .poll(async () => ready.parse((await service.call('/readyz')).body).mail, { timeout: 30_000 })
    .toEqual({ failed: 'ESOCKET' });
});

test('a tenant hears of its own and shared printers only, and of none that people have hidden', async () => {
  const [acmes, globexes] = [
    await chat('/acme'),
    await create({ form: 'chat', to: `${receiver.base}/g` }, 'globex'),
  ];
  await service.agent([{ id: 'serial-0b0b0b0b0b0b', name: 'own', ...EMPTY }], {
    ...{ agentId: 'agent-of-acme', tenantId: 'acme' },
  });
  await service.agent([{ name: 'shared', ...EMPTY }]);
  await service.admin('POST', `/printers/${PRINTER}/hide`);
  await later(5);
  await service.agent([{ name: 'shared', ...EMPTY }]);
  await service.agent([{ id: 'serial-0b0b0b0b0b0b', name: 'own', ...EMPTY }], {
    ...{ agentId: 'agent-of-acme', tenantId: 'acme' },
  });
  await watch();
  expect(await kinds(acmes)).toEqual([[false, 'alert.printer own']]);
  expect(await kinds(globexes)).toEqual([]);
  await service.admin('POST', `/printers/${PRINTER}/show`);
  await watch();
  expect(await kinds(globexes)).toEqual([[false, 'alert.printer shared']]);
});

test('two instances that look at once tell it once; a name is no mark-up, and calls nobody', async () => {
  const id = await chat('/chat', { minutes: 1, alerts: ['alert.printer'] });
  const name = '<!channel> @all [x](https://evil.example)';
  await service.agent([{ name, ...EMPTY }]);
  await later(1);
  await Promise.all([watch(), watch(), watch()]);
  expect(await said(id)).toHaveLength(1);
  await receiver.arrived('/chat', 1);
  const [text = ''] = texts('/chat');
  expect(text).toContain('&lt;!');
  for (const mark of ['<', '@all', '](', '://']) expect(text).not.toContain(mark);
  const teams = await create({ form: 'teams', to: `${receiver.base}/teams`, minutes: 1 });
  await later(1);
  await watch();
  expect(await said(teams)).toHaveLength(1);
  const [card] = await receiver.arrived('/teams', 1);
  expect(JSON.parse(card?.body ?? '')).toMatchObject({
    ...{ type: 'message', attachments: [{ content: { type: 'AdaptiveCard' } }] },
  });
});

test('a chat’s address is a secret, and what is wrong is named', async () => {
  const id = await chat('/services/T0/B0/verysecret');
  const listed = z.array(alertView).parse((await alerts('GET')).body);
  expect(listed).toMatchObject([{ id, form: 'chat', to: new URL(receiver.base).host, minutes: 5 }]);
  const audit = (await service.pool.query('SELECT * FROM platen.audit')).rows;
  const stored = (await service.pool.query('SELECT * FROM platen.webhooks')).rows;
  expect(JSON.stringify([listed, audit, stored]) + service.log).not.toContain('verysecret');
  expect((await service.admin('GET', '/tenants/acme/webhooks')).body).toEqual([]);
  expect(codeOf(await service.admin('POST', `/tenants/acme/webhooks/${id}/secret`))).toBe(
    'webhook-not-found',
  );
  const quiet = { from: '22:00', until: '25:00', zone: 'Mars/Olympus' };
  for (const [body, pointers] of [
    [{ form: 'mail', to: 'hall' }, ['/to']],
    [{ form: 'mail', to: 'hall@example.com\r\nBcc: x@example.com' }, ['/to']],
    [{ form: 'chat', to: 'http://example.com/' }, ['/to']],
    [
      { form: 'chat', to: 'https://example.com/', minutes: 0, quiet },
      ['/minutes', '/quiet/until', '/quiet/zone'],
    ],
  ] as const)
    expect(pointersOf(await alerts('POST', body))).toEqual(pointers);
});

test('a mail that no server takes says why, and is tried again', async () => {
  const id = await create({ form: 'mail', to: 'hall@example.com' });
  await service.admin('POST', `/tenants/acme/webhooks/${id}/test`);
  const log = async () =>
    z.array(webhookMessage).parse((await service.admin('GET', `/tenants/acme/webhooks/${id}/messages`)).body);
  await vi.waitFor(
    async () =>
      expect((await log())[0]).toMatchObject({
        ...{ arrivedAt: null, dueAt: expect.any(String) },
        attempts: [{ status: null, answer: 'ESOCKET' }],
      }),
    { timeout: 20_000 },
  );
});
