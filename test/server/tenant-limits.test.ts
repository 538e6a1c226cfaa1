/** What one tenant may send and leave waiting, so that the others have room. */
import { describe, expect, test } from 'vitest';
import { codeOf, jobIdOf, newKey, PRINTER } from '../kit/service/harness.ts';
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
    const at = here.findIndex((answer) => answer === first);
    expect((await acme.enqueue({}, { key: keys[at] })).status).toBe(200);
    expect(codeOf(await acme.byAdmin())).toBe('too-many-waiting');

    if (first === undefined) throw new Error('none was accepted');
    await service.report(
      jobReport(jobIdOf(first), { seq: 1, status: 'printed', labels: { sent: 1, printed: 1 } }),
    );
    await expect.poll(async () => (await acme.enqueue()).status, { timeout: 10_000 }).toBe(201);
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
