/** Reports that are applied together, as a service takes them from the queue. */
import { expect, onTestFinished, test } from 'vitest';
import { readReport } from '../../src/contract/read-report.ts';
import type { ReceivedReport } from '../../src/queue/index.ts';
import { Reports } from '../../src/server/jobs/outcome/reports.ts';
import { describePrinter } from '../kit/service/harness.ts';
import { jobReport, useToldPrinter } from '../kit/service/job-report.ts';

const { service, newJob, job } = useToldPrinter();

const batchOf = (...reports: object[]): ReceivedReport[] =>
  reports.map((one) => {
    const read = readReport(one);
    if ('issues' in read) throw new Error(read.issues.join());
    return { report: read.report, ageMs: 0 };
  });
/** With what the database cannot hold, as if it had come so far. */
const unstorable = ({ report, ageMs }: ReceivedReport): ReceivedReport =>
  report.kind === 'job'
    ? { report: { ...report, delivery: 3_000_000_000 }, ageMs }
    : { report: { ...report, at: '0000-01-01T00:00:00.000Z' }, ageMs };
const counts = { sent: 10, printed: 10 };

test('of one job are applied in their order, and those of others with them in one statement', async () => {
  const [first, second] = [await newJob(), await newJob()];
  const early = await new Reports(service.pool, service.logger).apply(
    batchOf(
      jobReport(first, { labels: { sent: 4, printed: 1 } }),
      jobReport(second, { reasons: ['media-empty'] }),
      jobReport(first, { seq: 1, status: 'printed', labels: counts }),
      jobReport(second, { seq: 2, status: 'printing', labels: { sent: 2, printed: 2 } }),
      jobReport(second, { seq: 1, status: 'printing', labels: { sent: 1, printed: 1 } }),
    ),
  );
  expect(early).toEqual([]);
  expect(await job(first)).toMatchObject({ status: 'printed', labels: { total: 10, ...counts } });
  expect(await job(second)).toMatchObject({
    status: 'printing',
    labels: { sent: 2, printed: 2 },
    reasons: [],
  });
});

test('are applied although one of them cannot be stored, and one comes too early', async () => {
  const [first, second, third] = [await newJob(), await newJob(), await newJob()];
  const batch = batchOf(
    jobReport(first, { status: 'printed', labels: counts }),
    jobReport(second, { status: 'printed', labels: counts }),
    jobReport(second, { seq: 1, agentId: 'agent-stranger', status: 'printed', labels: counts }),
    { ...agentReport(), agentId: 'agent-newcomer' },
    jobReport(third, { agentId: 'agent-newcomer', status: 'printed', labels: counts }),
  );
  const told = service.log.split('a report cannot be stored').length;
  const given = batch.map((one, at) => (at === 1 ? unstorable(one) : one));
  const reports = new Reports(service.pool, service.logger);
  const early = await reports.apply(given);
  expect(early).toEqual([batch[2]]);
  expect(await job(first)).toMatchObject({ status: 'printed' });
  expect(await job(second)).toMatchObject({ status: 'queued' });
  expect(await job(third)).toMatchObject({ status: 'printed' });
  // However many there are of them.
  for (let times = 0; times < 3; times += 1) expect(await reports.apply(given.slice(1, 2))).toEqual([]);
  expect(service.log.split('a report cannot be stored').length).toBe(told + 1);
});

test.each([
  { delivery: 2 ** 31 },
  { seq: 2 ** 31 },
  { labels: { sent: 2 ** 31, printed: 0 } },
  { labels: { sent: 0, printed: 2 ** 31 } },
  { status: 'queued', uncertain: { from: 0, to: 2 ** 31 } },
  { at: '0000-01-01T00:00:00.000Z' },
])('%j is in no report that is applied', (said) => {
  expect(readReport(jobReport('0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', said))).toHaveProperty('issues');
});

test('of an agent at another site are never waited for: its printers are known before it has a job', async () => {
  const reports = new Reports(service.pool, service.logger);
  const report = jobReport(await newJob(), { agentId: 'agent-rogue' });
  const batch = batchOf(report);
  expect(await reports.apply(batch)).toEqual(batch);
  await service.pool.query(
    `INSERT INTO platen.enrolled_agents (id, name, public_key, origin) VALUES ('agent-rogue', '', '', '')`,
  );
  const told = () => service.log.split('that its agent cannot have is left out').length;
  const before = told();
  // However often it says so.
  for (let times = 0; times < 3; times += 1) expect(await reports.apply(batch)).toEqual([]);
  expect(told()).toBe(before + 1);
});

test('of jobs that there are not, nobody is told', async () => {
  const id = await newJob();
  const told: unknown[] = [];
  const reports = new Reports(service.pool, service.logger, (report, isNews) => told.push([report, isNews]));
  const batch = batchOf(
    jobReport('00000000-0000-0000-f000-000000000000', { seq: 1 }),
    jobReport(id, { seq: 1 }),
    jobReport(id, { seq: 1 }),
  );
  expect(await reports.apply(batch)).toEqual([]);
  expect(told).toEqual([
    [batch[1]?.report, true],
    [batch[2]?.report, false],
  ]);
});

test('what a fault says may be anything', async () => {
  const id = await newJob();
  const error = { code: 'internal', message: 'half of \ud83d, and \0' };
  expect(
    await new Reports(service.pool, service.logger).apply(
      batchOf(jobReport(id, { status: 'failed', error })),
    ),
  ).toEqual([]);
  expect(await job(id)).toMatchObject({
    status: 'failed',
    error: { message: 'half of \ufffd, and \ufffd' },
  });
});

test('states of agents go in one commit, each as if it had come alone', async () => {
  const reports = new Reports(service.pool, service.logger);
  const apply = (...told: object[]) => reports.apply(batchOf(...told));
  const ids = ['agent-tell-c', 'agent-tell-a', 'agent-tell-b', 'agent-tell-d'];
  const two = [describePrinter({ id: 'serial-0000left' }), describePrinter({ id: 'serial-000right' })];
  const state = (agentId: string, more: object = {}) => ({
    ...agentReport(),
    agentId,
    printers: two,
    ...more,
  });
  await apply(...ids.map((id) => state(id)));
  const commits = await service.pool.query(
    `SELECT xmin FROM platen.agents WHERE id = ANY($1) UNION SELECT xmin FROM platen.agent_printers WHERE agent_id = ANY($1)`,
    [ids],
  );
  expect(commits.rows).toHaveLength(1);
  // One has lost a printer, one says two things, one comes from a year that there was not, and one would be another tenant's.
  const [left] = two;
  const batch = batchOf(
    state('agent-tell-a', { printers: [left] }),
    state('agent-tell-b', { name: 'first' }),
    state('agent-tell-b', {
      name: 'then',
      printers: [...two, describePrinter({ id: 'serial-000right', name: 'renamed' })],
    }),
    state('agent-tell-c', { name: 'old' }),
    state('agent-tell-d', { tenantId: 'tenant-other', name: 'taken' }),
  );
  await reports.apply(batch.map((one) => (one.report.agentId === 'agent-tell-c' ? unstorable(one) : one)));
  const { rows } = await service.pool.query(
    `SELECT a.id, a.name, array_agg(p.name ORDER BY p.printer_id) FILTER (WHERE p.gone_at IS NULL) AS printers
     FROM platen.agents a JOIN platen.agent_printers p ON p.agent_id = a.id WHERE a.id = ANY($1) GROUP BY a.id ORDER BY a.id`,
    [ids],
  );
  const known = two.map(({ name }) => name);
  expect(rows).toEqual([
    { id: 'agent-tell-a', name: 'Newcomer', printers: [left?.name] },
    { id: 'agent-tell-b', name: 'then', printers: [known[0], 'renamed'] },
    { id: 'agent-tell-c', name: 'Newcomer', printers: known },
    { id: 'agent-tell-d', name: 'Newcomer', printers: known },
  ]);
  expect(service.log).toContain('a report cannot be stored');
  expect(service.log).toContain("report under the ID of another tenant's agent");
});

test('states that wait for another instance, which waits for them, are applied one by one', async () => {
  const ids = ['agent-meets-a', 'agent-meets-b'];
  const states = (name: string) => batchOf(...ids.map((agentId) => ({ ...agentReport(), agentId, name })));
  const reports = new Reports(service.pool, service.logger);
  await reports.apply(states('first'));
  const other = await service.pool.connect();
  onTestFinished(() => other.release());
  const lock = (id: string | undefined) =>
    other.query('SELECT FROM platen.agents WHERE id = $1 FOR UPDATE', [id]);
  await other.query(`BEGIN; SET LOCAL deadlock_timeout = '1min'`);
  await lock(ids[1]);
  const applied = reports.apply(states('then'));
  await expect
    .poll(() => service.pool.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`))
    .toMatchObject({ rowCount: 1 });
  await lock(ids[0]);
  await other.query('COMMIT');
  expect(await applied).toEqual([]);
  const { rows } = await service.pool.query('SELECT name FROM platen.agents WHERE id = ANY($1)', [ids]);
  expect(rows).toEqual([{ name: 'then' }, { name: 'then' }]);
});

function agentReport(): object {
  return {
    kind: 'agent',
    agentId: 'agent-one',
    name: 'Newcomer',
    version: '0.1.0',
    tenantId: null,
    at: new Date().toISOString(),
    online: true,
    printers: [describePrinter({})],
  };
}
