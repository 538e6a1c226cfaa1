/** Validation and quota (`shared/interface.md`), and which routes there are. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, FORMAT_203, newKey, PRINTER } from '../kit/service/harness.ts';
import { InterfaceSite, PDF_ONLY } from '../kit/service/interface-site.ts';

const site = new InterfaceSite();
beforeAll(() => site.start());
afterAll(() => site.stop());

describe('POST /v2/jobs/validate', () => {
  test('answers labels and route, creates no job and takes no allowance', async () => {
    const before = await site.jobCount();
    const answer = await site.validate({
      token: site.tokens.broke,
      tenant: 'broke',
      body: site.payload({ idT: site.ids.broke, numberCopies: 3 }),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      valid: true,
      labels: 3,
      route: {
        printerId: PRINTER,
        printer: 'Zebra',
        agentId: 'agent-one',
        format: { id: FORMAT_203.id, name: FORMAT_203.name },
      },
      warnings: [],
      warningCount: 0,
    });
    expect(await site.jobCount()).toBe(before);
    expect((await site.service.admin('GET', '/tenants/broke')).body).toMatchObject({
      quota: { labels: 3, used: 0 },
    });
  });

  test('warns of missing and unknown fields with record and field', async () => {
    const answer = await site.validate({
      body: site.payload({
        data: [
          { sku: 'a', name: 'b' },
          { sku: 'c', Name: 'd' },
        ],
      }),
    });
    expect(answer.body).toMatchObject({
      warnings: [
        { code: 'field-missing', record: 1, field: 'name' },
        { code: 'field-unknown', record: 1, field: 'Name' },
      ],
      warningCount: 2,
    });
  });

  test('a template with fields and no data: every field is missing', async () => {
    const answer = await site.validate({ body: site.payload({ data: undefined }) });
    expect(answer.body).toMatchObject({
      warnings: [
        { code: 'field-missing', field: 'sku' },
        { code: 'field-missing', field: 'name' },
      ],
    });
  });

  test('warns of a label that the media does not fit', async () => {
    const answer = await site.validate({ body: site.payload({ orientation: 'landscape' }) });
    expect(answer.body).toMatchObject({ warnings: [{ code: 'size-mismatch' }] });
  });

  test('a sheet of labels is what printers of pages are compared with, the label what others are', async () => {
    const idT = await site.service.template('acme', {
      name: 'Eight on a sheet',
      width: 48,
      height: 35,
      sheet: { width: 101.6, height: 152.4, columns: 2, rows: 4, left: 2, top: 5, pitchX: 49.6 },
      elements: [{ type: 'text', x: 4, y: 4, text: 'FRAGILE', size: 6 }],
    });
    const job = { idT, data: undefined, numberCopies: 9 };
    const onPages = { ...job, printerId: PDF_ONLY };
    expect((await site.validate({ body: site.payload(onPages) })).body).toMatchObject({
      labels: 9,
      warnings: [],
    });
    const turned = await site.validate({ body: site.payload({ ...onPages, orientation: 'landscape' }) });
    expect(turned.body).toMatchObject({
      warnings: [{ code: 'size-mismatch', message: expect.stringContaining('sheet is 152.4 × 101.6 mm') }],
    });
    expect((await site.validate({ body: site.payload(job) })).body).toMatchObject({
      warnings: [{ code: 'size-mismatch', message: expect.stringContaining('label is 48 × 35 mm') }],
    });
  });

  test('warns of what a raw ZPL template prints beyond the media, and of another resolution', async () => {
    const source = '^XA\n^PW1200^LL1800\n^FO20,20^FDHello^FS\n^XZ';
    const wide = await site.service.template('acme', { name: 'Wide', language: 'zpl', source });
    expect((await site.validate({ body: site.payload({ idT: wide, data: [{}] }) })).body).toMatchObject({
      warnings: [{ code: 'size-mismatch', message: expect.stringMatching(/^line 2: .*300 dpi/) }],
    });
    const off = source.replace('^PW1200^LL1800', '').replace('20,20', '900,20');
    const idT = await site.service.template('acme', { name: 'Off', language: 'zpl', source: off });
    expect((await site.validate({ body: site.payload({ idT, data: [{}] }) })).body).toMatchObject({
      warnings: [{ code: 'off-label', message: expect.stringMatching(/^line 3: .*900,20/) }],
    });
  });

  test('lists a thousand warnings at most, and counts them all', async () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, index]));
    const data = Array.from({ length: 20 }, () => ({ sku: 'a', name: 'b', ...fields }));
    const answer = await site.validate({ body: site.payload({ data }) });
    expect(answer.body).toMatchObject({ warningCount: 2_000, warnings: { length: 1_000 } });
  });
});

describe('warnings of an accepted job', () => {
  const off = '^XA\n^FO900,20^FD{{sku}}^FS\n^XZ';
  const cases: [string, Record<string, unknown>, string | null][] = [
    ['none: no header', {}, null],
    [
      'missing and unknown fields of all records',
      { data: [{ sku: 'a' }, { colour: 'red', height: 1 }] },
      'field-missing=3, field-unknown=2',
    ],
    ['no data', { data: undefined }, 'field-missing=2'],
    ['the media', { orientation: 'landscape' }, 'size-mismatch=1'],
    ['a raw template beside its label', { source: off, data: [{}] }, 'off-label=1, field-missing=1'],
  ];
  test.each(cases)(
    '%s, as validation counts them; the body stays as it is',
    async (_, { source, ...changes }, header) => {
      const raw = { name: 'Beside', language: 'zpl', source };
      const idT = source === undefined ? site.ids.template : await site.service.template('acme', raw);
      const body = site.payload({ idT, ...changes });
      const validated = await site.validate({ body });
      const counted = (header ?? '=0').split(', ').reduce((sum, one) => sum + Number(one.split('=')[1]), 0);
      expect(validated.body).toMatchObject({ warningCount: counted });
      // Twice: what is known of a template is kept for the next job.
      for (const key of [newKey(), newKey()]) {
        const answer = await site.enqueue({ key, body });
        expect([answer.status, answer.headers.get('platen-warnings')]).toEqual([201, header]);
        expect(answer.text).toMatch(body['data'] === undefined ? /^"[^"]+"$/ : /^\["[^"]+"\]$/);
        const replay = await site.enqueue({ key, body });
        expect([replay.status, replay.headers.get('platen-warnings')]).toEqual([200, null]);
      }
    },
  );
});

describe('quota', () => {
  test('counts records × copies, blocks what goes over, and a refused job takes nothing', async () => {
    const tenant = await site.service.tenant('counted', 10);
    const token = await site.service.token(await site.service.integration(tenant));
    const idT = await site.service.template(tenant);
    const post = (numberCopies: number) =>
      site.enqueue({ token, tenant, body: site.payload({ idT, numberCopies, data: [{}, {}] }) });
    expect((await post(4)).status).toBe(201);
    expect(codeOf(await post(2))).toBe('quota-exceeded');
    expect((await post(1)).status).toBe(201);
    expect(codeOf(await post(1))).toBe('quota-exceeded');
    expect((await site.service.admin('GET', `/tenants/${tenant}`)).body).toMatchObject({
      quota: { labels: 10, used: 10 },
    });
  });

  test('last month does not count', async () => {
    const tenant = await site.service.tenant('monthly', 1);
    const token = await site.service.token(await site.service.integration(tenant));
    const idT = await site.service.template(tenant);
    const post = () => site.enqueue({ token, tenant, body: site.payload({ idT }) });
    expect((await post()).status).toBe(201);
    expect((await post()).status).toBe(403);
    await site.service.pool.query(
      `UPDATE platen.usage SET month = (month - interval '1 month')::date WHERE tenant_id = $1`,
      [tenant],
    );
    expect((await post()).status).toBe(201);
  });

  test('what was printed before a quota was set counts in it', async () => {
    const tenant = await site.service.tenant('latecomer');
    const token = await site.service.token(await site.service.integration(tenant));
    const idT = await site.service.template(tenant);
    const post = () => site.enqueue({ token, tenant, body: site.payload({ idT, numberCopies: 2 }) });
    for (let i = 0; i < 3; i += 1) expect((await post()).status).toBe(201);
    await site.service.tenant(tenant, 7);
    expect((await post()).status).toBe(403);
    await site.service.tenant(tenant, 8);
    expect((await post()).status).toBe(201);
  });
});

describe('Versioning: only the two routes', () => {
  test.each([
    ['GET', '/v2/jobs', 405],
    ['DELETE', '/v2/jobs/validate', 405],
    ['GET', '/v2/jobs/validate', 405],
    ['POST', '/v1/jobs', 404],
    ['GET', '/v2/jobs/0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 404],
    ['POST', '/v2/jobs/0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f/cancel', 404],
    ['GET', '/v2/templates', 404],
    ['GET', '/v2/printers', 404],
    ['GET', '/nothing', 404],
    ['GET', '/%zz', 400],
  ])('%s %s → %i', async (method, path, status) => {
    const answer = await site.service.call(path, { method, token: site.tokens.good, tenant: 'acme' });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    if (status === 405) expect(answer.headers.get('allow')).toContain('POST');
  });
});
