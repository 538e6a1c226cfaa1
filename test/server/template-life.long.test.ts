/** A template that is renamed or deleted, and the jobs that were queued with it. */
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { serve } from '../kit/queue/serving.ts';
import {
  type Answer,
  codeOf,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
  TEMPLATE,
} from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service);
beforeAll(() => service.tenant('globex'));

const shown = z.object({ version: z.string(), template: z.unknown().optional() });
const named = (name: string) => service.template('acme', { ...TEMPLATE, name });
const at = (id: string, more = '') => `/tenants/acme/templates/${id}${more}`;

function send(idT: string, key = newKey()): Promise<Answer> {
  return acme.enqueue({ idT, data: [{ sku: 'a\0b', name: 'x' }] }, { key });
}

/** What an agent would be given. */
async function queued(jobId: string): Promise<QueuedJob> {
  const found = Promise.withResolvers<QueuedJob>();
  const consumer = await serve(service.queues, PRINTER, async ({ job }) => {
    if (job.jobId === jobId) found.resolve(job);
    return 'done';
  });
  const job = await found.promise;
  await consumer.stop();
  return job;
}

test('renamed: its ID stays, and is what jobs are sent to; what is shown has the new name', async () => {
  const id = await named('Before');
  const answer = await service.admin('PUT', at(id, '/name'), { name: '  After ' });
  expect([answer.status, answer.body]).toMatchObject([200, { id, name: 'After', fields: ['sku', 'name'] }]);
  expect((await service.admin('GET', at(id))).body).toMatchObject({
    name: 'After',
    template: { name: 'After', elements: TEMPLATE.elements },
  });
  const sent = await send(id);
  expect(sent.status).toBe(201);
  expect((await service.admin('GET', `/jobs/${jobIdOf(sent)}`)).body).toMatchObject({
    template: { id, name: 'After' },
  });
  // The old name is free again, and another template's.
  expect(await named('Before')).not.toBe(id);
});

test('renamed to what another one is called, to nothing, or in another tenant: refused', async () => {
  const [one] = [await named('One'), await named('Two')];
  const refused = await service.admin('PUT', at(one, '/name'), { name: 'Two' });
  expect([refused.status, codeOf(refused)]).toEqual([409, 'template-exists']);
  expect((await service.admin('PUT', at(one, '/name'), { name: 'One' })).status).toBe(200);
  for (const name of ['', '   ', 'x'.repeat(201), 7]) {
    const answer = await service.admin('PUT', at(one, '/name'), { name });
    expect([codeOf(answer), pointersOf(answer)]).toEqual(['payload-invalid', ['/name']]);
  }
  for (const id of ['0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 'a%00b', "x'--"]) {
    expect(codeOf(await service.admin('PUT', at(id, '/name'), { name: 'New' }))).toBe('template-not-found');
    expect(codeOf(await service.admin('DELETE', at(id)))).toBe('template-not-found');
  }
  const theirs = `/tenants/globex/templates/${one}`;
  expect(codeOf(await service.admin('PUT', `${theirs}/name`, { name: 'New' }))).toBe('template-not-found');
  expect(codeOf(await service.admin('DELETE', theirs))).toBe('template-not-found');
  expect((await service.admin('GET', at(one))).body).toMatchObject({ name: 'One' });
});

test('saved over the version that was looked at: as it was sent; over another one it is refused, and changes nothing', async () => {
  const id = await named('Drawn');
  const versionOf = (answer: Answer) => shown.parse(answer.body).version;
  const first = await service.admin('GET', at(id));
  const elements = [{ y: 2, x: 1, size: 3, type: 'text', text: '{{sku}}' }];
  const drawn = { height: 20, name: ' Drawn ', width: 40, elements };
  const saved = await service.admin('PUT', at(id), { version: versionOf(first), template: drawn });
  expect([saved.status, saved.body]).toMatchObject([200, { id, name: 'Drawn', fields: ['sku'] }]);
  expect(versionOf(saved)).not.toBe(versionOf(first));
  const now = await service.admin('GET', at(id));
  expect(versionOf(now)).toBe(versionOf(saved));
  const text = JSON.stringify({ ...drawn, name: 'Drawn' });
  expect(JSON.stringify(shown.parse(now.body).template)).toBe(text);

  const late = await service.admin('PUT', at(id), { version: versionOf(first), template: TEMPLATE });
  expect([late.status, codeOf(late)]).toEqual([409, 'template-changed']);
  const taken = await named('Taken');
  const replace = (template: unknown, version = versionOf(now)) =>
    service.admin('PUT', at(id), { version, template });
  expect(codeOf(await replace({ ...drawn, name: 'Taken' }))).toBe('template-exists');
  expect(codeOf(await service.admin('PUT', at('nobody'), { version: '1', template: drawn }))).toBe(
    'template-not-found',
  );
  const theirs = `/tenants/globex/templates/${taken}`;
  expect(codeOf(await service.admin('PUT', theirs, { version: '1', template: drawn }))).toBe(
    'template-not-found',
  );
  expect(pointersOf(await replace({ ...drawn, width: 0 }))).toEqual(['/width']);
  expect(codeOf(await replace(undefined))).toBe('payload-invalid');
  expect(JSON.stringify(shown.parse((await service.admin('GET', at(id))).body).template)).toBe(text);
  expect((await replace(drawn)).status).toBe(200);
});

test('deleted: not found from then on, but for a retry; what was queued before prints, also after it had failed', async () => {
  const id = await named('Short-lived');
  const key = newKey();
  const sent = await send(id, key);
  const jobId = jobIdOf(sent);
  const answer = await service.admin('DELETE', at(id));
  expect([answer.status, answer.body]).toMatchObject([200, { id, name: 'Short-lived' }]);

  const late = await send(id);
  expect([late.status, codeOf(late)]).toEqual([404, 'template-not-found']);
  const validated = await acme.validate({ idT: id });
  expect([validated.status, codeOf(validated)]).toEqual([404, 'template-not-found']);
  expect(await send(id, key)).toMatchObject({ status: 200, body: sent.body });
  expect(codeOf(await service.admin('GET', at(id)))).toBe('template-not-found');
  expect(codeOf(await service.admin('DELETE', at(id)))).toBe('template-not-found');
  const list = (await service.admin('GET', '/tenants/acme/templates')).body;
  expect(JSON.stringify(list)).not.toContain(id);

  expect(await queued(jobId)).toMatchObject({ template: { elements: TEMPLATE.elements } });
  await service.report(jobReport(jobId, { seq: 1, status: 'failed' }));
  expect((await service.admin('POST', `/jobs/${jobId}/resume`, {})).status).toBe(200);
  expect(await queued(jobId)).toMatchObject({
    resume: { round: 1 },
    template: { elements: TEMPLATE.elements },
  });
  // Imported again it is another one.
  expect(await named('Short-lived')).not.toBe(id);
});

test('a list of large templates takes the service no more than a few of them do', async () => {
  await service.tenant('large');
  const COUNT = 60;
  // A statement each: all in one takes a busy machine longer than a statement may.
  for (let number = 1; number <= COUNT; number += 1) {
    await service.pool.query(
      `INSERT INTO platen.templates (id, tenant_id, name, body)
       SELECT gen_random_uuid(), 'large', name, json_build_object('name', name, 'width', 50, 'height', 25, 'elements', '[]'::json,
         'images', json_build_array(json_build_object('name', 'it', 'data', repeat('A', 2097152))))
       FROM (SELECT 'Large ' || $1::int AS name) AS names`,
      [number],
    );
  }
  const used = () => process.memoryUsage().heapUsed;
  const before = used();
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, used() - before);
  }, 2);
  const { body } = await service.admin('GET', '/tenants/large/templates');
  clearInterval(look);
  expect(z.array(z.object({ name: z.string() })).parse(body)).toHaveLength(COUNT);
  expect(most).toBeLessThan(100 * 1024 * 1024);
});

test('a draft: kept beside what prints, for whoever has seen both; the tenant’s alone, and bounded', async () => {
  const id = await named('Drafted');
  const wrong = {
    ...TEMPLATE,
    name: 'Drafted',
    elements: [{ type: 'text', x: 900, y: 2, size: 3, text: 'off' }],
  };
  const right = { ...TEMPLATE, name: 'Drafted' };
  const draft = (version: string, template: unknown = wrong) =>
    service.admin('PUT', at(id, '/draft'), { version, template });
  const versionOf = (answer: Answer) => z.object({ version: z.string() }).parse(answer.body).version;
  const seen = async () => await service.admin('GET', at(id));
  const first = versionOf(await seen());
  expect(codeOf(await service.admin('PUT', at(id), { version: first, template: wrong }))).toBe(
    'payload-invalid',
  );
  const kept = await draft(first);
  expect(kept.status).toBe(200);
  const both = await seen();
  expect(versionOf(both)).toBe(versionOf(kept));
  expect(both.body).toMatchObject({
    template: { elements: TEMPLATE.elements },
    draft: { template: wrong, at: expect.any(String) },
  });
  // What prints is as it was, and no other tenant has a draft of it.
  expect(await acme.newJob({ idT: id, data: [{ sku: 'A', name: 'B' }] })).toEqual(expect.any(String));
  const theirs = await service.admin('PUT', `/tenants/globex/templates/${id}/draft`, {
    version: versionOf(kept),
    template: wrong,
  });
  expect(codeOf(theirs)).toBe('template-not-found');
  // Whoever has not seen the draft writes over neither.
  expect(codeOf(await draft(first))).toBe('template-changed');
  expect(codeOf(await service.admin('PUT', at(id), { version: first, template: right }))).toBe(
    'template-changed',
  );
  expect(pointersOf(await draft(versionOf(kept), { ...wrong, width: 0 }))).toEqual(['/width']);
  // A version that is restored leaves the draft there; saved in its place, it is gone.
  const restored = await service.admin('PUT', at(id), { version: versionOf(kept), template: right });
  expect((await seen()).body).toHaveProperty('draft');
  const ended = await service.admin('PUT', at(id), {
    version: versionOf(restored),
    template: right,
    endsDraft: true,
  });
  expect(versionOf(await seen())).toBe(versionOf(ended));
  expect((await seen()).body).not.toHaveProperty('draft');
  await draft(versionOf(ended));
  await service.admin('DELETE', at(id));
  const left = await service.pool.query('SELECT FROM platen.template_drafts WHERE template_id = $1', [id]);
  expect(left.rowCount).toBe(0);
});
