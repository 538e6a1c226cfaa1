/** Raw templates of a tenant set no printer up, unless an administrator allows it, and no longer than that. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { backends } from '../kit/servers/backends.ts';
import { codeOf, jobIdOf, PRINTER, pointersOf } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService } from '../kit/service/use-service.ts';

const OTHER = 'serial-bbbbbbbbbbbb';
const PAUSES = { name: 'Pauses', language: 'zpl', source: '^XA^FO1,1^FDa^FS\n^PP^XZ', width: 50, height: 25 };
const DRAWS = { ...PAUSES, name: 'Draws', source: '^XA^FO1,1^FDa^FS^XZ' };
const NAMED = /\^PP is for all that use the printer/;

describe.each(backends().filter(({ embedded }) => !embedded))('on $name', (backend) => {
  const service = useService({ backend, config: { sweepInterval: 100 } });
  const templates = { pauses: '', draws: '' };
  beforeAll(async () => {
    await service.tenant('acme');
    await service.tenant('initech');
    await service.agent([{}, { id: OTHER, name: 'Other' }]);
    const refused = await service.admin('POST', '/tenants/acme/templates', PAUSES);
    expect([refused.status, codeOf(refused), pointersOf(refused)]).toEqual([
      400,
      'payload-invalid',
      ['/source'],
    ]);
    expect(refused.text).toMatch(
      /line 2: \^PP is for all that use the printer: it pauses the printer\. Leave it out/,
    );
    expect(await allow(true)).toMatchObject({ id: 'acme', printerCommands: true });
    templates.pauses = await service.template('acme', PAUSES);
    templates.draws = await service.template('acme', DRAWS);
  });
  beforeEach(() => allow(true));

  const allow = async (allowed: boolean) =>
    (await service.admin('PUT', '/tenants/acme/printer-commands', { allowed })).body;
  const enqueue = async (idT: string) => {
    const body = { idT, printerId: PRINTER, numberCopies: 4 };
    const id = jobIdOf(await service.admin('POST', '/tenants/acme/jobs', body));
    await expect.poll(() => service.queues.look(PRINTER, id), { timeout: 10_000 }).not.toBeNull();
    return id;
  };
  const show = async (id: string) => (await service.admin('GET', `/jobs/${id}`)).body;
  const payloadOf = async (id: string) => {
    const { rows } = await service.pool.query('SELECT payload FROM platen.jobs WHERE id = $1', [id]);
    return rows[0].payload;
  };
  const said = async (answer: ReturnType<typeof service.admin>) => {
    const { status, text } = await answer;
    return [status, text];
  };
  const refused = [400, expect.stringMatching(NAMED)];
  const error = { code: 'printer-aborted', message: 'so it was' };
  const ended = async (idT: string, changes: object) => {
    const id = await enqueue(idT);
    await service.report(jobReport(id, { seq: 1, labels: { sent: 4, printed: 1 }, ...changes }));
    return id;
  };

  test('allowed for one tenant, carried by its jobs, and gone once it is withdrawn', async () => {
    expect((await service.admin('POST', '/tenants/initech/templates', PAUSES)).status).toBe(400);
    expect(await payloadOf(await enqueue(templates.pauses))).toMatchObject({ printerCommands: true });
    await allow(false);
    const body = { idT: templates.pauses, printerId: PRINTER };
    expect(await said(service.admin('POST', '/tenants/acme/jobs', body))).toEqual(refused);
  });

  test('a reprint, a retry and a move have the permission of now', async () => {
    const [printed, failed] = [
      await ended(templates.pauses, { status: 'printed', labels: { sent: 4, printed: 4 } }),
      await ended(templates.pauses, { status: 'failed', error }),
    ];
    const harmless = await ended(templates.draws, { status: 'failed', error });
    await allow(false);
    expect(await said(service.admin('POST', `/jobs/${printed}/reprint`, {}))).toEqual(refused);
    expect(await said(service.admin('POST', `/jobs/${failed}/resume`, {}))).toEqual(refused);
    expect(await said(service.admin('POST', `/jobs/${failed}/move`, { printerId: OTHER }))).toEqual(refused);
    for (const action of [{ action: 'retry' }, { action: 'move', to: { printerId: OTHER } }]) {
      const asked = { ...action, ids: [failed], dryRun: true };
      expect((await service.admin('POST', '/jobs/bulk', asked)).body).toMatchObject({
        jobs: [{ outcome: 'refused', detail: expect.stringMatching(NAMED) }],
      });
    }
    const again = await service.admin('POST', `/jobs/${harmless}/reprint`, {});
    expect(again.status).toBe(201);
    const moved = await service.admin('POST', `/jobs/${harmless}/move`, { printerId: OTHER });
    expect(moved.status).toBe(200);
    for (const id of [z.object({ id: z.string() }).parse(again.body).id, harmless])
      expect(Object.keys(await payloadOf(id))).not.toContain('printerCommands');
  });

  test('a withdrawal that commits while a job is accepted counts for that job', async () => {
    const printed = await ended(templates.pauses, { status: 'printed', labels: { sent: 4, printed: 4 } });
    const failed = await ended(templates.draws, { status: 'failed', error });
    const client = await service.pool.connect();
    try {
      await client.query(`BEGIN; SELECT 1 FROM platen.tenants WHERE id = 'acme' FOR UPDATE;
        UPDATE platen.tenants SET printer_commands = false WHERE id = 'acme'`);
      const body = { idT: templates.pauses, printerId: PRINTER };
      const answers = [
        service.admin('POST', `/jobs/${printed}/reprint`, {}),
        service.admin('POST', '/tenants/acme/jobs', body),
        service.admin('POST', `/jobs/${failed}/resume`, {}),
      ];
      await expect
        .poll(async () => {
          const { rows } = await service.pool.query(`SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`);
          return rows[0].waiting;
        })
        .toBe(3);
      await client.query('COMMIT');
      const [reprint, job, resume] = await Promise.all(answers);
      expect([reprint?.status, reprint?.text]).toEqual(refused);
      expect([job?.status, job?.text]).toEqual(refused);
      expect(resume?.status).toBe(200);
      expect(Object.keys(await payloadOf(failed))).not.toContain('printerCommands');
    } finally {
      client.release();
    }
  });

  test('what waits with it is held; released, it has no permission', async () => {
    const [pauses, draws, taken] = [
      await enqueue(templates.pauses),
      await enqueue(templates.draws),
      await enqueue(templates.pauses),
    ];
    await service.report(jobReport(taken, { seq: 1, status: 'printing', labels: { sent: 0, printed: 0 } }));
    await allow(false);
    for (const id of [pauses, draws]) {
      expect(await show(id)).toMatchObject({
        ...{ status: 'held', uncertain: null, labels: { printed: 0 } },
        error: { code: 'permission-withdrawn', reason: { code: 'printer-commands-withdrawn' } },
      });
      expect(await service.queues.look(PRINTER, id)).toBeNull();
    }
    expect(await said(service.admin('POST', `/jobs/${pauses}/resume`, {}))).toEqual(refused);
    expect((await service.admin('POST', `/jobs/${draws}/resume`, {})).body).toMatchObject({
      status: 'queued',
    });
    expect(Object.keys(await payloadOf(draws))).not.toContain('printerCommands');
    expect(await show(taken)).toMatchObject({ status: 'printing' });
    await service.report(jobReport(taken, { seq: 2, status: 'queued', labels: { sent: 0, printed: 0 } }));
    await expect
      .poll(() => show(taken), { timeout: 10_000 })
      .toMatchObject({ status: 'held', error: { code: 'permission-withdrawn' } });
    await allow(true);
    expect((await service.admin('POST', `/jobs/${pauses}/resume`, {})).body).toMatchObject({
      status: 'queued',
    });
    expect(await payloadOf(pauses)).toMatchObject({ printerCommands: true });
  });

  test('what is left of a job that was stopped to move is not printed with it', async () => {
    const id = await enqueue(templates.pauses);
    const now = { seq: 1, status: 'printing', labels: { sent: 1, printed: 1 } };
    await service.report(jobReport(id, now));
    const move = await service.admin('POST', `/jobs/${id}/move`, { printerId: OTHER });
    expect(move.body).toMatchObject({ reasons: ['cancel-requested'] });
    await allow(false);
    await service.report(jobReport(id, { ...now, seq: 2, status: 'canceled' }));
    await expect
      .poll(() => show(id), { timeout: 10_000 })
      .toMatchObject({ status: 'canceled', rests: [], moving: { refused: expect.stringMatching(NAMED) } });
  });

  test('the setting wants a tenant, and yes or no', async () => {
    expect(codeOf(await service.admin('PUT', '/tenants/nobody/printer-commands', { allowed: true }))).toBe(
      'tenant-not-found',
    );
    const answer = await service.admin('PUT', '/tenants/acme/printer-commands', { allowed: 'yes' });
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['/allowed']]);
  });

  test('a job of a template that sets nothing up carries no such thing', async () => {
    await service.admin('PUT', '/tenants/initech/printer-commands', { allowed: true });
    const idT = await service.template('initech', { name: 'Designed', width: 50, height: 25, elements: [] });
    const job = jobIdOf(await service.admin('POST', '/tenants/initech/jobs', { idT, printerId: PRINTER }));
    expect(Object.keys(await payloadOf(job))).not.toContain('printerCommands');
  });
});
