/** What one tenant may send and leave waiting, so that the others have room. */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { Backlog } from '../../src/server/jobs/accept/backlog.ts';
import { type Answer, codeOf, jobIdOf, newKey, PRINTER, TEMPLATE } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const OTHER = 'serial-bbbbbbbbbbbb';

describe('requests in a second', () => {
  const service = useService({ config: { limits: { requestsPerSecond: 5 } } });
  const acme = useTenant(service);
  const globex = useTenant(service, { id: 'globex' });

  test('more are told to come again, those of another tenant are served', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => acme.validate()));
    const refused = answers.filter((answer) => codeOf(answer) === 'too-many-requests');
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 200).length).toBe(30 - refused.length);
    expect(refused[0]).toMatchObject({ status: 429, body: { retrySafe: true } });
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect((await globex.validate()).status).toBe(200);
    await expect.poll(async () => (await acme.validate()).status, { timeout: 10_000 }).toBe(200);
  });
});

describe('jobs that wait', () => {
  const limits = { waitingJobs: 8, waitingJobsPerPrinter: 5, waitingBytes: 1024 * 1024 };
  const service = useService({ redis: false, config: { limits } });
  const printers = [{}, { id: OTHER, name: 'Other' }];
  const acme = useTenant(service, { printers });
  const globex = useTenant(service, { id: 'globex', printers: [] });

  test('at one printer, of a tenant, and by their size; what has ended waits no more', async () => {
    const keys = Array.from({ length: 7 }, newKey);
    const here = await Promise.all(keys.map((key) => acme.enqueue({}, { key })));
    const [first, ...more] = here.filter(({ status }) => status === 201);
    expect(more).toHaveLength(4);
    const [full] = here.filter(({ status }) => status !== 201);
    expect([full?.status, full && codeOf(full), full?.headers.get('retry-after')]).toEqual([
      429,
      'too-many-waiting',
      '30',
    ]);
    expect(full?.text).toContain('5 jobs of the tenant wait at this printer; the limit is 5');
    // Another printer has room, until the tenant has none.
    const there = await Promise.all(keys.map(() => acme.enqueue({ printerId: OTHER })));
    expect(there.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429, 429]);
    expect((await globex.enqueue()).status).toBe(201);
    // A retry of what was accepted gets its answer.
    if (first === undefined) throw new Error('none was accepted');
    expect((await acme.enqueue({}, { key: keys[here.indexOf(first)] })).status).toBe(200);
    expect(codeOf(await acme.byAdmin())).toBe('too-many-waiting');

    await service.report(
      jobReport(jobIdOf(first), { seq: 1, status: 'printed', labels: { sent: 1, printed: 1 } }),
    );
    await expect.poll(async () => (await acme.enqueue()).status, { timeout: 10_000 }).toBe(201);
    // What people ask for waits too.
    const again = await service.admin('POST', `/jobs/${jobIdOf(first)}/reprint`, {});
    expect(codeOf(again)).toBe('too-many-waiting');
    const label = await service.admin('POST', `/printers/${PRINTER}/test`, { tenant: 'acme' });
    expect(codeOf(label)).toBe('too-many-waiting');
  });

  test('what is being accepted counts, though the database has none of them yet and is asked anew', async () => {
    const limits = { waitingJobs: 100, waitingBytes: 1024, waitingJobsPerPrinter: 5 };
    const backlog = new Backlog(service.pool, limits);
    const job = { tenantId: 'initech', test: false, scope: null, printerId: PRINTER };
    const database = Promise.withResolvers<void>();
    const here = Array.from({ length: 5 }, () => backlog.admit(job, 1, () => database.promise));
    const sixth = () => backlog.admit(job, 1, async () => undefined);
    await expect(sixth()).rejects.toThrow('5 jobs of the tenant wait at this printer; the limit is 5');
    // Tests wait by themselves, and take no room.
    await backlog.admit({ ...job, test: true }, 1, async () => undefined);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
    await expect(sixth()).rejects.toThrow('the limit is 5');
    // The database refused them all: nothing waits.
    database.reject(new Error('refused'));
    expect((await Promise.allSettled(here)).every(({ status }) => status === 'rejected')).toBe(true);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
    await sixth();
    vi.restoreAllMocks();
  });

  test('bytes', async () => {
    // What the database compresses takes less.
    const data = Array.from({ length: 60 }, () => ({
      sku: 'A',
      name: Buffer.from(crypto.getRandomValues(new Uint8Array(12_000))).toString('hex'),
    }));
    const template = {
      name: 'Two dimensions',
      width: 100,
      height: 100,
      fields: [{ name: 'sku' }, { name: 'name' }],
      elements: [{ type: 'text', x: 1, y: 1, size: 4, text: '{{sku}}' }],
    };
    const large = { data, idT: await service.template('globex', template), printerId: PRINTER };
    expect(codeOf(await globex.enqueue(large))).toBe('too-many-waiting');
    expect((await globex.enqueue({ ...large, data: data.slice(0, 10) })).status).toBe(201);
  });
});

describe('templates', () => {
  const limits = { templates: 3, templateBytes: 1024 * 1024 };
  const service = useService({ redis: false, config: { limits } });
  beforeAll(async () => {
    for (const tenant of ['acme', 'globex', 'large']) await service.tenant(tenant);
  });
  const save = (tenant: string, name: string) =>
    service.admin('POST', `/tenants/${tenant}/templates`, { ...TEMPLATE, name });
  const text = (answer: Answer) => [answer.status, codeOf(answer), answer.text];

  test('one more than the limit is refused, also of many at once; another tenant has its own', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `Template ${n}`);
    const answers = await Promise.all(names.map((name) => save('acme', name)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    const [full] = answers.filter(({ status }) => status !== 201);
    expect(full && text(full)).toEqual([
      409,
      'templates-limit',
      expect.stringContaining('the tenant has 3 templates; the limit is 3'),
    ]);
    const [known] = answers.flatMap(({ status, body }) => (status === 201 ? [templateView.parse(body)] : []));
    if (known === undefined) throw new Error('none was saved');
    expect((await save('acme', known.name)).status).toBe(200);
    expect((await save('globex', 'Template 0')).status).toBe(201);
    await service.admin('DELETE', `/tenants/acme/templates/${known.id}`);
    expect((await save('acme', 'Another')).status).toBe(201);
  });

  test('bytes: the oldest versions make room, then there is none', async () => {
    // It cannot be compressed.
    const noise = () => randomBytes(120 * 1024).toString('base64');
    const saveLarge = (name: string) =>
      service.admin('POST', '/tenants/large/templates', {
        ...{ name, language: 'zpl', source: `^XA^FX ${noise()}^FS^FO9,9^A0N,30,30^FDa^FS^XZ` },
      });
    const first = templateView.parse((await saveLarge('First')).body);
    const versions = async () =>
      z
        .array(z.object({ number: z.int() }))
        .parse((await service.admin('GET', `/tenants/large/templates/${first.id}/versions`)).body)
        .map(({ number }) => number);
    for (let version = 2; version <= 6; version += 1) {
      expect((await saveLarge('First')).status).toBe(200);
    }
    expect(await versions()).toEqual([6, 5, 4, 3, 2]);
    const second = await saveLarge('Second');
    expect(text(second)).toEqual([409, 'templates-limit', expect.stringContaining('the limit is 1048576')]);
    // What was refused has left nothing behind, and taken nothing away.
    expect(await versions()).toEqual([6, 5, 4, 3, 2]);
    expect(
      (await service.admin('PUT', `/tenants/large/templates/${first.id}/name`, { name: 'New' })).status,
    ).toBe(200);
    expect((await service.admin('DELETE', `/tenants/large/templates/${first.id}`)).status).toBe(200);
    expect((await saveLarge('Second')).status).toBe(201);
  });
});
