/**
 * Runs jobs through a real agent, for `drivers.ts` and `power-cuts.ts`: each job is rendered, recorded in the journal, sent, and
 * confirmed by the printer's counter. Only the queue is a stand-in: it accepts notes and reports in no time.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { agentConfig } from '../src/agent/config.ts';
import { openDataDir } from '../src/agent/data-dir.ts';
import { printerIdOf } from '../src/agent/discovery/identity.ts';
import { standardDrivers } from '../src/agent/drivers.ts';
import { PrinterStation } from '../src/agent/job/station.ts';
import { Journal } from '../src/agent/journal.ts';
import { Leases } from '../src/agent/lease/leases.ts';
import { deviceFor } from '../src/agent/printer/devices.ts';
import { Reporter } from '../src/agent/reports/reporter.ts';
import { laneOf } from '../src/contract/lane.ts';
import type { QueuedJob } from '../src/contract/queued-job.ts';
import { type JobReport, jobReport, type Report } from '../src/contract/report.ts';
import { template } from '../src/contract/template.ts';
import type { DeliveryQueue, LaneHandler } from '../src/queue/index.ts';
import { RenderPool } from '../src/rendering/render-pool.ts';
import { now } from './figures.ts';
import { record, TEMPLATE } from './label.ts';

/** Longer than the benchmark. */
const LEASE_MS = 3_600_000;

export interface AgentWay extends AsyncDisposable {
  /** Resolves when the label is printed. */
  job(): Promise<void>;
  /** How a job ends. */
  outcome(records: number, copies: number): Promise<JobReport>;
  /** Times of journal commits, ms: the same records as for a job, but without a job. */
  commits(count: number): Promise<number[]>;
  /** Time to make each job's label, ms, from opening the render session to the label's bytes. */
  renderings(count: number): Promise<number[]>;
}

export async function agentWay(uri: string): Promise<AgentWay> {
  const directory = mkdtempSync(join(tmpdir(), 'platen-bench-agent-'));
  const config = agentConfig.parse({ dataDir: directory, printers: [{ uri }] });
  const [entry] = config.printers;
  if (entry === undefined) throw new Error('no printer');
  const logger = pino({ level: 'warn' });
  const dataDir = openDataDir(directory);
  const journal = new Journal(dataDir.db);
  const { languagesModule } = standardDrivers;
  const pool = new RenderPool({ threads: config.renderThreads, languagesModule, stuckMs: 60_000, logger });
  const ends = new EventEmitter();
  const publish = async (report: Report) => {
    if (report.kind === 'job' && report.status !== 'printing') ends.emit(report.jobId, report);
    return null;
  };
  const reporter = new Reporter({ queue: { publish }, journal, logger });
  const device = deviceFor(entry, config, standardDrivers);
  const probe = await device.probe(AbortSignal.timeout(10_000));
  if (probe?.reachable !== true || probe.identity === null) throw new Error('the printer does not answer');
  device.answers = true;
  device.expected = printerIdOf(probe.identity);
  const context = {
    agentId: dataDir.agentId,
    printerId: device.expected,
    lane: laneOf({ scope: null, printerId: device.expected }),
    device: () => device,
    journal,
    reporter,
    pool,
    logger,
  };
  const signal = new AbortController().signal;
  const { queue, handler } = queueOf();
  const leases = new Leases({ queue, agentId: dataDir.agentId, leaseMs: LEASE_MS / 10, logger });
  const lease = leases.of({
    lane: context.lane,
    reached: () => true,
    busy: () => false,
    onServedElsewhere: () => {},
  });
  const station = new PrinterStation(queue, lease, {
    ...context,
    window: config.window,
    timings: config.timings,
    speaks: () => true,
    confirmation: () => 'device',
  });
  leases.start();
  station.start();
  const handle = await handler;
  let number = 0;
  const next = (): QueuedJob => jobOf(context.printerId, number++);
  const own = {
    delivery: 1,
    note: null,
    waited: false,
    follow: () => {},
    setNote: async () => {},
    signal,
  };
  return {
    job: async () => void (await handle({ job: next(), ...own })),
    outcome: async (records, copies) => {
      const job = { ...next(), copies, records: Array.from({ length: records }, (_, at) => record(at)) };
      const ended = once(ends, job.jobId);
      await handle({ job, ...own });
      const [report] = await ended;
      return jobReport.parse(report);
    },
    commits: (count) => commits(journal, dataDir, count),
    renderings: async (count) => {
      const times: number[] = [];
      while (times.length < count) {
        const at = now();
        const session = pool.open(next(), { from: 0, maxCopies: 1, alone: false });
        await session.check(signal);
        await session.peek(signal);
        times.push(now() - at);
        session.close();
      }
      return times;
    },
    [Symbol.asyncDispose]: async () => {
      await station.stop(0);
      await leases.stop();
      await reporter.stop(1_000);
      await device.drop();
      await pool.stop();
      await journal.close();
      dataDir.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** A queue that grants every lease at once and accepts reports in no time. */
function queueOf(): { queue: DeliveryQueue; handler: Promise<LaneHandler> } {
  const { promise: handler, resolve } = Promise.withResolvers<LaneHandler>();
  const nothing = async () => {};
  return {
    handler,
    queue: {
      askLeases: async (_agentId, asks) =>
        asks.map(({ lane }) => ({ lane, granted: LEASE_MS, wanted: false, canceled: [], held: false })),
      giveLeaseBack: nothing,
      consume: async (_lane, _term, handle) => {
        resolve(handle);
        return { pause: nothing, resume: nothing, paused: false, stop: nothing };
      },
      publish: async () => null,
    },
  };
}

async function commits(journal: Journal, { agentId }: { agentId: string }, count: number): Promise<number[]> {
  const nothing = { delivery: 1, total: 1, base: 0, odometer: 1, intent: 1, sent: 0, printed: 0 };
  const times: number[] = [];
  while (times.length < count) {
    const at = now();
    journal.write({ queueId: randomUUID(), printerId: agentId, ...nothing });
    await journal.committed();
    times.push(now() - at);
  }
  return times;
}

function jobOf(printerId: string, number: number): QueuedJob {
  return {
    v: 1,
    jobId: randomUUID(),
    tenantId: 'bench',
    scope: null,
    printerId,
    templateId: 'bench',
    template: template.parse(TEMPLATE),
    format: { id: 'bench', name: 'bench', language: 'zpl', dpi: 203, width: 38, height: 19 },
    orientation: 'portrait',
    copies: 1,
    records: [record(number)],
    createdAt: '2026-11-21T07:45:00.000Z',
  };
}
