/**
 * A site for the tests of a file, or of one `describe`. It is opened before them; what a test starts in it, agents and
 * printers, is stopped after that test, the last one first.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { Agent, type AgentOptions } from '../../../src/agent/agent.ts';
import type { RawAgentConfig } from '../../../src/agent/config.ts';
import { openDataDir } from '../../../src/agent/data-dir.ts';
import { printerIdOf } from '../../../src/agent/discovery/identity.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { JobReport } from '../../../src/contract/report.ts';
import type { AgentQueue, Queues } from '../../../src/queue/index.ts';
import { pdfPool } from '../../../src/virtual/drawing/pdf-pool.ts';
import { rasterPool } from '../../../src/virtual/drawing/raster-pool.ts';
import type { VirtualIppPrinterOptions } from '../../../src/virtual/ipp/ipp-printer.ts';
import type { VirtualZplPrinterOptions } from '../../../src/virtual/zpl/zpl-printer.ts';
import { processFile, SHORT_LIVED } from '../programs/built.ts';
import { stopAll } from '../programs/stop-all.ts';
import { type BackendCase, onRedis } from '../servers/backends.ts';
import type { AgentProcessOptions } from './agent-process.ts';
import { TestIppPrinter } from './ipp-site.ts';
import { ownQueue } from './own-queue.ts';
import {
  agentConfig,
  Directories,
  expected,
  jobFor,
  logger,
  openSite,
  type Reports,
  type Site,
  TestPrinter,
  testDrivers,
} from './site.ts';

/** Drawing threads of virtual printers, kept from one test to the next since each takes long to start. */
const DRAWING = [rasterPool, pdfPool];
const SCRIPT = processFile('test/kit/agent/agent-process.ts');

interface Stoppable {
  stop(): unknown;
}

export interface StartOptions {
  dataDir?: string;
  config?: Omit<Partial<RawAgentConfig>, 'printers'> & { printer?: object };
  drivers?: AgentOptions['drivers'];
  /** Default: the site's own, or the agent's own over the site's gateway. */
  queues?: AgentQueue;
}

export interface ProcessOptions
  extends Pick<StartOptions, 'config' | 'dataDir'>,
    Partial<Pick<AgentProcessOptions, 'crash' | 'languages' | 'odometer'>> {}

/** The default, for tests to which the backend does not matter, is Redis: there they take the least time. */
export function useSite(backend: BackendCase = onRedis()): UsedSite {
  const site = new UsedSite();
  beforeAll(() => site.open(backend));
  afterEach(() => site.stopAll());
  afterAll(() => site.close());
  return site;
}

export class UsedSite {
  readonly directories = new Directories();
  readonly #running: Stoppable[] = [];
  #opened: Site | undefined;

  async open(backend: BackendCase): Promise<void> {
    for (const thread of DRAWING) thread.acquire();
    this.#opened = await openSite(backend);
  }

  async close(): Promise<void> {
    await this.#opened?.close();
    for (const thread of DRAWING) await thread.release();
    this.directories.remove();
  }

  get queues(): Queues {
    return this.#site.queues;
  }

  /** Set: agents are at another site. */
  get gateway(): Site['gateway'] {
    return this.#site.gateway;
  }

  get reports(): Reports {
    return this.#site.reports;
  }

  /** For `openQueues` in another process. */
  get queueOptions(): Site['queueOptions'] {
    return this.#site.queueOptions;
  }

  /** Stops it after this test. */
  running<T extends Stoppable>(part: T): T {
    this.#running.push(part);
    return part;
  }

  async start<T extends Stoppable & { start(): Promise<unknown> }>(part: T): Promise<T> {
    await part.start();
    return this.running(part);
  }

  async startPrinter(options: Partial<VirtualZplPrinterOptions> = {}): Promise<TestPrinter> {
    return await this.start(new TestPrinter(this.directories, options));
  }

  async startIppPrinter(options: Partial<VirtualIppPrinterOptions> = {}): Promise<TestIppPrinter> {
    return await this.start(new TestIppPrinter(this.directories, options));
  }

  /** Starts an agent in this process; resolves once it has found its one printer. */
  async startAgent(printer: { uri: string }, options: StartOptions = {}) {
    const { dataDir = this.directories.make(), drivers = testDrivers } = options;
    const config = agentConfig(dataDir, printer, options.config);
    const queues = options.queues ?? (await this.#queuesOf(config));
    const queue = ownQueue(queues);
    const told = Promise.withResolvers<void>();
    const askLeases: typeof queue.askLeases = async (...asked) => {
      const answers = await queue.askLeases(...asked);
      told.resolve();
      return answers;
    };
    const agent = new Agent({ config, queue: { ...queue, askLeases }, drivers, logger });
    // An earlier agent with the same data directory, stopped by now, has reported the printer too.
    const since = new Date().toISOString();
    await agent.start();
    this.running({ stop: () => agent.stop({ graceMs: 0 }) });
    const { id } = agent;
    const report = await this.reports.agent(
      ({ agentId, online, printers }) =>
        agentId === id && online && printers.some(({ reasons }) => !reasons.includes('offline')),
      since,
    );
    const [found] = report.printers;
    if (found === undefined) throw new Error('no printer found');
    // It has been told whether another agent serves the printer.
    return { agent, dataDir, printerId: found.id, description: found, told: told.promise };
  }

  /** Starts a printer, and an agent in this process that serves it. */
  async startServedPrinter(options: Partial<VirtualZplPrinterOptions> = {}, agent: StartOptions = {}) {
    const printer = await this.startPrinter(options);
    return { printer, ...(await this.startAgent(printer, agent)) };
  }

  /** The same with a printer that takes documents. */
  async startServedIppPrinter(options: Partial<VirtualIppPrinterOptions> = {}, agent: StartOptions = {}) {
    const printer = await this.startIppPrinter(options);
    return { printer, ...(await this.startAgent(printer, agent)) };
  }

  /** Starts an agent in its own process; resolves once it has started, before it has found its printer. */
  async startProcess(printer: { uri: string }, options: ProcessOptions = {}): Promise<ChildProcess> {
    const {
      dataDir = this.directories.make(),
      config,
      odometer = true,
      crash = null,
      languages = 'plain',
    } = options;
    const its = agentConfig(dataDir, printer, config);
    const place = await this.gateway?.enroll(idOf(its), its.tenantId ?? null);
    const settings: AgentProcessOptions = {
      config: its,
      queues: this.queueOptions,
      ...(place !== undefined && { place }),
      odometer,
      crash,
      languages,
    };
    const child = spawn(process.execPath, [...SHORT_LIVED, SCRIPT, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', process.env['TEST_LOG'] === undefined ? 'ignore' : 'inherit'],
    });
    this.running({ stop: () => kill(child) });
    await Promise.race([once(child.stdout, 'data'), died(child, 'before it had started')]);
    return child;
  }

  /** Puts a job into its lane. @returns the job */
  async enqueue<J extends QueuedJob>(job: J): Promise<J> {
    await this.queues.enqueue(job);
    return job;
  }

  /** Prints a job. @returns the report of its end */
  async print(job: QueuedJob): Promise<JobReport> {
    await this.queues.enqueue(job);
    return await this.reports.end(job.jobId);
  }

  /**
   * Expects jobs to end as printed, and the printer to have their labels alone, each once and in order.
   * @param end what else is so of each end
   */
  async printedBy(
    printer: { labels: string[] },
    jobs: QueuedJob | readonly QueuedJob[],
    end: Partial<JobReport> = {},
  ): Promise<void> {
    const all = [jobs].flat();
    for (const { jobId } of all)
      expect(await this.reports.end(jobId)).toMatchObject({ status: 'printed', ...end });
    expect(printer.labels).toEqual(all.flatMap(expected));
  }

  /**
   * Has an agent kill itself in the middle of a job and starts it again: each label of that job, and of the next one, is out once.
   * @param start an agent in a process, with the same data directory each time
   */
  async printedDespite(
    crash: NonNullable<ProcessOptions['crash']>,
    printer: { labels: string[] },
    job: QueuedJob,
    start: (options?: Pick<ProcessOptions, 'crash'>) => Promise<ChildProcess>,
  ): Promise<void> {
    const next = jobFor(job.printerId, ['next']);
    const first = await start({ crash });
    await this.queues.enqueue(job, next);
    await killedItself(first);
    await start();
    const printed = expected(job).length;
    expect(await this.reports.end(job.jobId)).toMatchObject({ labels: { printed } });
    await this.printedBy(printer, [job, next]);
  }

  async stopAll(): Promise<void> {
    await stopAll(this.#running, (part) => part.stop());
  }

  async #queuesOf(config: RawAgentConfig): Promise<AgentQueue> {
    const { gateway } = this;
    if (gateway === undefined) return this.queues;
    const queue = await gateway.queueOf(idOf(config), config.tenantId ?? null);
    this.running({ stop: () => queue.close({ timeoutMs: 0 }) });
    return queue;
  }

  get #site(): Site {
    if (this.#opened === undefined) throw new Error('the site is not open yet');
    return this.#opened;
  }
}

/** The ID that an agent with this configuration has. */
function idOf({ id, dataDir }: RawAgentConfig): string {
  if (id !== undefined) return id;
  const data = openDataDir(dataDir);
  data.close();
  return data.agentId;
}

async function died(child: ChildProcess, when: string): Promise<never> {
  const [code, signal] = await once(child, 'exit');
  throw new Error(`the agent ended ${when}: ${signal ?? code}`);
}

/** Waits until the agent has killed itself at its crash point. */
export async function killedItself(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
}

/** By SIGKILL: nothing is flushed, closed or said. Idempotent. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** The ID of a printer that tells this serial number. */
export function serialId(serial: string): string {
  return printerIdOf({ evidence: 'serial', value: serial });
}
