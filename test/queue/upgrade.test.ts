/** A database in which a version before has its jobs in BullMQ's tables: none is lost, none is doubled, order and notes stay. */
import { randomUUID } from 'node:crypto';
import {
  createPostgresBackend,
  type Job,
  type JobProgress,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  runMigrations,
  Worker,
} from 'bullmq';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { openQueues, type Queues } from '../../src/queue/index.ts';
import { Collected, job, keepingLogger, printerId, report } from '../kit/queue/samples.ts';
import { delivered } from '../kit/queue/serving.ts';
import { backends, type OpenBackend } from '../kit/servers/backends.ts';

const LEASES = `CREATE TABLE bullmq.platen_lease (printer_id text PRIMARY KEY, agent_id text NOT NULL DEFAULT '',
  term text NOT NULL DEFAULT '', until timestamptz NOT NULL DEFAULT '-infinity', rival_id text NOT NULL DEFAULT '',
  rival_reaches boolean NOT NULL DEFAULT false, rival_until timestamptz NOT NULL DEFAULT '-infinity')`;
const REPORTS = `CREATE TABLE bullmq.platen_report (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL, json text NOT NULL, published_at timestamptz NOT NULL DEFAULT now())`;

type Stored = { json: string };
class BullQueue extends Queue<
  Stored,
  null,
  string,
  Stored,
  null,
  string,
  PostgresQueueBackend,
  PostgresConnectionOptions
> {}
class BullWorker extends Worker<
  Stored,
  null,
  string,
  PostgresQueueBackend,
  JobProgress,
  PostgresConnectionOptions
> {}

describe.each(backends().filter(({ kind }) => kind === 'postgres'))('on $name', ({ open }) => {
  let backend: OpenBackend;
  let pool: Pool;
  const opened: Queues[] = [];

  beforeEach(async () => {
    backend = await open();
    pool = new Pool({ ...backend.database, options: '-c search_path=bullmq' });
    pool.on('error', () => undefined);
    const client = await pool.connect();
    await runMigrations(client, 'bullmq');
    client.release();
    await pool.query(`${LEASES}; ${REPORTS}`);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close({ timeoutMs: 0 })));
    await pool.end().catch(() => undefined);
    await backend.close();
  });

  async function another(): Promise<Queues> {
    const queues = await openQueues({ ...backend, logger: keepingLogger() });
    opened.push(queues);
    return queues;
  }

  const ofBefore = () =>
    Object.fromEntries(
      Object.entries({ ...backend.database, options: '-c search_path=bullmq', keepAlive: true }),
    );
  /** As that version adds jobs. */
  async function add(lane: string, jobs: readonly QueuedJob[]): Promise<void> {
    const queue = new BullQueue(lane, { connection: ofBefore() }, createPostgresBackend);
    for (const one of jobs) await queue.add('job', { json: JSON.stringify(one) }, { jobId: one.jobId });
    await queue.close();
  }

  /** Takes the first, leaves this note with it, and then is no more, or completes it. */
  async function take(lane: string, note: object | undefined, complete: boolean): Promise<void> {
    const taken = Promise.withResolvers<void>();
    const never = new Promise<null>(() => undefined);
    const process = async (one: Job<Stored, null, string>) => {
      if (note !== undefined) await one.updateProgress({ ...note, order: '1 token' });
      // Not the next one with its end.
      if (complete) await worker.pause(true);
      taken.resolve();
      return complete ? null : await never;
    };
    const worker = new BullWorker(
      lane,
      process,
      { connection: ofBefore(), autorun: true },
      createPostgresBackend,
    );
    const done = new Promise((resolve) => worker.on('completed', resolve));
    await taken.promise;
    if (complete) await done;
    await worker.close(true);
  }

  it('jobs come in their order, what was in hand first, with its note and one more delivery', async () => {
    const lane = printerId();
    const jobs = [job(lane), job(lane), job(lane), job(lane)];
    await add(lane, jobs);
    await take(lane, undefined, true);
    const note = { agentId: 'agent-of-before', resumeAt: null, underWay: { base: 0, odometer: 7 } };
    await take(lane, note, false);
    const queues = await another();
    expect(await queues.look(lane, jobs[0]?.jobId ?? '')).toMatchObject({ state: 'ended' });
    expect(await queues.depth(lane)).toBe(3);
    const got = await delivered(queues, lane);
    expect(await got.reach(3)).toEqual([
      [jobs[1]?.jobId, 2, note],
      [jobs[2]?.jobId, 1, undefined],
      [jobs[3]?.jobId, 1, undefined],
    ]);
    // Neither a second start nor the version before finds anything there.
    expect((await pool.query('SELECT FROM job')).rowCount).toBe(0);
    const second = await another();
    expect(await second.depth(lane)).toBe(0);
  });

  it('who had a lease has it still, and reports that nobody has read are read', async () => {
    const lane = printerId();
    const of = job(lane);
    const term = `${randomUUID()}.1`;
    await pool.query(
      `INSERT INTO platen_lease (printer_id, agent_id, term, until) VALUES ($1, 'one', $2, now() + interval '1 minute')`,
      [lane, term],
    );
    await pool.query('INSERT INTO platen_report (name, json) VALUES ($1, $2)', [
      `/${report(of, 1).agentId}`,
      JSON.stringify(report(of, 1)),
    ]);
    const queues = await another();
    const length = { contended: 1_000, alone: 1_000 };
    const rival = { lane, term: 'two.1', fresh: true, reaches: true };
    expect(await queues.askLeases('two', [rival], length)).toMatchObject([{ granted: null }]);
    expect(await queues.askLeases('one', [{ ...rival, term, fresh: false }], length)).toMatchObject([
      { granted: 1_000 },
    ]);
    const got = new Collected<unknown>();
    await queues.consumeReports(async (batch) => {
      for (const one of batch) got.add(one.report);
    });
    expect(await got.reach(1)).toEqual([report(of, 1)]);
  });
});
