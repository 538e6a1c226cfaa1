/** What the interface takes, and what a retry of it gets: `shared/interface.md`, Enqueue and Idempotency. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../kit/queue/serving.ts';
import {
  codeOf,
  FORMAT_203,
  FORMAT_PDF,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
} from '../kit/service/harness.ts';
import { InterfaceSite, PRINTERS, TWIN_2 } from '../kit/service/interface-site.ts';

const site = new InterfaceSite();
beforeAll(() => site.start());
afterAll(() => site.stop());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('what POST /v2/jobs takes', () => {
  const taken: {
    rule: string;
    body: () => Record<string, unknown>;
    labels: number;
    printer?: string;
    format?: string;
  }[] = [
    {
      rule: 'the smallest request by printer ID',
      body: () => site.payload(),
      labels: 1,
      format: FORMAT_203.name,
    },
    {
      rule: 'routing by exact name',
      body: () => site.payload({ printerId: undefined, printer: 'Zebra' }),
      labels: 1,
      printer: PRINTER,
    },
    {
      rule: 'printerId is preferred over printer',
      body: () => site.payload({ printerId: TWIN_2, printer: 'Zebra' }),
      labels: 1,
      printer: TWIN_2,
    },
    {
      rule: 'printer is the fallback for an unknown printerId',
      body: () => site.payload({ printerId: 'serial-000000000000', printer: 'Zebra' }),
      labels: 1,
      printer: PRINTER,
    },
    {
      rule: 'copies apply to each record',
      body: () => site.payload({ numberCopies: 3, data: [{}, {}] }),
      labels: 6,
    },
    { rule: 'landscape', body: () => site.payload({ orientation: 'landscape' }), labels: 1 },
    {
      rule: 'a format by name',
      body: () => site.payload({ format: FORMAT_PDF.name }),
      labels: 1,
      format: FORMAT_PDF.name,
    },
    {
      rule: 'a format by ID',
      body: () => site.payload({ format: FORMAT_PDF.id }),
      labels: 1,
      format: FORMAT_PDF.name,
    },
    {
      rule: 'a ZPL template takes the first ZPL format',
      body: () => site.payload({ idT: site.ids.raw }),
      labels: 1,
      format: FORMAT_203.name,
    },
    {
      rule: 'strings, numbers, booleans and null as values, and any text in them',
      body: () =>
        site.payload({
          data: [
            { sku: '^XZ~JR "\n\0\ud800', name: 0.30000000000000004 },
            { sku: true, name: null },
          ],
        }),
      labels: 2,
    },
    {
      rule: 'missing and unknown fields are warnings only',
      body: () => site.payload({ data: [{ colour: 'red' }] }),
      labels: 1,
    },
  ];
  test.each(taken)('$rule', async ({ body, labels, printer, format }) => {
    const answer = await site.enqueue({ body: body() });
    expect(answer.text).toMatch(/^\["[^"]+"\]$/);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const job = await site.service.admin('GET', `/jobs/${jobIdOf(answer)}`);
    expect(jobIdOf(answer)).toMatch(UUID);
    expect(job.body).toMatchObject({
      tenant: 'acme',
      status: 'queued',
      labels: { total: labels, sent: 0, printed: 0 },
      printer: { id: printer ?? PRINTER },
      ...(format === undefined ? {} : { format }),
    });
  });

  test.each(['x\ud800', 'x\0'])(
    'a printer name that no printer can have is kept beside the ID, each time: %j',
    async (printer) => {
      const body = site.payload({ printer });
      // What the first request looked up serves the second.
      for (const _ of [1, 2]) expect((await site.enqueue({ body })).status).toBe(201);
      const unknown = await site.enqueue({ body: { ...body, printerId: undefined } });
      expect([codeOf(unknown), pointersOf(unknown)]).toEqual(['printer-unknown', ['/printer']]);
    },
  );

  test('a field may be called like what every object has', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'prototype', '__defineGetter__', 'valueOf'];
    const idT = await site.service.template('acme', {
      name: 'Inherited',
      width: 101.6,
      height: 152.4,
      fields: names.map((name) => ({ name })),
      elements: names.map((name, at) => ({
        type: 'text',
        x: 4,
        y: 4 + 8 * at,
        text: `{{${name}}}`,
        size: 4,
      })),
    });
    const data = [Object.fromEntries(names.map((name) => [name, `of ${name}`]))];
    const body = site.payload({ idT, data });
    expect((await site.validate({ body })).body).toMatchObject({ warnings: [], warningCount: 0 });
    const answer = await site.enqueue({ body });
    expect(answer.status).toBe(201);
    const { rows } = await site.service.pool.query<{ records: unknown }>(
      "SELECT payload->'records' AS records FROM platen.jobs WHERE id = $1",
      [jobIdOf(answer)],
    );
    expect(rows[0]?.records).toEqual(data);
  });

  test('Enqueue: a template-only request answers one ID, not an array', async () => {
    const answer = await site.enqueue({
      body: site.payload({ idT: site.ids.plain, data: undefined, numberCopies: 2 }),
    });
    expect(answer.status).toBe(201);
    expect(answer.text).toBe(JSON.stringify(answer.body));
    expect(answer.body).toMatch(UUID);
    expect((await site.service.admin('GET', `/jobs/${jobIdOf(answer)}`)).body).toMatchObject({
      labels: { total: 2 },
    });
  });

  test('the queued job is complete, and keeps the template as it was', async () => {
    const answer = await site.enqueue({
      body: site.payload({ numberCopies: 2, data: [{ sku: '\0\ud800', name: 12 }] }),
    });
    await site.service.template('acme', { name: 'Shelf label', width: 50, height: 25, elements: [] });
    const delivered = Promise.withResolvers<unknown>();
    const consumer = await serve(site.service.queues, PRINTER, async ({ job }) => {
      if (job.jobId === jobIdOf(answer)) delivered.resolve(job);
      return 'done';
    });
    expect(await delivered.promise).toMatchObject({
      jobId: jobIdOf(answer),
      tenantId: 'acme',
      template: { name: 'Shelf label', width: 101.6 },
      copies: 2,
      orientation: 'portrait',
      format: FORMAT_203,
      records: [{ sku: '\0\ud800', name: 12 }],
    });
    await consumer.stop();
    await site.service.template('acme');
  });
});

describe('Idempotency-Key', () => {
  test('an identical retry gets the same body with 200 and Idempotency-Replayed', async () => {
    const key = newKey();
    const first = await site.enqueue({ key });
    const retry = await site.enqueue({ key });
    expect([first.status, retry.status]).toEqual([201, 200]);
    expect(retry.text).toBe(first.text);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(retry.headers.get('idempotency-replayed')).toBe('true');
  });

  test('the same JSON in another order and spacing is identical', async () => {
    const key = newKey();
    const first = await site.enqueue({ key });
    const body = Object.fromEntries(Object.entries(site.payload()).reverse());
    const retry = await site.enqueue({ key, raw: JSON.stringify(body, null, 2) });
    expect(retry.status).toBe(200);
    expect(retry.text).toBe(first.text);
  });

  test('another payload under the same key is 400 and queues nothing', async () => {
    const key = newKey();
    await site.enqueue({ key });
    const before = await site.jobCount();
    const other = await site.enqueue({ key, body: site.payload({ numberCopies: 2 }) });
    expect([other.status, codeOf(other)]).toEqual([400, 'idempotency-key-reused']);
    expect(await site.jobCount()).toBe(before);
  });

  test('a refused request leaves no key behind', async () => {
    const key = newKey();
    expect((await site.enqueue({ key, body: site.payload({ idT: 'no-such-template' }) })).status).toBe(404);
    expect((await site.enqueue({ key })).status).toBe(201);
  });

  test('keys belong to a tenant', async () => {
    const key = newKey();
    const first = await site.enqueue({ key });
    const other = await site.enqueue({
      key,
      token: site.tokens.other,
      tenant: 'globex',
      body: site.payload({ idT: site.ids.other }),
    });
    expect([first.status, other.status]).toEqual([201, 201]);
    expect(jobIdOf(other)).not.toBe(jobIdOf(first));
  });

  test('a retry is answered even when its printer has gone since', async () => {
    const key = newKey();
    const body = site.payload({ printerId: 'serial-777777777777' });
    await site.service.agent([...PRINTERS, { id: 'serial-777777777777', name: 'Short-lived' }]);
    const first = await site.enqueue({ key, body });
    await site.service.agent(PRINTERS);
    expect(codeOf(await site.enqueue({ body }))).toBe('printer-unassigned');
    expect((await site.enqueue({ key, body })).text).toBe(first.text);
  });

  test('a key is forgotten after 24 hours', async () => {
    const key = newKey();
    const first = await site.enqueue({ key });
    await site.service.pool.query(
      `UPDATE platen.idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key = $1`,
      [key],
    );
    const later = await site.enqueue({ key, body: site.payload({ numberCopies: 2 }) });
    expect(later.status).toBe(201);
    expect(jobIdOf(later)).not.toBe(jobIdOf(first));
    expect((await site.enqueue({ key, body: site.payload({ numberCopies: 2 }) })).text).toBe(later.text);
  });
});
