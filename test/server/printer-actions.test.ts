/** What a person does to a printer: hold and resume, clear its lane, rename, forget, a test label. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jobBulkResult } from '../../src/contract/job-actions.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { printerDetails, printerTested } from '../../src/contract/printer-actions.ts';
import { useBreakableQueue } from '../kit/queue/breakable-queue.ts';
import { backends } from '../kit/servers/backends.ts';
import {
  type Answer,
  codeOf,
  FORMAT_203,
  FORMAT_PDF,
  jobIdOf,
  PRINTER,
  pointersOf,
} from '../kit/service/harness.ts';

const LENGTH = { contended: 60_000, alone: 60_000 };
const OWN = 'serial-bbbbbbbbbbbb';

describe.each(backends().filter(({ embedded }) => !embedded))('on $name', (backend) => {
  const { queue, service } = useBreakableQueue(backend);
  let idT = '';

  beforeAll(async () => {
    await service.tenant('acme');
    await service.tenant('globex');
    idT = await service.template('acme');
    await service.agent([{ id: OWN, name: 'Own' }], { agentId: 'agent-acme', tenantId: 'acme' });
  });
  beforeEach(async () => {
    await service.agent([{}]);
    await act('resume');
  });

  const act = (action: string, body: object = {}, id: string = PRINTER): Promise<Answer> =>
    service.admin('POST', `/printers/${id}/${action}`, body);
  const seen = async (id: string = PRINTER) =>
    printerDetails.parse((await service.admin('GET', `/printers/${id}`)).body);
  const show = async (id: string): Promise<unknown> => (await service.admin('GET', `/jobs/${id}`)).body;

  async function enqueue(tenant = 'acme'): Promise<string> {
    const template = tenant === 'acme' ? idT : await service.template(tenant);
    const body = { idT: template, printerId: PRINTER, numberCopies: 2 };
    return jobIdOf(await service.admin('POST', `/tenants/${tenant}/jobs`, body));
  }

  async function held(): Promise<boolean | undefined> {
    const ask = { lane: PRINTER, term: 'process.1', fresh: true, reaches: true };
    const [answer] = await service.queues.askLeases('agent-one', [ask], LENGTH);
    expect(answer?.canceled).toEqual([]);
    return answer?.held;
  }

  test('held, its jobs say who holds it, and its agent is told; resumed, nothing of it is left', async () => {
    expect(await held()).toBe(false);
    const answer = await act('hold', { why: 'new ribbon' });
    expect(printerDetails.parse(answer.body).held).toMatchObject({ by: 'admin', why: 'new ribbon' });
    expect(await held()).toBe(true);
    const id = await enqueue();
    expect(await show(id)).toMatchObject({
      status: 'queued',
      reasons: ['printer-held'],
      hold: { by: 'admin', why: 'new ribbon' },
    });
    // Who held it first is who is asked.
    await act('hold', { why: 'me too' });
    expect((await seen()).held).toMatchObject({ why: 'new ribbon' });
    await act('resume');
    expect([await held(), (await seen()).held]).toEqual([false, null]);
    expect(await show(id)).toMatchObject({ reasons: [], hold: null });
    await service.admin('POST', `/jobs/${id}/cancel`);
  });

  test('of two who hold and resume at once, the queue says what the database says', async () => {
    for (let turn = 0; turn < 5; turn++) {
      await Promise.all([act('hold'), act('resume'), act('hold'), act('resume')]);
      expect(await held()).toBe((await seen()).held !== null);
    }
  });

  test('while the queue is away it is written down, and told when it is back, or has lost it', async () => {
    queue.broken = true;
    expect((await act('hold')).status).toBe(200);
    expect(await held()).toBe(false);
    queue.broken = false;
    await expect.poll(held, { timeout: 10_000 }).toBe(true);
    await service.queues.markHeld(PRINTER, false);
    await expect.poll(held, { timeout: 10_000 }).toBe(true);
    queue.broken = true;
    await act('resume');
    queue.broken = false;
    await expect.poll(held, { timeout: 10_000 }).toBe(false);
  });

  test('its lane is cleared of what waits, after a look at what that is', async () => {
    const ids = [await enqueue(), await enqueue('globex'), await enqueue()];
    for (const id of ids)
      await expect.poll(() => service.queues.look(PRINTER, id), { timeout: 10_000 }).not.toBeNull();
    expect(await seen()).toMatchObject({ jobs: { queued: 3, printing: 0, held: 0 } });
    const plan = jobBulkResult.parse((await act('clear', { dryRun: true })).body);
    expect(plan.jobs.map(({ id, outcome, labels }) => [id, outcome, labels])).toEqual(
      ids.toReversed().map((id) => [id, 'done', 2]),
    );
    expect(await seen()).toMatchObject({ jobs: { queued: 3 } });
    // The job in progress is left alone, unless somebody wants that stopped too.
    const [, begun] = ids;
    const set = 'UPDATE platen.jobs SET status = $2 WHERE id = $1';
    await service.pool.query(set, [begun, 'printing']);
    const asks = async (printing: boolean) =>
      jobBulkResult.parse((await act('clear', { dryRun: true, printing })).body).jobs;
    expect(await asks(false)).toHaveLength(2);
    // It comes last: its agent would take the next one meanwhile.
    expect(await asks(true)).toMatchObject([{}, {}, { id: begun, status: 'printing', outcome: 'asked' }]);
    await service.pool.query(set, [begun, 'queued']);
    const done = jobBulkResult.parse((await act('clear', { why: 'wrong batch' })).body);
    expect(done.jobs.map(({ status }) => status)).toEqual(['canceled', 'canceled', 'canceled']);
    expect(await seen()).toMatchObject({ jobs: { queued: 0 } });
    expect(await show(ids[0] ?? '')).toMatchObject({
      events: [{}, { kind: 'canceled', why: 'wrong batch' }],
    });
  });

  test('renamed it is shown so, and still known by the name that its agent reports', async () => {
    const rename = (name: string | null) => service.admin('PUT', `/printers/${PRINTER}/name`, { name });
    expect((await rename('Dock 3 <img src=x>')).body).toMatchObject({
      name: 'Dock 3 <img src=x>',
      reportedName: 'Zebra',
    });
    const listed = z.array(printerDetails).parse((await service.admin('GET', '/printers')).body);
    expect(listed.find(({ id }) => id === PRINTER)?.name).toBe('Dock 3 <img src=x>');
    expect((await rename(null)).body).toMatchObject({ name: 'Zebra' });
    expect(codeOf(await rename('  '))).toBe('payload-invalid');
  });

  test('where it stands, its group and a note are kept, and are gone once it is forgotten', async () => {
    const about = { place: 'Hall 2, dock 4', group: 'Shipping', note: 'Paper is in the cupboard.' };
    const path = `/printers/${PRINTER}/about`;
    const answer = await service.admin('PUT', path, { ...about, place: ` ${about.place} ` });
    expect(printerDetails.parse(answer.body)).toMatchObject(about);
    expect(await seen()).toMatchObject(about);
    const long = await service.admin('PUT', path, { ...about, group: 'x'.repeat(101) });
    expect([long.status, pointersOf(long)]).toEqual([400, ['/group']]);
    await service.admin('PUT', path, { place: '', group: '', note: '' });
    expect(await seen()).toMatchObject({ place: '', group: '', note: '' });
  });

  test('set, over what its agent says, as far as each of its languages goes; what it does not take is named', async () => {
    const set = (settings: object, id = PRINTER) =>
      service.admin('PUT', `/printers/${id}/settings`, settings);
    const tspl = { ...FORMAT_203, id: 'tspl', name: 'TSPL', language: 'tspl' as const };
    const formats = [FORMAT_203, FORMAT_PDF, tspl].map((format) => ({ ...format, speed: 4 }));
    await service.agent([{ formats }]);
    const answer = printerDetails.parse((await set({ darkness: 12, printMode: 'cutter' })).body);
    expect(answer).toMatchObject({
      settings: { darkness: 12, printMode: 'cutter' },
      limits: { darkness: { from: 0, to: 15, step: 1 }, thermalMode: ['transfer', 'direct'] },
      formats: [
        { language: 'zpl', speed: 4, darkness: 12, printMode: 'cutter' },
        { language: 'pdf', speed: 4 },
        { language: 'tspl', speed: 4, darkness: 12, printMode: 'cutter' },
      ],
    });
    expect(answer.formats[1]).not.toHaveProperty('darkness');

    const refused = await set({ darkness: 20, printMode: 'applicator', labelTop: 3, speed: 1.5 });
    expect([codeOf(refused), pointersOf(refused)]).toEqual(['payload-invalid', ['/speed']]);
    const beyond = await set({ darkness: 20, printMode: 'applicator', labelTop: 3 });
    expect([codeOf(beyond), pointersOf(beyond)]).toEqual(['payload-invalid', ['/darkness', '/printMode']]);
    expect(beyond.text).toContain('expected a whole number from 0 to 15');
    expect(pointersOf(await set({ storedFormats: false }))).toEqual(['/storedFormats']);
    expect((await seen()).settings).toEqual({ darkness: 12, printMode: 'cutter' });

    // Its agent has another printer there now, which takes less.
    await service.agent([{ formats: [{ ...FORMAT_203, language: 'epl' }] }]);
    expect((await seen()).formats).toEqual([{ ...FORMAT_203, language: 'epl', darkness: 12 }]);
    await service.agent([{ formats: [FORMAT_PDF] }]);
    expect((await seen()).limits).toEqual({});
    expect(pointersOf(await set({ speed: 3 }))).toEqual(['/speed']);
    await service.agent([{}]);
    expect((await set({})).body).toMatchObject({ settings: {} });
  });

  test('one that another tenant has under the same ID is set for that one alone', async () => {
    const id = 'serial-eeeeeeeeeeee';
    const own = { id: OWN, name: 'Own' };
    await service.agent([own, { id, name: 'Ours' }], { agentId: 'agent-acme', tenantId: 'acme' });
    await service.agent([{ id, name: 'Theirs' }], { agentId: 'agent-globex', tenantId: 'globex' });
    const set = await service.admin('PUT', `/printers/${id}/settings?scope=globex`, { darkness: 30 });
    expect(set.status).toBe(200);
    const of = async (scope: string) =>
      printerDetails.parse((await service.admin('GET', `/printers/${id}?scope=${scope}`)).body).settings;
    expect([await of('globex'), await of('acme')]).toEqual([{ darkness: 30 }, {}]);
  });

  test('forgotten once no agent has it, and not before', async () => {
    const id = 'serial-999999999999';
    await service.agent([{}, { id, name: 'Old' }]);
    const forget = () => service.admin('DELETE', `/printers/${id}`);
    await act('hold', {}, id);
    await service.admin('PUT', `/printers/${id}/settings`, { darkness: 9 });
    expect(codeOf(await forget())).toBe('printer-in-use');
    await service.agent([{}]);
    expect(await seen(id)).toMatchObject({ gone: true, agents: [] });
    expect((await forget()).status).toBe(204);
    expect(codeOf(await forget())).toBe('printer-not-found');
    await service.agent([{}, { id, name: 'Old' }]);
    expect(await seen(id)).toMatchObject({ gone: false, held: null, settings: {} });
  });

  test('a test label is a job like any other, asked for once with one key', async () => {
    const ask = () =>
      service.call(`/app/printers/${OWN}/test`, {
        body: { tenant: 'acme' },
        key: 'one-test',
        headers: { authorization: 'Bearer admin-token-for-tests-0123456789' },
      });
    const { id } = printerTested.parse((await ask()).body);
    expect(printerTested.parse((await ask()).body)).toEqual({ id });
    expect(await show(id)).toMatchObject({ printer: { id: OWN }, labels: { total: 1 }, account: 'admin' });
    expect(
      (
        await fetch(`${service.url}/app/jobs/${id}/labels/0.png`, {
          headers: { authorization: 'Bearer admin-token-for-tests-0123456789' },
        })
      ).status,
    ).toBe(200);
    await expect
      .poll(() => service.queues.look(laneOf({ scope: 'acme', printerId: OWN }), id), { timeout: 10_000 })
      .not.toBeNull();
    expect(codeOf(await act('test', { tenant: 'globex' }, OWN))).toBe('printer-not-found');
    expect(codeOf(await act('test', { tenant: 'acme', format: 'A0' }, OWN))).toBe('format-unknown');
  });

  test('one that is not there', async () => {
    for (const id of ['serial-nobody00', 'nonsense', '%00']) {
      expect(codeOf(await act('hold', {}, id))).toBe('printer-not-found');
      expect(codeOf(await service.admin('GET', `/printers/${id}`))).toBe('printer-not-found');
    }
    expect(codeOf(await act('hold', { reason: 'x' }))).toBe('payload-invalid');
    expect(codeOf(await service.admin('POST', `/printers/${OWN}/hold?scope=globex`, {}))).toBe(
      'printer-not-found',
    );
  });
});
