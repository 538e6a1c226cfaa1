/**
 * Measures the whole road in one set-up: `platen up` as a process of its own, jobs posted over HTTP, labels
 * counted at printers that print in no time. The client and the printers run in this process, on the same
 * cores as Platen.
 *
 * Every label is counted: one lost or doubled fails the benchmark.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Integrator, PlatenUp, temporaryDirectory } from '../test/kit/service/platen.ts';
import { CountedJobs, type Target } from './counted-jobs.ts';
import { now, perSecond, type Spread, spread } from './figures.ts';
import { inParallel } from './in-parallel.ts';
import { TEMPLATE } from './label.ts';
import { LabelSink } from './label-sink.ts';
import { postgresBelow, resident } from './memory.ts';
import { Poster } from './poster.ts';
import { below, type Calls, callsOf, cpuOf } from './processes.ts';
import { record as delivered, LABELS, type LabelName } from './render-label.ts';

export interface Load {
  printers: number;
  /** Requests on their way at the same time. */
  parallel: number;
  jobs: number;
  /** Acknowledged a second, while the agent prints what was acknowledged before. */
  accepted: number;
  /** Jobs a second, from the first request until the service calls all of them printed. */
  printed: number;
  cpu: Processor;
  /** Of service and agent, a job. */
  calls: Calls;
}

/** CPU that a job takes, ms, of all cores; 0 where it cannot be told. */
export interface Processor {
  /** The service and the agent. */
  platen: number;
  /** PostgreSQL and Redis, as far as they were started here. */
  servers: number;
  /** The posting client and the printers: the benchmark's own share. */
  bench: number;
}

export interface Road {
  /** From sending the request to the label's first byte at a printer with nothing else to do, ms. */
  firstByte: Spread;
  /** The same at a printer that takes `SLOW_ANSWER` to answer, and whose connection is open. */
  firstByteSlow: Spread;
  /** The same when the printer's connection was closed because no job used it, as after any break of 3 s. */
  firstByteReconnecting: Spread;
  loads: Load[];
  /** Labels a second of one job with many records, from the request to the last label. */
  labels: number;
  /** From sending a request with the most records allowed to the first byte, ms; all are checked before. */
  firstOfMany: Record<LabelName, number>;
  memory: {
    /** Resident set of the process, MB: with its printers found, and at its highest. */
    rest: number | null;
    peak: number | null;
    /** Of the embedded PostgreSQL after the loads, MB. */
    postgres: number | null;
  };
}

export interface RoadOptions {
  env: Record<string, string>;
  /** How long each load posts. */
  ms: number;
  /** Requests on their way at the same time, in the loads with many. */
  parallel: number;
  signal: AbortSignal;
}

export const PRINTERS = 8;
const nameOf = (index: number): string => `bench-${index + 1}`;
const IDLE_JOBS = 100;
/** How long a slow printer takes to answer, ms. */
export const SLOW_ANSWER = 30;
/** Longer than an agent keeps a connection that no job uses (`timings.idleConnection`). */
const CONNECTION_CLOSED_MS = 3_500;
const RECONNECTIONS_EACH = 2;
const RECORDS = 1_000;
/** The most records that the service accepts in a request by default. */
const MOST_RECORDS = 10_000;
/** Bounds how long a load prints. With fewer jobs, the figures would be those of a program just started. */
const MOST_JOBS = 2_000;

export async function measureRoad(options: RoadOptions): Promise<Road> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const sinks = Array.from({ length: PRINTERS }, (_, index) => new LabelSink(nameOf(index)));
  for (const sink of sinks) stack.defer(() => sink.stop());
  const uris = await Promise.all(sinks.map((sink) => sink.start()));
  const up = await PlatenUp.start({
    dataDir: directory.path,
    args: ['--virtual', '0', ...uris.flatMap((uri) => ['--printer', uri])],
    // One tenant posts everything, and a fast machine accepts more a second than one tenant may post.
    env: { PLATEN_MAX_REQUESTS_PER_SECOND: '1000000', ...options.env },
  });
  stack.defer(async () => {
    await up.stop();
  });
  try {
    return await new RoadRun(up, sinks, options).measure();
  } catch (error) {
    const last = up.output.split('\n').slice(-20).join('\n');
    throw new Error(`${error instanceof Error ? error.message : error}; platen's last words:\n${last}`, {
      cause: error,
    });
  }
}

class RoadRun {
  readonly #up: PlatenUp;
  readonly #options: RoadOptions;
  readonly #jobs: CountedJobs;

  constructor(up: PlatenUp, sinks: readonly LabelSink[], options: RoadOptions) {
    this.#up = up;
    this.#options = options;
    this.#jobs = new CountedJobs(up, sinks, options.signal);
  }

  async measure(): Promise<Road> {
    const { ms, parallel } = this.#options;
    const jobs = this.#jobs;
    const targets = await jobs.step('finding the printers', (signal) => jobs.targets(signal));
    const [first] = targets;
    if (first === undefined) throw new Error('no printer');
    await pause(1_000);
    const rest = resident(this.#up.pid)?.now ?? null;

    const { id: template } = await this.#up.admin.importTemplate('default', TEMPLATE);
    const poster = new Poster(await Integrator.make(this.#up));
    try {
      const idle = (target: Target, signal: AbortSignal) =>
        jobs.idleJob(poster, jobs.job(template, target), target, signal);

      await jobs.step('warming up', async (signal) => {
        for (let round = 0; round < 3; round++) for (const target of targets) await idle(target, signal);
      });
      const firstByte = await jobs.step('one job at a time', async (signal) => {
        const times: number[] = [];
        while (times.length < IDLE_JOBS) times.push(await idle(first, signal));
        return times;
      });
      const slow = await jobs.step('a printer that is slow to answer', async (signal) => {
        const times: number[] = [];
        first.sink.answerMs = SLOW_ANSWER;
        while (times.length < IDLE_JOBS) times.push(await idle(first, signal));
        first.sink.answerMs = 0;
        return times;
      });
      const reconnecting = await jobs.step('connecting again', async (signal) => {
        const times: number[] = [];
        for (let round = 0; round < RECONNECTIONS_EACH; round++) {
          await pause(CONNECTION_CLOSED_MS, undefined, { signal });
          for (const target of targets) times.push(await idle(target, signal));
        }
        return times;
      });
      const loads: Load[] = [];
      const plan: [Target[], number][] = [
        [[first], 1],
        [[first], parallel],
        [targets, parallel],
      ];
      for (const [among, width] of plan) {
        const what = `${among.length} printers, ${width} requests at a time`;
        loads.push(
          await jobs.step(what, async (signal) => {
            const [start, before, asked] = [now(), this.#processor(), callsOf(this.#up.pid)];
            const posts = await inParallel({ width, ms, most: MOST_JOBS, signal }, async (number) => {
              const target = among[number % among.length] ?? first;
              await poster.post(jobs.job(template, target));
            });
            await jobs.allPrinted(signal);
            const count = posts.times.length;
            const accepted = perSecond(count, posts.ms);
            const printed = perSecond(count, now() - start);
            const after = this.#processor();
            const each = (of: keyof Processor) => (after[of] - before[of]) / count;
            const cpu = { platen: each('platen'), servers: each('servers'), bench: each('bench') };
            const by = callsOf(this.#up.pid);
            const calls = {
              writes: (by.writes - asked.writes) / count,
              reads: (by.reads - asked.reads) / count,
              wakeUps: (by.wakeUps - asked.wakeUps) / count,
            };
            return { printers: among.length, parallel: width, jobs: count, accepted, printed, cpu, calls };
          }),
        );
      }
      const labels = await jobs.step(`a job of ${RECORDS} records`, async (signal) => {
        const start = now();
        await poster.post(jobs.job(template, first, RECORDS));
        await jobs.allPrinted(signal);
        return perSecond(RECORDS, first.sink.lastAt - start);
      });
      const firstOfMany = {
        native: await this.#firstOfMany(poster, first, 'native'),
        drawn: await this.#firstOfMany(poster, first, 'drawn'),
      };
      const peak = resident(this.#up.pid)?.peak ?? null;
      const postgres = postgresBelow(this.#up.pid);
      return {
        firstByte: spread(firstByte),
        firstByteSlow: spread(slow),
        firstByteReconnecting: spread(reconnecting),
        loads,
        labels,
        firstOfMany,
        memory: { rest, peak, postgres },
      };
    } finally {
      poster.close();
    }
  }

  /** The job is canceled once it has begun. */
  async #firstOfMany(poster: Poster, { id: printerId, sink }: Target, name: LabelName): Promise<number> {
    return await this.#jobs.step(`a job of ${MOST_RECORDS} records, ${name}`, async (signal) => {
      const { admin } = this.#up;
      const { id: idT } = await admin.importTemplate('default', LABELS[name]);
      const data = Array.from({ length: MOST_RECORDS }, (_, number) => delivered(number));
      const label = sink.nextLabel(signal);
      const start = now();
      const [at] = await Promise.all([label, poster.post({ idT, printerId, data })]);
      for (;;) {
        const under = [
          await admin.jobs({ status: 'queued' }),
          await admin.jobs({ status: 'printing' }),
        ].flat();
        if (under.length === 0) return at - start;
        for (const { id } of under) await admin.cancelJob(id).catch(() => undefined);
        await pause(50, undefined, { signal });
      }
    });
  }

  /** CPU time until now, ms. */
  #processor(): Processor {
    const servers = below(process.pid).filter(({ name }) => /^(postgres|redis)/.test(name));
    return {
      platen: cpuOf(this.#up.pid),
      servers: servers.reduce((sum, { cpu }) => sum + cpu, 0),
      bench: cpuOf(process.pid),
    };
  }
}
