/**
 * `npm run bench:trips`: what a job costs in PostgreSQL, counted and not timed: round trips of service and
 * lanes, commits, and syncs of the write-ahead log that somebody waited for. The service runs on an embedded
 * database. Agents are reduced to what they tell the queue about a job of one label: they take the job, leave
 * a note before the first byte, report its end and end it. The counts hold on any machine, the rates beside
 * them only for this one.
 *
 *     npm run bench:trips [-- --posts 500] [--reports 2000]
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { pino } from 'pino';
import { z } from 'zod';
import { laneOf } from '../src/contract/lane.ts';
import type { AgentStateReport, JobReport } from '../src/contract/report.ts';
import { openQueues, PostgresClient, type Queues } from '../src/queue/index.ts';
import { serverConfig } from '../src/server/config.ts';
import type { JobQueue } from '../src/server/jobs/dispatch/queue-port.ts';
import { Reports } from '../src/server/jobs/outcome/reports.ts';
import { Server } from '../src/server/server.ts';
import { startEmbedded } from '../src/server/store/embedded.ts';
import { createPool } from '../src/server/store/pool.ts';
import { temporaryDirectory } from '../test/kit/service/platen.ts';
import { perSecond, round, table } from './figures.ts';
import { record, TEMPLATE } from './label.ts';
import { heading, machine } from './machine.ts';

const ADMIN_TOKEN = 'admin-token-of-a-benchmark';
const PRINTERS = 8;
const AGENTS = 50;
/** PostgreSQL's backends publish their counters after they have been idle for 10 s. */
const TOLD_MS = 11_000;
/** Longest that a step may take, ms. */
const STEP_MS = 120_000;
/** Longer than the benchmark: no sweep runs meanwhile. */
const NO_SWEEP_MS = 600_000;

let roundTrips = 0;

/** Counts the server's answers: one for each round trip. */
class CountingClient extends PostgresClient {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.connection.on('readyForQuery', () => {
      roundTrips += 1;
    });
  }
}

const counted = z.object({ commits: z.coerce.number(), syncs: z.coerce.number(), wal: z.coerce.number() });
type Counted = z.infer<typeof counted>;
const COUNTS = `SELECT (SELECT sum(xact_commit) FROM pg_stat_database) AS commits,
  (SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal') AS syncs,
  (SELECT wal_bytes FROM pg_stat_wal) AS wal`;

interface Step {
  name: string;
  each: Counted & { roundTrips: number };
  perSecond: number;
}

/** Runs one step of `count` things, and counts what each has cost. */
async function step(
  looking: pg.Pool,
  name: string,
  count: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<Step> {
  process.stderr.write(`${name} …\n`);
  const look = async () => {
    await pause(TOLD_MS);
    return counted.parse((await looking.query(COUNTS)).rows[0]);
  };
  const before = await look();
  const trips = roundTrips;
  const start = performance.now();
  await work(AbortSignal.timeout(STEP_MS));
  const rate = perSecond(count, performance.now() - start);
  const spent = roundTrips - trips;
  const after = await look();
  const each = (what: keyof Counted) => round((after[what] - before[what]) / count);
  return {
    name,
    each: {
      roundTrips: round(spent / count),
      commits: each('commits'),
      syncs: each('syncs'),
      wal: each('wal'),
    },
    perSecond: rate,
  };
}

/** Does it `count` times, `width` at a time. */
async function many(count: number, width: number, one: (number: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const lane = async () => {
    while (begun < count) await one(begun++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** A queue that takes no jobs while it is held, so that the cost of accepting a job is counted alone. */
function holding(
  real: Queues,
  printed: (jobId: string) => void,
): { queue: JobQueue; hold: (on: boolean) => void } {
  let held = Promise.withResolvers<void>();
  held.resolve();
  const queue: JobQueue = {
    backend: real.backend,
    ping: () => real.ping(),
    enqueue: async (...jobs) => {
      await held.promise;
      await real.enqueue(...jobs);
    },
    remove: (...of) => real.remove(...of),
    look: (...of) => real.look(...of),
    takeAway: (...of) => real.takeAway(...of),
    markCanceled: (...of) => real.markCanceled(...of),
    markHeld: (...of) => real.markHeld(...of),
    leaseHolders: (lanes) => real.leaseHolders(lanes),
    hasUnread: (...of) => real.hasUnread(...of),
    consumeReports: (handler) =>
      real.consumeReports(async (batch) => {
        await handler(batch);
        for (const { report } of batch) {
          if (report.kind === 'job' && report.status === 'printed') printed(report.jobId);
        }
      }),
  };
  const hold = (on: boolean) => {
    held.resolve();
    if (on) held = Promise.withResolvers<void>();
  };
  return { queue, hold };
}

const { values } = parseArgs({ options: { posts: { type: 'string' }, reports: { type: 'string' } } });
const posts = Number(values.posts ?? 500);
const reports = Number(values.reports ?? 2_000);

const on = machine();
await using stack = new AsyncDisposableStack();
const directory = stack.use(await temporaryDirectory());
const logger = pino({ level: 'error' });
const signal = AbortSignal.timeout(10 * STEP_MS);
const embedded = await startEmbedded({ dataDir: directory.path, logger, signal });
stack.defer(() => embedded.stop());
const counting = { ...embedded.poolConfig, Client: CountingClient };
const queues = await openQueues({ database: counting, logger });
stack.defer(() => queues.close({ timeoutMs: 0 }));
/** Jobs that the service knows to be printed, and whoever waits for one. */
const done = new Set<string>();
const awaited = new Map<string, () => void>();
const { queue, hold } = holding(queues, (jobId) => {
  done.add(jobId);
  awaited.get(jobId)?.();
});
const server = new Server({
  config: serverConfig.parse({ port: 0, adminToken: ADMIN_TOKEN, sweepInterval: NO_SWEEP_MS }),
  database: counting,
  queues: queue,
  logger,
});
const { url } = await server.start();
stack.defer(() => server.stop());
stack.defer(() => hold(false));
const looking = createPool({ database: embedded.poolConfig, max: 2, logger });
stack.defer(() => looking.end());

await server.ensureTenant({ id: 'bench' });
const account = await server.createIntegration('bench', { name: 'bench', scope: ['jobs:enqueue'] });
const format = { id: 'zpl', name: 'zpl', language: 'zpl', dpi: 203, width: 101.6, height: 152.4 } as const;
const printerOf = (index: number) => `serial-be0c0000000${index % PRINTERS}`;
const agentOf = (index: number) => `agent-bench-${String(index % AGENTS).padStart(2, '0')}`;
const told = new Reports(looking, logger);
for (let agent = 0; agent < AGENTS; agent += 1) {
  const report: AgentStateReport = {
    kind: 'agent',
    agentId: agentOf(agent),
    name: `Agent ${agent}`,
    version: '0',
    tenantId: null,
    at: new Date().toISOString(),
    online: true,
    printers: Array.from({ length: PRINTERS }, (_, index) => ({
      id: printerOf(index),
      name: `Printer ${index}`,
      evidence: 'serial',
      uri: 'socket://127.0.0.1:9100',
      state: 'idle',
      reasons: [],
      formats: [format],
    })),
  };
  await told.apply([{ report, ageMs: 0 }]);
}

async function call(path: string, headers: Record<string, string>, body: string): Promise<unknown> {
  const answer = await fetch(url + path, { method: 'POST', headers, body, signal });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

const { access_token: token } = z.object({ access_token: z.string() }).parse(
  await call(
    '/oauth/token',
    { 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: account.apiKey,
      client_secret: account.apiSecret,
    }).toString(),
  ),
);
const json = { 'content-type': 'application/json' };
const { id: idT } = z
  .object({ id: z.string() })
  .parse(
    await call(
      '/app/tenants/bench/templates',
      { ...json, authorization: `Bearer ${ADMIN_TOKEN}` },
      JSON.stringify(TEMPLATE),
    ),
  );
async function post(number: number): Promise<string> {
  const headers = {
    ...json,
    authorization: `Bearer ${token}`,
    'x-tenant': 'bench',
    'idempotency-key': randomUUID(),
  };
  const body = JSON.stringify({ idT, printerId: printerOf(number), data: [record(number)] });
  const [id] = z.tuple([z.string()]).parse(await call('/v2/jobs', headers, body));
  return id;
}

/** Publishes one agent's reports, in order, and waits until the service has the last. */
async function report(jobs: readonly string[], signal: AbortSignal): Promise<void> {
  const each = Math.ceil(reports / AGENTS);
  const last = new Set<string>();
  await many(AGENTS, AGENTS, async (agent) => {
    const jobId = jobs[agent];
    if (jobId === undefined) throw new Error('too few jobs for so many agents');
    last.add(jobId);
    for (let seq = 1; seq <= each; seq += 1) {
      const said: JobReport = {
        kind: 'job',
        jobId,
        agentId: agentOf(agent),
        printerId: printerOf(agent),
        at: new Date().toISOString(),
        delivery: 1,
        seq,
        status: 'printing',
        labels: { sent: 1, printed: 0 },
        reasons: [],
      };
      await queues.publish(said, null);
    }
  });
  const sql = 'SELECT count(*)::int AS done FROM platen.jobs WHERE id = ANY($1) AND report_seq = $2';
  for (;;) {
    signal.throwIfAborted();
    const { done } = z.object({ done: z.int() }).parse((await looking.query(sql, [[...last], each])).rows[0]);
    if (done === last.size) return;
    await pause(20);
  }
}

/** Posts a job, and resolves when the service knows that it is printed. */
async function print(number: number): Promise<void> {
  const id = await post(number);
  if (done.has(id)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  awaited.set(id, resolve);
  await promise;
}

/** Has the lane of each printer served by an agent that prints in no time. */
async function serveAll(): Promise<void> {
  for (let index = 0; index < PRINTERS; index += 1) {
    const printerId = printerOf(index);
    const agentId = agentOf(index);
    const lane = laneOf({ scope: null, printerId });
    const term = `${randomUUID()}.1`;
    const length = { contended: 15_000, alone: 2 * STEP_MS };
    await queues.askLeases(agentId, [{ lane, term, fresh: true, reaches: true }], length);
    const consumer = await queues.consume(lane, term, async ({ job, delivery, setNote }) => {
      await setNote({
        agentId,
        resumeAt: null,
        underWay: { base: 0, odometer: 1, printed: 0, sent: 0, intent: 1 },
      });
      const labels = { sent: 1, printed: 1 };
      const of = { jobId: job.jobId, agentId, printerId, at: new Date().toISOString(), delivery, seq: 0 };
      // As an agent does: its journal has the report, and the lane does not wait for it.
      void queues.publish({ kind: 'job', ...of, status: 'printed', labels, reasons: [] }, null);
      return 'done';
    });
    stack.defer(() => consumer.stop({ timeoutMs: 0, graceMs: 0 }));
  }
}

const ids: string[] = [];
// Connections, compiled templates and caches are there before anything is counted.
await many(50, 16, post);
const steps: Step[] = [];
hold(true);
steps.push(
  await step(looking, 'POST, 1 at a time', posts, () =>
    many(posts, 1, async (at) => void ids.push(await post(at))),
  ),
  await step(looking, 'POST, 16 at a time', posts, () => many(posts, 16, post)),
);
hold(false);
steps.push(
  await step(looking, `reports of ${AGENTS} agents, published and applied`, reports, (until) =>
    report(ids, until),
  ),
);
await serveAll();
await pause(TOLD_MS);
steps.push(
  await step(looking, 'a job, POST to its end, 1 at a time', posts, () => many(posts, 1, print)),
  await step(looking, `the same, 64 at a time on ${PRINTERS} printers`, 4 * posts, () =>
    many(4 * posts, 64, print),
  ),
);

process.stdout.write(`\n${heading(on)}\n\n`);
const body = steps.map(({ name, each, perSecond }) => [
  name,
  String(each.roundTrips),
  String(each.commits),
  String(each.syncs),
  String(each.wal),
  String(perSecond),
]);
process.stdout.write(
  `${table([['each', 'round trips', 'commits, all', 'WAL syncs', 'WAL bytes', 'a second'], ...body])}\n`,
);
