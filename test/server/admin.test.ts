/** The internal interface, health, documents, and the life of the server. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/log.ts';
import { ConfigError, configFromEnv, serverConfig } from '../../src/server/config.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../src/server/problems.ts';
import { Server } from '../../src/server/server.ts';
import {
  ADMIN_TOKEN,
  codeOf,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
  ServiceHarness,
  TEMPLATE,
} from './harness.ts';

let service: ServiceHarness;
beforeAll(async () => {
  service = await ServiceHarness.start({ config: { publicJobStatus: true } });
  await service.tenant('acme');
  await service.agent([{}]);
});
afterAll(async () => {
  await service.stop();
});

describe('/app', () => {
  test.each([undefined, 'wrong', `${ADMIN_TOKEN}x`])('without the admin token (%s) → 401', async (token) => {
    const answer = await service.call('/app/tenants', { token });
    expect([answer.status, codeOf(answer)]).toEqual([401, 'unauthorized-admin']);
  });

  test("an integration's token is not the admin's, nor the other way round", async () => {
    const token = await service.token(await service.integration('acme'));
    expect((await service.call('/app/tenants', { token })).status).toBe(401);
    const answer = await service.call('/v2/jobs/validate', { token: ADMIN_TOKEN, tenant: 'acme', body: {} });
    expect(codeOf(answer)).toBe('token-invalid');
  });

  test('without a configured admin token nobody is let in', async () => {
    const closed = await ServiceHarness.start({ config: { adminToken: undefined } });
    expect((await closed.call('/app/tenants', { token: '' })).status).toBe(401);
    expect((await closed.call('/app/tenants', { token: 'undefined' })).status).toBe(401);
    await closed.stop();
  });

  test('tenants: create, list, quota', async () => {
    const created = await service.admin('POST', '/tenants', { id: 'initech', name: 'Initech' });
    const view = { id: 'initech', name: 'Initech', quota: { labels: null, used: 0 } };
    expect([created.status, created.body]).toEqual([201, view]);
    expect(codeOf(await service.admin('POST', '/tenants', { id: 'initech' }))).toBe('tenant-exists');
    expect(pointersOf(await service.admin('POST', '/tenants', { id: 'No Tenant' }))).toEqual(['/id']);
    expect((await service.admin('GET', '/tenants')).body).toContainEqual(view);
    const limited = await service.admin('PUT', '/tenants/initech/quota', { labels: 5 });
    expect(limited.body).toMatchObject({ quota: { labels: 5, used: 0 } });
    expect((await service.admin('PUT', '/tenants/initech/quota', { labels: null })).body).toEqual(view);
    expect(codeOf(await service.admin('PUT', '/tenants/nobody/quota', { labels: 5 }))).toBe(
      'tenant-not-found',
    );
    await service.server.ensureTenant({ id: 'initech', name: 'Another name' });
    expect((await service.admin('GET', '/tenants/initech')).body).toEqual(view);
  });

  test('integrations: the configuration table, once', async () => {
    const created = await service.admin('POST', '/tenants/acme/integrations', { name: 'ERP' });
    expect(created.status).toBe(201);
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect(created.body).toEqual({
      tokenUrl: `${service.url}/oauth/token`,
      audience: 'platen',
      scope: 'jobs:enqueue',
      tenant: 'acme',
      printEndpoint: `${service.url}/v2/jobs`,
      apiKey: expect.stringMatching(/^pk_/),
      apiSecret: expect.stringMatching(/^sk_/),
    });
    const { apiKey } = z.object({ apiKey: z.string() }).parse(created.body);
    const row = {
      apiKey,
      name: 'ERP',
      scope: 'jobs:enqueue',
      createdAt: expect.any(String),
      revokedAt: null,
    };
    expect((await service.admin('GET', '/tenants/acme/integrations')).body).toContainEqual(row);
    const revoked = await service.admin('DELETE', `/tenants/acme/integrations/${apiKey}`);
    expect(revoked.body).toEqual({ ...row, revokedAt: expect.any(String) });
    expect(codeOf(await service.admin('DELETE', '/tenants/initech/integrations/pk_x'))).toBe(
      'integration-not-found',
    );
    expect(codeOf(await service.admin('POST', '/tenants/nobody/integrations', { name: 'x' }))).toBe(
      'tenant-not-found',
    );
    const wrong = await service.admin('POST', '/tenants/acme/integrations', {
      name: 'x',
      scope: ['jobs:everything'],
    });
    expect(pointersOf(wrong)).toEqual(['/scope/0']);
  });

  test('templates: import, import again under the same name, show', async () => {
    const first = await service.admin('POST', '/tenants/acme/templates', TEMPLATE);
    const { id } = z.object({ id: z.string() }).parse(first.body);
    expect([first.status, first.body]).toMatchObject([
      201,
      { name: 'Shelf label', language: 'platen', fields: ['sku', 'name'] },
    ]);
    const again = await service.admin('POST', '/tenants/acme/templates', { ...TEMPLATE, width: 50 });
    expect([again.status, again.body]).toMatchObject([200, { id }]);
    expect((await service.admin('GET', `/tenants/acme/templates/${id}`)).body).toMatchObject({
      id,
      template: { width: 50 },
    });
    expect((await service.admin('GET', '/tenants/acme/templates')).body).toHaveLength(1);
    expect(first.body).toMatchObject({ warnings: [] });
    expect(codeOf(await service.admin('GET', `/tenants/initech/templates/${id}`))).toBe('template-not-found');
    expect(codeOf(await service.admin('POST', '/tenants/nobody/templates', TEMPLATE))).toBe(
      'tenant-not-found',
    );
  });

  test('templates: what the check warns of is in the answer', async () => {
    const fields = [...TEMPLATE.fields, { name: 'spare' }];
    const answer = await service.admin('POST', '/tenants/acme/templates', {
      ...TEMPLATE,
      name: 'Warned',
      fields,
    });
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { warnings: [{ severity: 'warning', code: 'field-unused', pointer: '/fields/2' }] },
    ]);
  });

  test.each([
    [
      'an element without its text',
      { ...TEMPLATE, elements: [{ type: 'text', x: 1, y: 1, size: 3 }] },
      '/elements/0/text',
    ],
    ['an unknown element', { ...TEMPLATE, elements: [{ type: 'sticker' }] }, '/elements/0/type'],
    [
      'a placeholder that names no field',
      { ...TEMPLATE, elements: [{ type: 'text', x: 1, y: 1, size: 3, text: '{{}}' }] },
      '/elements/0',
    ],
    ['a ZPL template without its source', { name: 'x', language: 'zpl' }, '/source'],
    [
      'an element that no record could print',
      { ...TEMPLATE, elements: [{ type: 'text', x: 1, y: 1, size: 3, width: 2, text: 'too long for this' }] },
      '/elements/0',
    ],
  ])('templates: %s is refused with a pointer', async (_name, body, pointer) => {
    const answer = await service.admin('POST', '/tenants/acme/templates', body);
    expect([answer.status, codeOf(answer), pointersOf(answer)]).toEqual([400, 'payload-invalid', [pointer]]);
  });

  test('jobs: print without a key, validate, list, show', async () => {
    const idT = await service.template('acme', { ...TEMPLATE, name: 'For jobs' });
    const body = { idT, printerId: PRINTER, data: [{ sku: 'a', name: 'b' }] };
    const ids = [
      jobIdOf(await service.admin('POST', '/tenants/acme/jobs', body)),
      jobIdOf(await service.admin('POST', '/tenants/acme/jobs', body)),
    ];
    expect(new Set(ids).size).toBe(2);
    expect((await service.admin('POST', '/tenants/acme/jobs/validate', body)).body).toMatchObject({
      valid: true,
      labels: 1,
    });
    expect(codeOf(await service.admin('POST', '/tenants/nobody/jobs', body))).toBe('tenant-not-found');
    const listed = z
      .array(z.object({ id: z.string() }))
      .parse((await service.admin('GET', '/jobs?tenant=acme&limit=2')).body);
    expect(listed.map((job) => job.id)).toEqual(ids.reverse());
    expect((await service.admin('GET', '/jobs?status=printed')).body).toEqual([]);
    expect(pointersOf(await service.admin('GET', '/jobs?status=lost'))).toEqual(['/status']);
    expect(codeOf(await service.admin('GET', '/jobs/nonsense'))).toBe('job-not-found');
  });
});

test('GET /v2/jobs/{id}, where it is turned on: with jobs:read, in the tenant', async () => {
  const [tenant, other] = [await service.tenant('umbrella'), await service.tenant('hooli')];
  const both = await service.token(await service.integration(tenant, ['jobs:enqueue', 'jobs:read']));
  const writer = await service.token(await service.integration(tenant));
  const stranger = await service.token(await service.integration(other, ['jobs:read']));
  const body = { idT: await service.template(tenant), printerId: PRINTER };
  const id = jobIdOf(await service.call('/v2/jobs', { token: both, tenant, key: newKey(), body }));
  const read = await service.call(`/v2/jobs/${id}`, { token: both, tenant });
  expect([read.status, read.body]).toMatchObject([200, { id, status: 'queued' }]);
  expect(codeOf(await service.call(`/v2/jobs/${id}`, { token: writer, tenant }))).toBe('permission-missing');
  expect(codeOf(await service.call(`/v2/jobs/${id}`, { token: stranger, tenant: other }))).toBe(
    'job-not-found',
  );
  expect(codeOf(await service.call(`/v2/jobs/${id}`, { tenant }))).toBe('token-missing');
});

describe('documents', () => {
  const document = z.object({
    openapi: z.string(),
    servers: z.array(z.object({ url: z.string() })),
    paths: z.record(
      z.string(),
      z.record(
        z.string(),
        z.looseObject({ responses: z.record(z.string(), z.looseObject({ description: z.string() })) }),
      ),
    ),
    components: z.looseObject({
      schemas: z.record(
        z.string(),
        z.looseObject({
          required: z.array(z.string()).optional(),
          properties: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
    }),
  });

  test('/openapi.json describes the external interface, with every problem code that it can answer', async () => {
    const { body } = await service.call('/openapi.json');
    const api = document.parse(body);
    expect(api.openapi).toBe('3.1.0');
    expect(api.servers).toEqual([{ url: service.url }]);
    expect(Object.keys(api.paths)).toEqual([
      '/oauth/token',
      '/v2/jobs',
      '/v2/jobs/validate',
      '/v2/jobs/{id}',
    ]);
    expect(Object.keys(api.components.schemas['PrintRequest']?.properties ?? {})).toEqual([
      'idT',
      'printerId',
      'printer',
      'format',
      'orientation',
      'numberCopies',
      'data',
    ]);
    expect(api.components.schemas['PrintRequest']?.required).toEqual(['idT']);
    const told = JSON.stringify(api.paths);
    const internal = [
      'tenant-exists',
      'tenant-not-found',
      'integration-not-found',
      'authorization-external',
      'job-not-queued',
      'unauthorized-admin',
      'not-ready',
      'not-found',
      'method-not-allowed',
      'request-malformed',
    ];
    for (const code of PROBLEM_CODES.filter((each) => !internal.includes(each))) {
      expect(told, code).toContain(`urn:platen:problem:${code}`);
    }
    const enqueue = api.paths['/v2/jobs']?.['post']?.responses ?? {};
    expect(Object.keys(enqueue)).toEqual(['200', '201', '400', '401', '403', '404', '413', '500']);
  });

  test('/docs/ is a page that asks nobody else', async () => {
    expect((await service.call('/docs')).headers.get('location')).toBe('/docs/');
    const page = await service.call('/docs/');
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const script = /<script[^>]* src="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect(script).toBe('js/scalar.js');
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const answer = await service.call(`/docs/${script}`);
    expect(answer.headers.get('content-type')).toMatch(/javascript/);
    expect(answer.text.length).toBeGreaterThan(1_000_000);
    expect(page.text).toContain('/openapi.json');
  });

  test('every problem has a 4xx or 5xx status', () => {
    expect(PROBLEM_CODES.length).toBeGreaterThan(30);
    for (const code of PROBLEM_CODES) expect(PROBLEMS[code].status).toBeGreaterThanOrEqual(400);
  });
});

describe('health', () => {
  test('ready with database and queue', async () => {
    expect((await service.call('/healthz')).body).toEqual({ status: 'ok' });
    expect((await service.call('/readyz')).body).toEqual({ status: 'ready' });
  });

  test('without the queue it is not ready, but takes jobs and adds them when the queue is back', async () => {
    let away = true;
    const alone = await ServiceHarness.start({
      config: { sweepInterval: 50 },
      queue: (real) => ({
        enqueueMany: (jobs) => (away ? Promise.reject(new Error('away')) : real.enqueueMany(jobs)),
        remove: (printerId, jobId) => real.remove(printerId, jobId),
        has: (printerId, jobId) => real.has(printerId, jobId),
        consumeReports: (handler) =>
          away ? Promise.reject(new Error('away')) : real.consumeReports(handler),
      }),
    });
    const answer = await alone.call('/readyz');
    expect([answer.status, codeOf(answer)]).toEqual([503, 'not-ready']);
    await alone.tenant('acme');
    await alone.agent([{}]);
    const body = { idT: await alone.template('acme'), printerId: PRINTER };
    const id = jobIdOf(await alone.admin('POST', '/tenants/acme/jobs', body));
    away = false;
    await expect.poll(() => alone.queues.has(PRINTER, id), { timeout: 10_000 }).toBe(true);
    await expect.poll(async () => (await alone.call('/readyz')).status, { timeout: 10_000 }).toBe(200);
    await alone.stop();
  });
});

describe('the server', () => {
  test('every answer carries a request ID, and its log line the same with route, tenant and jobs', async () => {
    const body = { idT: await service.template('acme', { ...TEMPLATE, name: 'Logged' }), printerId: PRINTER };
    const answer = await service.admin('POST', '/tenants/acme/jobs?secret=query-is-not-logged', body);
    const requestId = answer.headers.get('x-request-id') ?? '';
    const line = service.log.split('\n').find((each) => each.includes(requestId)) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      level: 30,
      method: 'POST',
      route: '/app/tenants/:id/jobs',
      status: 201,
      requestId,
      tenant: 'acme',
      jobs: [jobIdOf(answer)],
    });
    expect(service.log).not.toContain('query-is-not-logged');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('a failure of the database is a 500 that may be repeated, without its details, and is logged', async () => {
    const broken = await ServiceHarness.start();
    await broken.tenant('acme');
    await broken.agent([{}]);
    const token = await broken.token(await broken.integration('acme'));
    const body = { idT: await broken.template('acme'), printerId: PRINTER };
    await broken.pool.query('ALTER TABLE platen.idempotency_keys RENAME TO elsewhere');
    const answer = await broken.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body });
    expect([answer.status, answer.body]).toMatchObject([500, { code: 'enqueue-failed', retrySafe: true }]);
    expect(answer.text).not.toMatch(/idempotency_keys|relation|\.ts/);
    expect(broken.log).toContain('relation \\"platen.idempotency_keys\\" does not exist');
    await broken.stop();
  });

  test('a retry that waits too long for the request it repeats is told to come again', async () => {
    const hasty = await ServiceHarness.start({ database: { lock_timeout: 200 } });
    await hasty.agent([{}]);
    const tenant = await hasty.tenant('slow');
    const token = await hasty.token(await hasty.integration(tenant));
    const body = { idT: await hasty.template(tenant), printerId: PRINTER };
    const key = newKey();
    const holder = await hasty.pool.connect();
    await holder.query('BEGIN');
    await holder.query(
      `INSERT INTO platen.idempotency_keys (tenant_id, key, body_hash, job_id, response)
       VALUES ($1, $2, '', gen_random_uuid(), '""')`,
      [tenant, key],
    );
    const answer = await hasty.call('/v2/jobs', { token, tenant, key, body });
    await holder.query('ROLLBACK');
    holder.release();
    expect([answer.status, codeOf(answer)]).toEqual([500, 'enqueue-failed']);
    expect((await hasty.call('/v2/jobs', { token, tenant, key, body })).status).toBe(201);
    await hasty.stop();
  });

  test('start and stop undo each other, and a second start finds everything in place', async () => {
    const server = new Server({
      config: serverConfig.parse({ port: 0 }),
      database: { connectionString: 'postgresql://nobody:secret-password@127.0.0.1:9/none' },
      queues: service.queues,
      logger: createLogger({ level: 'silent' }),
    });
    await server.stop();
    await expect(server.start()).rejects.toThrow(/ECONNREFUSED/);
    await server.stop();
    await expect(server.ensureTenant({ id: 'x' })).rejects.toThrow('not started');

    await service.server.stop();
    await expect(service.call('/healthz')).rejects.toThrow();
    await service.server.stop();
    const { url } = await service.server.start();
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    await service.server.stop();
  });

  test('stop lets a request in hand finish', async () => {
    const busy = await ServiceHarness.start();
    const { hostname, port } = new URL(busy.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    const body = JSON.stringify({ id: 'late' });
    socket.write(
      `POST /app/tenants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await once(socket, 'data');
    const stopped = busy.server.stop();
    socket.write(body);
    await once(socket, 'close');
    await stopped;
    expect(Buffer.concat(received).toString()).toMatch(/HTTP\/1\.1 201/);
    await busy.stop();
  });
});

describe('configuration from the environment', () => {
  test('defaults, and every variable', () => {
    expect(configFromEnv({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      tokenLifetime: 600,
      audience: 'platen',
      trustProxy: false,
    });
    const config = configFromEnv({
      PLATEN_HOST: '0.0.0.0',
      PLATEN_PORT: '0',
      PLATEN_PUBLIC_URL: 'https://print.example.test/',
      PLATEN_TOKEN_LIFETIME: '60',
      PLATEN_TRUST_PROXY: '10.0.0.0/8',
      PLATEN_PUBLIC_JOB_STATUS: 'true',
      PLATEN_MAX_RECORDS: '20000',
      AUTH_ISSUER: 'https://login.test/',
      AUTH_JWKS_URL: 'https://login.test/keys',
    });
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      publicUrl: 'https://print.example.test',
      tokenLifetime: 60,
      trustProxy: '10.0.0.0/8',
      publicJobStatus: true,
      limits: { records: 20_000, labels: 100_000 },
      externalAuth: { issuer: 'https://login.test/', tenantClaim: 'tenant' },
    });
    expect(configFromEnv({ PLATEN_PORT: '1' }, { port: 2 }).port).toBe(2);
  });

  test.each([
    [{ PLATEN_PORT: 'eighty' }, 'PLATEN_PORT=eighty: expected a whole number'],
    [{ PLATEN_PORT: '70000' }, /PLATEN_PORT=70000: .*65535/],
    [{ PLATEN_PUBLIC_URL: 'ftp://x' }, 'PLATEN_PUBLIC_URL=ftp://x: expected an http or https URL'],
    [{ PLATEN_PUBLIC_JOB_STATUS: 'maybe' }, 'PLATEN_PUBLIC_JOB_STATUS=maybe: expected true or false'],
    [{ AUTH_ISSUER: 'https://login.test' }, 'AUTH_JWKS_URL is missing'],
  ])('%j → an error that names variable, value and what was expected', (env, message) => {
    expect(() => configFromEnv(env)).toThrow(ConfigError);
    expect(() => configFromEnv(env)).toThrow(message);
  });

  test('a secret is never part of the error', () => {
    const wrong = () =>
      configFromEnv({
        PLATEN_ADMIN_TOKEN: 'too-short-secret',
        AUTH_ISSUER: 'x',
        AUTH_JWKS_URL: 'redis://user:hunter2@x',
      });
    expect(wrong).toThrow(/PLATEN_ADMIN_TOKEN=\(a secret, not shown\): expected 24 to 500/);
    expect(wrong).not.toThrow(/too-short|hunter2/);
  });
});
