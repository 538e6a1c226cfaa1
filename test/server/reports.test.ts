/** What becomes of agents' reports, in whatever order they come. */
import { describe, expect, test } from 'vitest';
import { JOB_STATUSES } from '../../src/contract/job-life.ts';
import { serverConfig } from '../../src/server/config.ts';
import { forgetJobs } from '../../src/server/jobs/outcome/retention.ts';
import { codeOf, FORMAT_203, FORMAT_PDF, PRINTER } from '../kit/service/harness.ts';
import { jobReport, useToldPrinter } from '../kit/service/job-report.ts';

const { service, acme, newJob, job } = useToldPrinter();

async function printers(tenant?: string): Promise<unknown> {
  return (await service.admin('GET', `/printers${tenant === undefined ? '' : `?tenant=${tenant}`}`)).body;
}

const HELD_BY_ANOTHER = {
  agentId: 'agent-two',
  delivery: 2,
  status: 'held',
  error: { code: 'outcome-unknown', message: 'being printed by another agent' },
  uncertain: { from: 0, to: 10 },
};

describe('of a job', () => {
  test('progress, reasons, the fault and what is uncertain are shown', async () => {
    const id = await newJob();
    await service.report(jobReport(id, { labels: { sent: 4, printed: 3 }, reasons: ['media-empty'] }));
    expect(await job(id)).toMatchObject({
      status: 'printing',
      labels: { total: 10, sent: 4, printed: 3 },
      reasons: ['media-empty'],
      error: null,
      uncertain: null,
    });
    const error = { code: 'outcome-unknown', message: 'power failed', record: 0 } as const;
    await service.report(
      jobReport(id, {
        seq: 1,
        status: 'held',
        labels: { sent: 6, printed: 4 },
        error,
        uncertain: { from: 4, to: 6 },
      }),
    );
    expect(await job(id)).toMatchObject({
      status: 'held',
      error,
      uncertain: { from: 4, to: 6 },
      reasons: [],
    });
  });

  test('an older or repeated report changes nothing, within a delivery and across deliveries', async () => {
    const id = await newJob();
    await service.report(
      jobReport(id, { delivery: 2, seq: 5, status: 'printed', labels: { sent: 10, printed: 10 } }),
    );
    const before = await job(id);
    for (const old of [
      { delivery: 2, seq: 5 },
      { delivery: 2, seq: 4 },
      { delivery: 1, seq: 9 },
    ]) {
      await service.report(jobReport(id, { ...old, labels: { sent: 1, printed: 1 } }));
      expect(await job(id)).toEqual(before);
    }
    expect(before).toMatchObject({ status: 'printed', labels: { printed: 10 } });
  });

  test('a new delivery starts counting anew', async () => {
    const id = await newJob();
    await service.report(
      jobReport(id, { delivery: 1, seq: 9, status: 'queued', labels: { sent: 2, printed: 2 } }),
    );
    await service.report(jobReport(id, { delivery: 2, seq: 0, labels: { sent: 3, printed: 2 } }));
    expect(await job(id)).toMatchObject({ status: 'printing', labels: { sent: 3, printed: 2 } });
  });

  test('label data of a job that is over goes after three days, that of one which may go on stays', async () => {
    const ids = [await newJob(), await newJob(), await newJob(), await newJob()];
    const [fresh = '', printed = '', failed = '', held = ''] = ids;
    await service.report(jobReport(fresh, { status: 'printed' }));
    await service.report(jobReport(printed, { status: 'printed' }));
    await service.report(jobReport(failed, { status: 'failed' }));
    await service.report(jobReport(held, { status: 'held' }));
    const aged = `UPDATE platen.jobs SET updated_at = now() - interval '73 hours' WHERE id = ANY($1)`;
    await service.pool.query(aged, [[printed, failed, held]]);
    // The service may be at it too, or still at their dispatch, and have one of them in its hands.
    const without = async () => {
      await forgetJobs(service.pool, serverConfig.parse({}).retention);
      const { rows } = await service.pool.query(
        'SELECT id FROM platen.jobs WHERE id = ANY($1) AND payload IS NULL ORDER BY seq',
        [ids],
      );
      return rows;
    };
    await expect.poll(without).toEqual([{ id: printed }, { id: failed }]);
  });

  test('a printed job stays printed, whoever gets it again and cannot know', async () => {
    const id = await newJob();
    await service.agent([{}], { agentId: 'agent-two' });
    await service.report(jobReport(id, { seq: 9, status: 'printed', labels: { sent: 10, printed: 10 } }));
    // Killed before it told the queue; the job went to an agent that has not printed it.
    await service.report(jobReport(id, HELD_BY_ANOTHER));
    expect(await job(id)).toMatchObject({ status: 'printed', labels: { printed: 10 }, error: null });
  });

  test('that it was printed counts, though a later delivery could only hold the job', async () => {
    const id = await newJob();
    await service.agent([{}], { agentId: 'agent-two' });
    await service.report(jobReport(id, HELD_BY_ANOTHER));
    await service.report(jobReport(id, { seq: 9, status: 'printed', labels: { sent: 10, printed: 10 } }));
    expect(await job(id)).toMatchObject({
      status: 'printed',
      labels: { printed: 10 },
      error: null,
      uncertain: null,
    });
  });

  test('a canceled job is not brought back by reports from before, but what was printed is shown', async () => {
    const id = await newJob();
    await expect.poll(() => service.queues.look(PRINTER, id)).not.toBeNull();
    expect((await service.admin('POST', `/jobs/${id}/cancel`)).status).toBe(200);
    // An agent had it, and handed it back, before it was canceled; the reports come late.
    await service.report(jobReport(id, { labels: { sent: 3, printed: 1 } }));
    await service.report(jobReport(id, { seq: 1, status: 'queued', labels: { sent: 3, printed: 3 } }));
    expect(await job(id)).toMatchObject({ status: 'canceled', labels: { sent: 3, printed: 3 } });
    await service.report(jobReport(id, { seq: 2, status: 'held', uncertain: { from: 3, to: 5 } }));
    expect(await job(id)).toMatchObject({ status: 'held', uncertain: { from: 3, to: 5 } });
    // After three days there is nothing to print from.
    await service.pool.query('UPDATE platen.jobs SET payload = NULL WHERE id = $1', [id]);
    const resumed = await service.admin('POST', `/jobs/${id}/resume`, { from: 5 });
    expect([resumed.status, codeOf(resumed)]).toEqual([404, 'label-data-gone']);
    expect((await service.admin('POST', `/jobs/${id}/resume`, { from: 10 })).body).toMatchObject({
      status: 'printed',
    });
  });

  test('the database takes the states of the contract, and no other', async () => {
    const id = await newJob();
    const become = (status: string) =>
      service.pool.query('UPDATE platen.jobs SET status = $2 WHERE id = $1', [id, status]);
    for (const status of JOB_STATUSES) await become(status);
    await expect(become('thawing')).rejects.toThrow(/jobs_status/);
    const { rows } = await service.pool.query(
      `SELECT pg_get_constraintdef(oid) AS words FROM pg_constraint WHERE conname = 'jobs_status'`,
    );
    const words = [...JSON.stringify(rows).matchAll(/'(\w+)'/g)].map(([, word]) => word);
    expect(words.toSorted()).toEqual([...JOB_STATUSES].sort());
  });

  test('of an unknown job or another printer is left out', async () => {
    const id = await newJob();
    await service.report(jobReport(id, { printerId: 'serial-ffffffffffff', status: 'printed' }));
    await service.report(jobReport('0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', { status: 'printed' }));
    expect(await job(id)).toMatchObject({ status: 'queued' });
  });
});

describe('of an agent', () => {
  const shown = {
    id: PRINTER,
    name: 'Zebra',
    status: 'idle',
    reasons: [],
    uri: 'socket://127.0.0.1:9100',
    model: null,
    agents: [{ id: 'agent-one', name: 'Agent one', online: true }],
  };

  test('its printers are listed', async () => {
    expect(await printers()).toMatchObject([{ ...shown, formats: [{ id: FORMAT_203.id }, {}, {}] }]);
  });

  test('a printer is shown as it was reported last', async () => {
    await service.agent([
      {
        name: 'Renamed',
        state: 'stopped',
        reasons: ['cover-open', 'media-low'],
        formats: [FORMAT_PDF],
        model: 'ZD421',
      },
    ]);
    expect(await printers()).toMatchObject([
      {
        name: 'Renamed',
        status: 'stopped',
        reasons: ['cover-open', 'media-low'],
        formats: [FORMAT_PDF],
        model: 'ZD421',
      },
    ]);
  });

  test('an older report changes nothing', async () => {
    await service.agent([], { at: '2020-01-01T00:00:00.000Z', online: false });
    expect(await printers()).toMatchObject([shown]);
  });

  test('an agent whose clock was set back is believed again soon', async () => {
    await service.agent([{}], { at: '2099-01-01T00:00:00.000Z' });
    await service.agent([{ name: 'Renamed' }]);
    expect(await printers()).toMatchObject([{ name: 'Zebra' }]);
    await service.pool.query(`UPDATE platen.agents SET seen_at = seen_at - interval '31 seconds'`);
    await service.agent([{ name: 'Renamed' }]);
    expect(await printers()).toMatchObject([{ name: 'Renamed' }]);
  });

  test('a printer that is no longer reported goes, and may come back', async () => {
    await service.agent([]);
    expect(await printers()).toEqual([]);
    await service.agent([{}]);
    expect(await printers()).toMatchObject([shown]);
  });

  test('an agent that said goodbye, or has not been heard for 45 s, is offline, and so are its printers', async () => {
    await service.agent([{ reasons: ['media-low'] }], { online: false });
    const offline = {
      ...shown,
      status: 'offline',
      agents: [{ id: 'agent-one', name: 'Agent one', online: false }],
    };
    expect(await printers()).toMatchObject([offline]);
    await service.agent([{}]);
    expect(await printers()).toMatchObject([shown]);
    await service.pool.query(`UPDATE platen.agents SET seen_at = seen_at - interval '46 seconds'`);
    expect(await printers()).toMatchObject([offline]);
  });

  test('an agent that was not heard when it should have been does not count as serving, though it has the lease', async () => {
    const asks = [{ lane: PRINTER, term: 'process.0', fresh: true, reaches: true }];
    await service.agent([{}]);
    await service.queues.askLeases('agent-one', asks, { contended: 15_000, alone: 60_000 });
    expect(await printers()).toMatchObject([{ agents: [{ online: true, serves: true }] }]);
    await service.pool.query(`UPDATE platen.agents SET seen_at = seen_at - interval '21 seconds'`);
    expect(await printers()).toMatchObject([{ agents: [{ online: true, serves: false }] }]);
    await service.queues.giveLeaseBack('agent-one', PRINTER, 'process.0');
  });

  test('a job for an offline printer is accepted: it waits', async () => {
    await service.agent([{}], { online: false });
    expect(await job(await newJob())).toMatchObject({ status: 'queued' });
  });

  test('a printer of two agents is one printer; the online one takes the job', async () => {
    await service.agent([{}], { online: false });
    await service.agent([{ name: 'Zebra (USB)', uri: 'usb:/dev/usb/lp0' }], {
      agentId: 'agent-two',
      name: 'Agent two',
    });
    expect(await printers()).toMatchObject([
      {
        id: PRINTER,
        name: 'Zebra (USB)',
        status: 'idle',
        agents: [
          { id: 'agent-two', online: true },
          { id: 'agent-one', online: false },
        ],
      },
    ]);
    const answer = await acme.validate({ printerId: undefined, printer: 'Zebra (USB)' });
    expect(answer.body).toMatchObject({ route: { agentId: 'agent-two' } });
  });

  test('of two agents that reach a printer, the one that serves it is named, and its word counts', async () => {
    await service.agent([{ name: 'Near', state: 'processing' }]);
    await service.agent([{ name: 'Far' }], { agentId: 'agent-two', name: 'Agent two' });
    const ask = { lane: PRINTER, term: 'process.1', fresh: true, reaches: true };
    await service.queues.askLeases('agent-one', [ask], { contended: 60_000, alone: 60_000 });
    expect(await printers()).toMatchObject([
      {
        name: 'Near',
        status: 'processing',
        agents: [
          { id: 'agent-two', serves: false },
          { id: 'agent-one', serves: true },
        ],
      },
    ]);
    // One that said goodbye serves nothing, whatever is left of its lease.
    await service.agent([{ name: 'Near' }], { online: false });
    expect(await printers()).toMatchObject([
      {
        name: 'Far',
        agents: [
          { id: 'agent-two', serves: false },
          { id: 'agent-one', serves: false },
        ],
      },
    ]);
    await service.queues.giveLeaseBack('agent-one', PRINTER, 'process.1');
  });

  test("a tenant sees its own agents' printers and the shared ones, and no other's", async () => {
    await service.agent([{ id: 'serial-acacacacacac', name: 'Ours' }], {
      agentId: 'agent-acme',
      tenantId: acme.id,
    });
    await service.agent([{ id: 'serial-bdbdbdbdbdbd', name: 'Theirs' }, { name: 'Hijacked' }], {
      agentId: 'agent-globex',
      tenantId: 'globex',
    });
    expect(await printers(acme.id)).toMatchObject([
      { name: 'Ours' },
      { name: 'Zebra', agents: [{ id: 'agent-one' }] },
    ]);
    expect(await printers('globex')).toMatchObject([{ name: 'Hijacked' }, { name: 'Theirs' }]);
    // Theirs is another printer than the shared one, whatever it calls itself.
    expect(await printers()).toMatchObject([
      { name: 'Hijacked', tenant: 'globex' },
      { name: 'Ours', tenant: acme.id },
      { name: 'Theirs', tenant: 'globex' },
      { name: 'Zebra', tenant: null },
    ]);
  });

  test('half a character and a NUL, as a device may have them, take no other printer away', async () => {
    const half = `${'x'.repeat(199)}\ud83d`;
    const uri = 'socket://\0';
    const unreached = [{ uri, name: half, why: '\0' }];
    await service.agent([{}, { id: 'serial-222222222222', name: half, model: 'a\0b', uri }], {
      unreached,
    });
    expect(await printers()).toMatchObject([
      { name: `${'x'.repeat(199)}\ufffd`, model: 'a\ufffdb', uri: 'socket://\ufffd' },
      shown,
    ]);
    expect((await service.admin('GET', '/agents')).body).toMatchObject([
      { unreached: [{ uri: 'socket://\ufffd', why: '\ufffd' }] },
    ]);
    await service.agent([{}], { name: half, version: '0\0' });
    expect((await service.admin('GET', '/agents')).body).toMatchObject([{ version: '0\ufffd' }]);
  });

  // What is read and cannot be stored all the same: report-batches.test.ts.
  test('a report of a year that the database does not know is none', async () => {
    const report = service.agent([{ name: 'Renamed' }], { at: '0000-01-01T00:00:00.000Z' });
    await expect(report).rejects.toThrow('no report: at');
    expect(await printers()).toMatchObject([shown]);
  });
});
