/** Two agents at one printer, for tests: each reaches it over its own `Tap`, noting whose labels come. */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect } from 'vitest';
import { laneOf } from '../../../src/contract/lane.ts';
import type { AgentQueue } from '../../../src/queue/index.ts';
import type { BackendCase } from '../servers/backends.ts';
import { type Senders, Tap } from '../wire/tap.ts';
import type { TestPrinter } from './site.ts';
import { type ProcessOptions, type StartOptions, serialId, type UsedSite, useSite } from './use-site.ts';

export const [ONE, OTHER] = ['agent-the-one', 'agent-the-other'];
/** Lengths of leases, ms: LONG does not end within a test; SHORT is for tests that wait for the end. */
export const [LONG, SHORT] = [60_000, 2_500];
/**
 * Of an agent that waits for the other one's lease to end: on a machine that is too busy for it to ask in time, the other one still
 * knows that it wants the printer, and keeps its notes accordingly.
 */
export const PATIENT = 10_000;

/** How many labels an agent sends beyond what is certainly out. */
export const WINDOW = 4;

interface InProcess {
  queues?: AgentQueue;
  drivers?: StartOptions['drivers'];
}
type OfProcess = Pick<ProcessOptions, 'crash' | 'dataDir' | 'odometer'>;

export interface TwoAgents {
  readonly site: UsedSite;
  /** A new printer for each test. */
  readonly printer: TestPrinter;
  readonly printerId: string;
  readonly senders: Senders;
  /** Starts an agent in this process; resolves once it has found the printer. `told`: whether another agent serves it. */
  startAgent(
    id: string,
    lease: number,
    options?: InProcess,
  ): Promise<{ stop(): Promise<void>; tap: Tap; told: Promise<void> }>;
  startProcess(id: string, lease: number, options?: OfProcess): Promise<ChildProcess>;
  /** Starts OTHER while ONE serves the printer; resolves when ONE still does. */
  startOther(lease: number, options?: InProcess): Promise<{ stop(): Promise<void>; tap: Tap }>;
  servedBy(id: string): Promise<void>;
}

/** @param speed of the printer, labels a second */
export function useTwoAgents(backend: BackendCase, speed = 20): TwoAgents {
  const site = useSite(backend);
  let printer: TestPrinter | undefined;
  let printerId = '';
  let senders: Senders = [];

  beforeEach(async () => {
    const serial = randomUUID();
    printerId = serialId(serial);
    printer = await site.startPrinter({ speed, serial });
    senders = [];
  });

  const theirs = () => printer ?? expect.fail('no printer yet');

  async function tapFor(id: string): Promise<Tap> {
    const tap = new Tap(id, theirs().port, senders);
    await tap.open();
    return site.running(tap);
  }

  const configOf = (id: string, lease: number) => ({
    id,
    timings: { lease },
    window: { labels: WINDOW, bytes: 65_536 },
  });

  return {
    site,
    get printer() {
      return theirs();
    },
    get printerId() {
      return printerId;
    },
    get senders() {
      return senders;
    },
    async startAgent(id, lease, options = {}) {
      const tap = await tapFor(id);
      const { agent, told } = await site.startAgent(tap, { config: configOf(id, lease), ...options });
      return { stop: () => agent.stop({ graceMs: 0 }), tap, told };
    },
    async startProcess(id, lease, options = {}) {
      return await site.startProcess(await tapFor(id), { config: configOf(id, lease), ...options });
    },
    async startOther(lease, options) {
      for (;;) {
        const other = await this.startAgent(OTHER, lease, options);
        if ((await holderOf(site, printerId)) === ONE) return other;
        // On a busy machine ONE was too late to ask meanwhile: it gets the lease back, and OTHER comes once more.
        await other.stop();
        await this.servedBy(ONE);
      }
    },
    servedBy: (id) => servedBy(site, printerId, id),
  };
}

/** Numbers of the system calls epoll_wait and epoll_pwait, in which Node waits for events. */
const WAITS: Partial<Record<string, readonly string[]>> = { x64: ['232', '281'], arm64: ['22'] };

/**
 * Sends SIGSTOP at a moment when the process waits for events. An agent that is stopped between looking at
 * the clock and handing a label over sends that label when it wakes, which nothing can prevent
 * (`docs/failures.md`).
 */
export async function putToSleep({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) throw new TypeError('it does not run');
  const thread = `/proc/${pid}/task/${pid}`;
  const late = AbortSignal.timeout(10_000);
  while (!late.aborted) {
    process.kill(pid, 'SIGSTOP');
    while (!/\) T /.test(await readFile(`${thread}/stat`, 'latin1'))) {
      late.throwIfAborted();
      await setImmediate();
    }
    const [call = ''] = (await readFile(`${thread}/syscall`, 'latin1')).split(' ', 1);
    if (WAITS[process.arch]?.includes(call) ?? true) return;
    process.kill(pid, 'SIGCONT');
    await setImmediate();
  }
  throw new Error(`agent ${pid} never waits`);
}

export async function servedBy(site: UsedSite, printerId: string, agentId: string): Promise<void> {
  const holder = () => holderOf(site, printerId);
  await expect.poll(holder, { interval: 50, timeout: 60_000 }).toBe(agentId);
}

async function holderOf(site: UsedSite, printerId: string): Promise<string | undefined> {
  const lane = laneOf({ scope: null, printerId });
  return (await site.queues.leaseHolders([lane])).get(lane);
}

/**
 * Starts the agent ONE, and waits until it serves the printer while OTHER is known to want the lease.
 * Otherwise ONE's first lease would last four times as long, and so would the tests. OTHER stays known for LONG: with a busy
 * machine's late start of OTHER, ONE would think that it is alone, and keep no note of what it sends.
 */
export async function startWanted<T>(
  { site, printerId }: Pick<TwoAgents, 'site' | 'printerId'>,
  start: () => Promise<T>,
): Promise<T> {
  const agent = 'agent-before-them';
  const lane = laneOf({ scope: null, printerId });
  const ask = { lane, term: 'before.1', fresh: true, reaches: true };
  await site.queues.askLeases(agent, [ask], { contended: LONG, alone: LONG });
  const found = site.reports.agent(
    ({ agentId, online, printers }) =>
      agentId === ONE &&
      online &&
      printers.some(({ id, reasons }) => id === printerId && !reasons.includes('offline')),
  );
  const started = await start();
  await found;
  await site.queues.askLeases(OTHER, [{ ...ask, term: 'before.2' }], { contended: LONG, alone: LONG });
  await site.queues.giveLeaseBack(agent, lane, ask.term);
  await servedBy(site, printerId, ONE);
  return started;
}
