/** A shared printer that is granted to some tenants is to the others as if it did not exist. */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { statusName } from '../../drivers/ipp/names.ts';
import { integrationCreated, type Permission } from '../../src/contract/admin.ts';
import { agentView } from '../../src/contract/agent-view.ts';
import { jobReprinted } from '../../src/contract/job-actions.ts';
import { jobDetails } from '../../src/contract/job-details.ts';
import { auditPage } from '../../src/contract/people.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { createLogger } from '../../src/log.ts';
import { ChangeFeed, type News } from '../../src/server/events/change-feed.ts';
import { SecretKey } from '../../src/server/secret-key.ts';
import { Alerts } from '../../src/server/webhooks/alerts.ts';
import { Collected } from '../kit/queue/samples.ts';
import { type Answer, codeOf, jobIdOf, newKey, PRINTER, SECRET_KEY } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';

const ALL: Permission[] = ['jobs:enqueue', 'jobs:read', 'jobs:cancel', 'printers:read'];
/** Shared, and every tenant's. */
const OPEN = 'serial-cccccccccccc';
const TENANTS = ['acme', 'globex'] as const;
type Tenant = (typeof TENANTS)[number];

const service = useService({ redis: false, config: { ipp: true, printNode: true, sweepInterval: 600_000 } });
const tokens = { acme: '', globex: '' };
const keys = { acme: '', globex: '' };
const templates = { acme: '', globex: '' };
let operator: SignedIn;
let keeper: SignedIn;

type Named = { id: string; name: string; number: number; uuid: string };
let real: Named;
const none: Named = {
  id: 'serial-ffffffffffff',
  name: 'Nowhere',
  number: 987_654,
  uuid: '6f1f9a52-5a1c-4b5e-9d0c-0f5d1e2b3c4d',
};

beforeAll(async () => {
  for (const tenant of TENANTS) {
    await service.tenant(tenant);
    const made = await service.admin('POST', `/tenants/${tenant}/integrations`, { name: 'test', scope: ALL });
    const account = integrationCreated.parse(made.body);
    tokens[tenant] = await service.token(account);
    keys[tenant] = `Basic ${Buffer.from(`${account.printNodeKey}:`).toString('base64')}`;
    templates[tenant] = await service.template(tenant);
  }
  operator = await SignedIn.as(service, 'globex', 'admin');
  // Of no tenant that it is granted to.
  await service.tenant('default');
  keeper = await SignedIn.asKeeper(service);
});
beforeEach(async () => {
  await service.agent([{}, { id: OPEN, name: 'Open' }]);
  await grant(null);
  const offered = await service.admin('POST', `/printers/${PRINTER}/offer`, {});
  const listed = z.array(z.object({ id: z.int(), name: z.string() }));
  const numbers = listed.parse((await printNode('/printers')).body);
  real = {
    ...{ id: PRINTER, name: 'Zebra', number: numbers.find(({ name }) => name === 'Zebra')?.id ?? 0 },
    uuid: printerDetails.parse(offered.body).ipp?.split('/').at(-1) ?? '',
  };
});

const grant = (tenants: readonly string[] | null) =>
  service.admin('PUT', `/printers/${PRINTER}/grants`, { tenants });
const seen = async () => printerDetails.parse((await service.admin('GET', `/printers/${PRINTER}`)).body);
const v2 = (path: string, body?: object, tenant: Tenant = 'globex') =>
  service.call(`/v2${path}`, { token: tokens[tenant], tenant, body, ...(body && { key: newKey() }) });
const post = (body: object, tenant: Tenant = 'globex') =>
  v2('/jobs', { idT: templates[tenant], ...body }, tenant);
const printNode = (path: string, body?: object) =>
  service.call(`/printnode${path}`, { headers: { authorization: keys.globex }, body });
const details = async (id: string) => jobDetails.parse((await service.admin('GET', `/jobs/${id}`)).body);
const newJob = async (tenant: Tenant = 'globex', printerId: string = PRINTER) =>
  jobIdOf(await post({ printerId }, tenant));
const moved = async (printer: Named) =>
  service.admin('POST', `/jobs/${await newJob('globex', OPEN)}/move`, { printerId: printer.id });
async function reprinted(body: object): Promise<Answer> {
  const id = await newJob('globex', OPEN);
  await service.pool.query(`UPDATE platen.jobs SET status = 'printed' WHERE id = $1`, [id]);
  return await service.admin('POST', `/jobs/${id}/reprint`, body);
}
async function ipp(printer: string): Promise<string> {
  const uri = `${service.url.replace('http', 'ipp')}/ipp/print/${printer}`;
  const response = await fetch(uri.replace(/^ipp/, 'http'), {
    method: 'POST',
    body: new Uint8Array(encodeIpp(ippRequest('Validate-Job', uri))),
    headers: { 'content-type': 'application/ipp', authorization: keys.globex },
  });
  return statusName(decodeIpp(Buffer.from(await response.arrayBuffer())).code);
}

/** What each surface says to globex of a printer. */
const SURFACES: Record<string, (of: Named) => Promise<Answer | string>> = {
  'a job by ID': ({ id }) => post({ printerId: id }),
  'a job by name': ({ name }) => post({ printer: name }),
  'a job by an administrator': ({ id }) =>
    service.admin('POST', '/tenants/globex/jobs', { idT: templates.globex, printerId: id }),
  'a validation by ID': ({ id }) => v2('/jobs/validate', { idT: templates.globex, printerId: id }),
  'a validation by name': ({ name }) => v2('/jobs/validate', { idT: templates.globex, printer: name }),
  'a job that is moved': moved,
  'a job that is printed again': ({ id }) => reprinted({ printerId: id }),
  'a test label': ({ id }) => operator.call(`/app/printers/${id}/test`, { body: { tenant: 'globex' } }),
  'the console’s page': ({ id }) => operator.call(`/app/printers/${id}`),
  'what is done to a printer': ({ id }) => operator.call(`/app/printers/${id}/clear`, { body: {} }),
  'PrintNode’s printer': ({ number }) => printNode(`/printers/${number}`),
  'IPP by its address': ({ uuid }) => ipp(uuid),
  'IPP by its number': ({ number }) => ipp(String(number)),
  'IPP by its ID': ({ id }) => ipp(id),
  'IPP by its name': ({ name }) => ipp(name),
};
/** Without what differs for any two requests. */
async function said(ask: (of: Named) => Promise<Answer | string>, of: Named): Promise<string> {
  const answer = await ask(of);
  const text = typeof answer === 'string' ? answer : `${answer.status} ${answer.text}`;
  return [of.id, of.name, of.uuid]
    .reduce((all, word) => all.replaceAll(word, 'it'), text)
    .replaceAll(/"requestId":"[^"]*"/g, '');
}

test.each(Object.entries(SURFACES))('%s: as if it did not exist, until it is granted', async (_name, ask) => {
  expect((await grant(['acme'])).status).toBe(200);
  const missing = await said(ask, none);
  expect(await said(ask, real)).toBe(missing);
  await grant(['acme', 'globex']);
  expect(await said(ask, real)).not.toBe(missing);
});

/** Each list that globex sees. */
const LISTS: Record<string, () => Promise<Answer>> = {
  '/v2/printers': () => v2('/printers'),
  'the console': () => operator.call('/app/printers'),
  'an administrator’s view of the tenant': () => service.admin('GET', '/printers?tenant=globex'),
  PrintNode: () => printNode('/printers'),
  IPP: () => service.call('/ipp/print', { headers: { authorization: keys.globex } }),
  'what a refusal offers instead': () => post({ printer: randomUUID() }),
};
test.each(Object.entries(LISTS))('%s does not list it, until it is granted', async (_name, ask) => {
  await grant(['acme']);
  expect((await ask()).text).not.toMatch(/Zebra"|Zebra\t|serial-0a1b/);
  await grant(['globex']);
  expect((await ask()).text).toMatch(/Zebra"|Zebra\t|serial-0a1b/);
});

test('an agent counts no printer that the tenant may not use, and with none it may use it is not listed', async () => {
  const counted = async () =>
    z
      .array(agentView)
      .parse((await service.admin('GET', '/agents?tenant=globex')).body)
      .map(({ printers }) => printers);
  await grant(['acme']);
  expect(await counted()).toEqual([1]);
  await service.agent([{}]);
  expect(await counted()).toEqual([]);
  await grant(['globex']);
  expect(await counted()).toEqual([1]);
});

test('whoever runs the deployment sees it, and to whom it is granted; nobody else is told that', async () => {
  await grant(['acme', 'globex', 'acme']);
  expect((await seen()).grantedTo).toEqual(['acme', 'globex']);
  const asked = [
    await keeper.call(`/app/printers/${PRINTER}`),
    await operator.call(`/app/printers/${PRINTER}`),
  ];
  expect(asked.map(({ body }) => printerDetails.parse(body).grantedTo)).toEqual([
    ['acme', 'globex'],
    undefined,
  ]);
  await grant([]);
  expect((await keeper.call(`/app/printers/${PRINTER}`)).status).toBe(200);
  expect((await keeper.call('/app/printers')).text).toContain(PRINTER);
  for (const tenant of TENANTS)
    expect(codeOf(await post({ printerId: PRINTER }, tenant))).toBe('printer-unknown');
  await grant(null);
  expect((await seen()).grantedTo).toBe(null);
});

describe('a grant', () => {
  test('is the deployment’s to give, of shared printers alone, to tenants that there are, and is in the audit', async () => {
    const as = (by: SignedIn, tenants: string[], id: string = PRINTER) =>
      by.call(`/app/printers/${id}/grants`, { method: 'PUT', body: { tenants } });
    expect(codeOf(await as(operator, ['globex']))).toBe('permission-missing');
    expect(codeOf(await as(keeper, ['nobody']))).toBe('tenant-not-found');
    await service.agent([{ id: 'serial-own', name: 'Own' }], { agentId: 'agent-globex', tenantId: 'globex' });
    expect(codeOf(await as(keeper, ['globex'], 'serial-own'))).toBe('printer-not-found');
    await service.agent([], { agentId: 'agent-globex', tenantId: 'globex' });
    expect((await as(keeper, ['globex'])).status).toBe(200);
    await grant(null);
    const { entries } = auditPage.parse((await service.admin('GET', '/audit?about=printer')).body);
    expect(entries.slice(0, 2)).toMatchObject([
      { what: 'printer.grant', object: PRINTER, tenant: null, details: { tenants: '*' } },
      { what: 'printer.grant', object: PRINTER, who: { kind: 'person' }, details: { tenants: ['globex'] } },
    ]);
  });

  test('is erased with its tenant, and the printer is nobody’s rather than everybody’s', async () => {
    await service.tenant('short-lived');
    await grant(['short-lived']);
    expect((await service.admin('DELETE', '/tenants/short-lived')).status).toBe(200);
    expect((await seen()).grantedTo).toEqual([]);
  });

  test('outlives that its printer is forgotten', async () => {
    await grant(['acme']);
    await service.agent([{ id: OPEN, name: 'Open' }]);
    expect((await service.admin('DELETE', `/printers/${PRINTER}`)).status).toBe(204);
    await service.agent([{}, { id: OPEN, name: 'Open' }]);
    expect(codeOf(await post({ printerId: PRINTER }))).toBe('printer-unknown');
  });
});

describe('withdrawn', () => {
  test('what waits is held and says why, goes on once it is granted again, and is nowhere printed meanwhile', async () => {
    const [theirs, mine] = [await newJob('globex'), await newJob('acme')];
    await grant(['acme']);
    expect(await details(theirs)).toMatchObject({
      ...{ status: 'held', uncertain: null, labels: { printed: 0 } },
      error: { code: 'permission-withdrawn', reason: { code: 'printer-granted-no-more' } },
    });
    expect(await service.queues.look(PRINTER, theirs)).toBeNull();
    expect(await details(mine)).toMatchObject({ status: 'queued' });
    const resume = () => service.admin('POST', `/jobs/${theirs}/resume`, { from: 0 });
    expect(codeOf(await resume())).toBe('printer-unknown');
    await grant(['acme', 'globex']);
    expect((await resume()).body).toMatchObject({ status: 'queued' });
    await grant(['acme']);
    const elsewhere = await service.admin('POST', `/jobs/${theirs}/move`, { printerId: OPEN });
    expect(elsewhere.body).toMatchObject({ status: 'queued', printer: { id: OPEN } });
  });

  test('between the look and the acceptance, it refuses', async () => {
    // The printer is kept from the first job; the second is compared with what is stored.
    expect((await post({ printerId: PRINTER })).status).toBe(201);
    await service.pool.query(`UPDATE platen.lane_settings SET granted_to = '{acme}' WHERE lane = $1`, [
      PRINTER,
    ]);
    expect(codeOf(await post({ printerId: PRINTER }))).toBe('printer-unknown');
  });

  test('between the look and the acceptance of a job that keeps nothing of the look, it refuses too', async () => {
    const id = await newJob();
    await service.pool.query(`UPDATE platen.jobs SET status = 'printed' WHERE id = $1`, [id]);
    // The reprint looks its printer up, and waits for the job's row in the transaction that accepts it.
    const other = await service.pool.connect();
    onTestFinished(() => other.release());
    await other.query('BEGIN');
    await other.query('SELECT FROM platen.jobs WHERE id = $1 FOR UPDATE', [id]);
    const asked = service.admin('POST', `/jobs/${id}/reprint`, {});
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR SHARE%'
      AND datname = current_database()`;
    await expect.poll(async () => (await service.pool.query(waiting)).rowCount).toBe(1);
    await grant(['acme']);
    await other.query('COMMIT');
    expect(codeOf(await asked)).toBe('enqueue-failed');
    expect(
      jobReprinted.safeParse((await service.admin('POST', `/jobs/${id}/reprint`, {})).body).success,
    ).toBe(false);
  });
});

describe('what happens to it', () => {
  test('is told in a webhook to tenants that may use it', async () => {
    for (const tenant of TENANTS)
      await service.admin('POST', `/tenants/${tenant}/webhooks`, { url: 'https://platen.invalid/hook' });
    await grant(['acme']);
    await service.agent([{ state: 'stopped', reasons: ['media-empty'] }]);
    const { rows } = await service.pool.query<{ tenant: string }>(
      `SELECT w.tenant_id AS tenant FROM platen.webhook_messages m JOIN platen.webhooks w ON w.id = m.webhook_id
       WHERE m.event = 'printer.attention'`,
    );
    expect(rows).toEqual([{ tenant: 'acme' }]);
  });

  test('alerts tenants that may use it', async () => {
    for (const tenant of TENANTS)
      await service.admin('POST', `/tenants/${tenant}/alerts`, {
        ...{ form: 'chat', to: 'https://platen.invalid/chat', minutes: 1 },
        alerts: ['alert.printer', 'alert.agent'],
      });
    await grant(['acme']);
    await service.agent([{ state: 'stopped', reasons: ['media-empty'] }], { online: false });
    await service.pool.query(`UPDATE platen.printer_attention SET since = since - interval '10 minutes'`);
    await service.pool.query(`UPDATE platen.agents SET seen_at = seen_at - interval '10 minutes'`);
    const alerts = new Alerts(service.pool, new SecretKey(SECRET_KEY), false);
    const told = async () => {
      await alerts.watch();
      const { rows } = await service.pool.query<{ tenant: string; kind: string }>(
        `SELECT w.tenant_id AS tenant, a.kind FROM platen.alerts a JOIN platen.webhooks w ON w.id = a.webhook_id ORDER BY 2`,
      );
      return rows;
    };
    // The service itself may be looking.
    await expect.poll(told).toEqual([
      { tenant: 'acme', kind: 'alert.agent' },
      { tenant: 'acme', kind: 'alert.printer' },
    ]);
  });

  test('reaches the open pages of tenants that may use it, and of whoever runs the deployment', async () => {
    const logger = createLogger({ level: 'silent' });
    const feed = new ChangeFeed({ database: service.backend.database, pool: service.pool, logger });
    onTestFinished(() => feed.stop());
    const pages = [
      { tenant: 'acme', sees: [PRINTER, OPEN] },
      { tenant: 'globex', sees: [OPEN] },
      { tenant: 'globex', everywhere: true, sees: [PRINTER, OPEN] },
      { tenant: undefined, sees: [PRINTER, OPEN] },
    ].map((page) => ({ ...page, heard: new Collected<News>() }));
    for (const { sees: _, heard, ...page } of pages)
      feed.listen({ ...page, hear: (news) => heard.add(news) });
    await grant(['acme']);
    feed.start();
    for (const { heard } of pages) await heard.reach(1);
    // What the service tells of the grant, that anything may have changed, is passed on with whatever comes beside it.
    await expect
      .poll(() => {
        feed.tell({ printers: [PRINTER, OPEN] });
        return pages.every(({ heard }) => heard.values.some((one) => one !== 'all'));
      })
      .toBe(true);
    for (const { heard, sees } of pages) {
      const printers = heard.values.flatMap((one) => (one === 'all' ? [] : one.printers));
      expect(new Set(printers)).toEqual(new Set(sees));
    }
  });
});
