/** The internal interface, and the documents about the external one. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { integrationCreated } from '../../src/contract/admin.ts';
import { jobPage } from '../../src/contract/job-search.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../src/server/problems.ts';
import {
  ADMIN_TOKEN,
  codeOf,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
  ServiceHarness,
  TEMPLATE,
} from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService();
beforeAll(async () => {
  await service.tenant('acme');
  await service.agent([{}]);
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
    const settings = { printerCommands: false, mediaMustFit: false };
    const quota = { labels: null, used: 0, tests: { labels: 10_000, used: 0 } };
    const view = { id: 'initech', name: 'Initech', ...settings, quota };
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
      scope: 'jobs:enqueue jobs:read templates:read printers:read',
      tenant: 'acme',
      test: false,
      printEndpoint: `${service.url}/v2/jobs`,
      apiKey: expect.stringMatching(/^pk_/),
      apiSecret: expect.stringMatching(/^sk_/),
    });
    const { apiKey } = z.object({ apiKey: z.string() }).parse(created.body);
    const row = {
      apiKey,
      name: 'ERP',
      scope: 'jobs:enqueue jobs:read templates:read printers:read',
      test: false,
      createdAt: expect.any(String),
      lastUsedAt: null,
      secretCreatedAt: expect.any(String),
      oldSecret: null,
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

  test('templates: the fields of raw ZPL are found, placeholders and named ^FN, each once', async () => {
    const source =
      '^XA^FO1,1^FD{{sku}} {{name | upper}}^FS^FO1,50^FN1"lot number"^FDnone^FS^FO1,90^FN1^FS^FO1,130^FD{{sku}}^FS^XZ';
    const answer = await service.admin('POST', '/tenants/acme/templates', {
      name: 'Raw fields',
      language: 'zpl',
      source,
      width: 50,
      height: 10,
      dpi: 203,
    });
    expect([answer.status, answer.body]).toMatchObject([
      201,
      {
        fields: ['sku', 'name', 'lot number'],
        warnings: [
          ...['sku', 'name', 'lot number'].map((name) => ({
            code: 'field-undeclared',
            message: expect.stringContaining(name),
          })),
          { code: 'off-label', pointer: '/source', message: expect.stringMatching(/1,90/) },
          { code: 'off-label', pointer: '/source', message: expect.stringMatching(/1,130/) },
        ],
      },
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
    [
      'a sheet with more labels than it has room for',
      { ...TEMPLATE, sheet: { width: 210, height: 297, columns: 3, rows: 1, left: 0, top: 0 } },
      '/sheet/columns',
    ],
    [
      'a field that no record can have',
      { ...TEMPLATE, elements: [{ type: 'text', x: 1, y: 1, size: 3, text: '{{__proto__}}' }], fields: [] },
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

  test('a text that the database cannot store is refused, and is no failure of ours', async () => {
    const [idT, name] = [await service.template('acme', { ...TEMPLATE, name: 'Without' }), 'a\0b'];
    const asked = [
      ['POST', '/tenants/acme/templates', { ...TEMPLATE, name }],
      ['PUT', `/tenants/acme/templates/${idT}/name`, { name }],
      ['POST', '/tenants/acme/integrations', { name, scope: ['jobs:enqueue'] }],
      ['POST', `/printers/${PRINTER}/hold`, { why: name }],
      ['GET', '/tenants/a%00b', undefined],
      ['GET', '/printers?tenant=a%00b', undefined],
    ] as const;
    for (const [method, path, body] of asked) {
      const answer = await service.admin(method, path, body);
      expect([answer.status, codeOf(answer)], path).toEqual([400, 'payload-invalid']);
    }
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
    const listed = jobPage.parse((await service.admin('GET', '/jobs?tenant=acme&limit=2')).body);
    expect(listed.jobs.map((job) => job.id)).toEqual(ids.reverse());
    expect((await service.admin('GET', '/jobs?status=printed')).body).toEqual({ jobs: [], next: null });
    expect(pointersOf(await service.admin('GET', '/jobs?status=lost'))).toEqual(['/status/0']);
    expect(codeOf(await service.admin('GET', '/jobs/nonsense'))).toBe('job-not-found');
  });
});

test('GET /v2/jobs/{id}: with jobs:read, in the tenant', async () => {
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
  for (const none of ['0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 'nonsense', '%00', id.toUpperCase()]) {
    expect(codeOf(await service.call(`/v2/jobs/${none}`, { token: both, tenant })), none).toBe(
      'job-not-found',
    );
  }
  for (const method of ['GET', 'POST']) {
    expect(codeOf(await service.call('/v2/jobs/', { method, token: both, tenant }))).toBe('not-found');
  }
  const wrong = await service.call('/v2/jobs/validate', { method: 'GET', token: both, tenant });
  expect([codeOf(wrong), wrong.headers.get('allow')]).toEqual(['method-not-allowed', 'POST']);
});

test('an account for which nothing is said may read its jobs, templates and printers, and cancel nothing', async () => {
  const tenant = await service.tenant('initech');
  const made = await service.admin('POST', `/tenants/${tenant}/integrations`, { name: 'usual' });
  const account = integrationCreated.parse(made.body);
  expect(account.scope).toBe('jobs:enqueue jobs:read templates:read printers:read');
  const token = await service.token(account);
  const body = { idT: await service.template(tenant), printerId: PRINTER };
  const id = jobIdOf(await service.call('/v2/jobs', { token, tenant, key: newKey(), body }));
  expect((await service.call(`/v2/jobs/${id}`, { token, tenant })).status).toBe(200);
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
      '/v2/jobs/{id}/cancel',
      '/v2/labels',
      '/v2/templates',
      '/v2/printers',
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
    const told = [...JSON.stringify(api.paths).matchAll(/urn:platen:problem:([\w-]+)/g)].map(
      ([, code]) => code,
    );
    const codes = z.object({ enum: z.array(z.string()) });
    const { code } = api.components.schemas['Problem']?.properties ?? {};
    // No code of an internal route, and none without an example.
    expect(codes.parse(code).enum.toSorted()).toEqual([...new Set(told)].toSorted());
    expect(codes.parse(code).enum).not.toContain('template-changed');
    expect(JSON.stringify(api)).not.toContain('…');
    const enqueue = api.paths['/v2/jobs']?.['post']?.responses ?? {};
    expect(Object.keys(enqueue).join(' ')).toBe('200 201 400 401 403 404 405 408 413 429 431 500 503');
    // The pages of its documents could not be counted in time.
    for (const path of ['/v2/jobs', '/v2/jobs/validate'])
      expect(JSON.stringify(api.paths[path]?.['post']?.responses['503'])).toContain('"not-ready"');
    const token = api.paths['/oauth/token']?.['post']?.responses ?? {};
    expect(Object.keys(token).join(' ')).toBe('200 400 401 405 408 413 429 431 500 503');
    const waits = { headers: { 'Retry-After': expect.anything() } };
    for (const answer of [enqueue['429'], enqueue['500'], token['429'], token['503']])
      expect(answer).toMatchObject(waits);
    expect(api.components['securitySchemes']).toMatchObject({
      token: {
        type: 'oauth2',
        flows: {
          clientCredentials: {
            tokenUrl: `${service.url}/oauth/token`,
            scopes: { 'jobs:enqueue': expect.any(String) },
          },
        },
      },
    });
    expect(api.paths['/v2/jobs/{id}']?.['get']).toMatchObject({ security: [{ token: ['jobs:read'] }] });
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
    expect((await service.call('/docs/js/start.js')).text).toContain('/openapi.json');
  });

  test('every problem has a 4xx or 5xx status', () => {
    expect(PROBLEM_CODES.length).toBeGreaterThan(30);
    for (const code of PROBLEM_CODES) expect(PROBLEMS[code].status).toBeGreaterThanOrEqual(400);
  });
});
