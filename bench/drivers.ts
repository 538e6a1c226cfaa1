/**
 * `npm run bench:drivers`: documents of 1 KB to a printer that prints in no time, one after the other: bare, by our
 * drivers, by a whole agent, and by the print systems of others; all in one run.
 *
 *     npm run bench:drivers [-- --json]
 *
 * A driver is compared with a bare socket that sends the same bytes, on one kept connection or on one for
 * each document. An agent's job does more than a bare write: it renders the label, records on disk what it is
 * about to send before the first byte, and reads the printer's own counter. So the agent's jobs have a line
 * of their own.
 *
 * Absolute figures depend on the machine and on its load; only the ratios within a run count.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { IppClient } from '../drivers/ipp/client.ts';
import { startCupsd } from '../test/kit/programs/cupsd.ts';
import { startLprint } from '../test/kit/programs/lprint.ts';
import { networksCanBeMade, openNetwork } from '../test/kit/programs/network.ts';
import { installMissing, PEERS } from '../test/kit/servers/debian-packages.ts';
import { agentWay } from './agent-way.ts';
import {
  bareEach,
  bareIpp,
  bareKept,
  clientIpp,
  driverEach,
  driverIpp,
  driverKept,
  lpRaw,
  type Way,
} from './driver-ways.ts';
import { now, perSecond, round, type Spread, spread, table } from './figures.ts';
import { RAW_LABEL } from './label.ts';
import { heading, machine } from './machine.ts';
import { SinkThread } from './sink-thread.ts';

const DOCUMENTS = 200;
/** Documents whose first byte is timed while nothing else is printing. */
const IDLE = 50;
/** The fast ways take only a moment, so they run this many rounds, in turns, and the median counts. */
const ROUNDS = 51;
/** Limit for all documents of LPrint together, ms. */
const STEP_MS = 60_000;
/** Documents before the clock starts. */
const WARM_UP = 20;
const RAW = 'application/vnd.cups-raw';
const ZPL = 'application/vnd.zebra-zpl';

interface Measured {
  name: string;
  /**
   * Documents a second: `taken` by what they were handed to, `printed` at the printer. `printed` is null
   * where each document waited for the one before.
   */
  taken: number;
  printed: number | null;
  firstByte: Spread;
  /** Name of the measurement that this one is compared with. */
  beside?: string;
}

interface Entry {
  name: string;
  way: Pick<Way, 'send'>;
  beside?: string;
}

interface Round {
  taken: number;
  printed: number;
}

async function measureRound(way: Entry['way'], sink: SinkThread, documents: number): Promise<Round> {
  const start = now();
  for (let count = 0; count < documents; count++) await way.send(RAW_LABEL);
  const taken = perSecond(documents, now() - start);
  const { end } = await sink.more(documents);
  return { taken, printed: perSecond(documents, end - start) };
}

async function measureFirstByte(way: Entry['way'], sink: SinkThread): Promise<Spread> {
  const times: number[] = [];
  while (times.length < IDLE) {
    const start = now();
    const [{ begins }] = await Promise.all([sink.more(1), way.send(RAW_LABEL)]);
    times.push((begins[0] ?? Number.NaN) - start);
  }
  return spread(times);
}

function middle(values: number[]): number {
  return spread(values).p50;
}

/** Measures the ways in turns, so that other load on the machine affects all of them alike. */
async function measure(entries: readonly Entry[], sink: SinkThread, rounds: number): Promise<Measured[]> {
  const results = entries.map((entry) => ({ ...entry, rounds: [] as Round[] }));
  for (const { way } of results) await measureRound(way, sink, WARM_UP);
  for (let count = 0; count < rounds; count++) {
    for (const result of results) result.rounds.push(await measureRound(result.way, sink, DOCUMENTS));
  }
  const measured: Measured[] = [];
  for (const { way, rounds: all, ...entry } of results) {
    measured.push({
      ...entry,
      taken: middle(all.map(({ taken }) => taken)),
      printed: middle(all.map(({ printed }) => printed)),
      firstByte: await measureFirstByte(way, sink),
    });
  }
  return measured;
}

async function onSockets(): Promise<Measured[]> {
  await using stack = new AsyncDisposableStack();
  const sink = await SinkThread.start('127.0.0.1');
  stack.defer(() => sink.stop());
  const entries: Entry[] = [
    { name: 'bare TCP, one connection', way: stack.use(await bareKept(sink.uri)) },
    {
      name: 'our driver, one connection',
      way: stack.use(await driverKept(sink.uri)),
      beside: 'bare TCP, one connection',
    },
    { name: 'bare TCP, a connection each', way: stack.use(await bareEach(sink.uri)) },
    {
      name: 'our driver, a connection each',
      way: stack.use(await driverEach(sink.uri)),
      beside: 'bare TCP, a connection each',
    },
  ];
  return await measure(entries, sink, ROUNDS);
}

/** Jobs of one label in an agent, and the times of two of their parts. */
interface AgentMeasured {
  jobs: Measured;
  rendering: Spread;
  commit: Spread;
}

async function onAgent(): Promise<AgentMeasured> {
  await using stack = new AsyncDisposableStack();
  const sink = await SinkThread.start('127.0.0.1');
  stack.defer(() => sink.stop());
  const agent = stack.use(await agentWay(sink.uri));
  const [jobs] = await measure([{ name: "our agent's jobs", way: { send: () => agent.job() } }], sink, 3);
  if (jobs === undefined) throw new Error('nothing was measured');
  return { jobs, rendering: spread(await agent.renderings(IDLE)), commit: spread(await agent.commits(IDLE)) };
}

async function onCups(): Promise<Measured[]> {
  await using stack = new AsyncDisposableStack();
  const sink = await SinkThread.start('127.0.0.1');
  stack.defer(() => sink.stop());
  const cups = await startCupsd();
  stack.defer(() => cups.stop());
  await cups.addQueue('bench', sink.uri);
  const uri = `ipp://127.0.0.1:${cups.port}/printers/bench`;
  const lp = stack.use(await lpRaw(`127.0.0.1:${cups.port}`, 'bench'));
  return [
    ...(await measure([{ name: LP, way: lp }], sink, 1)),
    ...(await measure(await ippWays('CUPS', uri, RAW, stack), sink, 1)),
  ];
}

/**
 * LPrint 1.1 loses documents that arrive while it prints another: it reports them as aborted or completed. So
 * each document waits until the one before is out, and that wait is not counted.
 */
async function onLprint(): Promise<Measured[]> {
  await using stack = new AsyncDisposableStack();
  const network = openNetwork();
  stack.defer(() => network.close());
  const sink = await SinkThread.start(network.outside);
  stack.defer(() => sink.stop());
  const lprint = await startLprint({ network }, { bench: ['zpl_4inch-203dpi-dt', sink.uri] });
  stack.defer(() => lprint.stop());
  const uri = lprint.uri('bench');
  const client = new IppClient(uri);
  stack.defer(() => client.close());
  const signal = AbortSignal.timeout(STEP_MS);
  const atRest = async () => {
    while ((await client.getJobs(signal, ['job-id'])).length > 0);
  };
  const measured: Measured[] = [];
  for (const { way, ...entry } of await ippWays('LPrint', uri, ZPL, stack)) {
    const [taken, firstByte]: [number[], number[]] = [[], []];
    for (let count = 0; count < DOCUMENTS; count++) {
      const start = now();
      await way.send(RAW_LABEL);
      taken.push(now() - start);
      const { begins } = await sink.more(1);
      firstByte.push((begins[0] ?? Number.NaN) - start);
      await atRest();
    }
    const total = taken.reduce((sum, ms) => sum + ms, 0);
    measured.push({
      ...entry,
      taken: perSecond(DOCUMENTS, total),
      printed: null,
      firstByte: spread(firstByte),
    });
  }
  return measured;
}

async function ippWays(
  name: string,
  uri: string,
  format: string,
  stack: AsyncDisposableStack,
): Promise<Entry[]> {
  const bare = `${name} by bare IPP, a connection each`;
  return [
    { name: `${name} by bare IPP, one connection`, way: stack.use(await bareIpp(uri, format, true)) },
    { name: bare, way: stack.use(await bareIpp(uri, format, false)) },
    { name: `${name} by our IPP client`, way: stack.use(await clientIpp(uri, format)), beside: bare },
    { name: `${name} by our driver`, way: stack.use(await driverIpp(uri, format)), beside: bare },
  ];
}

function report(measured: readonly Measured[]): string {
  const lp = measured.find(({ name }) => name === LP);
  const rows = measured.map(({ name, taken, printed, firstByte, beside }) => {
    const other = measured.find((one) => one.name === beside);
    return [
      name,
      String(taken),
      printed === null ? '' : String(printed),
      `${firstByte.p50} / ${firstByte.p99} ms`,
      other === undefined ? '' : `${round(other.taken / taken)} ×`,
      lp?.printed && printed ? `${round(printed / lp.printed)} ×` : '',
    ];
  });
  const heads = ['', 'taken/s', 'printed/s', 'first byte, p50 / p99', 'time by bare', 'printed/s by lp'];
  return table([heads, ...rows]);
}

const LP = 'lp -o raw, through CUPS';
const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
installMissing(PEERS);
const on = machine();
const agent = await onAgent();
const measured = [...(await onSockets()), agent.jobs, ...(await onCups())];
if (networksCanBeMade) measured.push(...(await onLprint()));
else
  process.stderr.write(
    'LPrint is left out: it listens on all addresses, and a network of its own needs root.\n',
  );
const { rendering, commit } = agent;
process.stdout.write(
  `${heading(on)}\n\n${report(measured)}\n\nIn each of the agent's jobs: making the label ` +
    `${rendering.p50} / ${rendering.p99} ms, each of two commits to disk ${commit.p50} / ${commit.p99} ms.\n`,
);
if (values.json === true) {
  const directory = join(import.meta.dirname, 'results');
  mkdirSync(directory, { recursive: true });
  const at = new Date().toISOString();
  const file = join(directory, `drivers-${at.replaceAll(':', '-')}.json`);
  writeFileSync(file, `${JSON.stringify({ at, machine: on, measured, rendering, commit }, null, 2)}\n`);
  process.stdout.write(`\n${relative(process.cwd(), file)}\n`);
}
