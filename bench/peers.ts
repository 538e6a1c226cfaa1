/**
 * Measures CUPS and LPrint under the road's load: the same number of requests at a time, to printers that
 * print in no time. They get a finished label of 1 KB of ZPL, and neither asks the printer whether the label
 * came out.
 */
import { IppClient } from '../drivers/ipp/client.ts';
import { startCupsd } from '../test/kit/programs/cupsd.ts';
import { startLprint } from '../test/kit/programs/lprint.ts';
import { networksCanBeMade, openNetwork } from '../test/kit/programs/network.ts';
import { installMissing, PEERS } from '../test/kit/servers/debian-packages.ts';
import { bareIpp, lpRaw, type Way } from './driver-ways.ts';
import { now, perSecond } from './figures.ts';
import { inParallel } from './in-parallel.ts';
import { RAW_LABEL } from './label.ts';
import { LabelSink } from './label-sink.ts';
import { below, cpuOf } from './processes.ts';

export interface PeerRate {
  /** Labels at the printers a second. */
  rate: number;
  /** CPU of a label, ms, of all cores: the program, its clients and the printers. */
  cpu: number;
}

export interface PeerRates {
  name: string;
  /** At one printer, and at all of them. */
  one: PeerRate;
  all: PeerRate;
  /** The road is to print at least this many times the rate of this print system. */
  goal: number;
}

export interface Peers {
  rates: PeerRates[];
  /** For each print system that was not measured: its name and why. */
  absent: string[];
}

export interface PeerOptions {
  /** How long each load sends. */
  ms: number;
  /** Requests on their way at the same time. */
  parallel: number;
  printers: number;
  signal: AbortSignal;
}

const RAW = 'application/vnd.cups-raw';
const ZPL = 'application/vnd.zebra-zpl';
/** CUPS refuses more than 500 waiting jobs. */
const MOST_JOBS = 400;

export async function measurePeers(options: PeerOptions): Promise<Peers> {
  const peers: Peers = { rates: [], absent: [] };
  try {
    installMissing(PEERS);
  } catch (error) {
    peers.absent.push(`CUPS and LPrint: ${messageOf(error)}`);
    return peers;
  }
  await measureOne('CUPS', () => onCups(options), peers, options.signal);
  if (networksCanBeMade) await measureOne('LPrint', () => onLprint(options), peers, options.signal);
  else peers.absent.push('LPrint: it listens on all addresses, and a network of its own needs root');
  return peers;
}

/** Notes a print system that does not run here as absent, so that the others are still measured. */
async function measureOne(
  name: string,
  measure: () => Promise<PeerRates[]>,
  peers: Peers,
  signal: AbortSignal,
): Promise<void> {
  try {
    peers.rates.push(...(await measure()));
  } catch (error) {
    signal.throwIfAborted();
    peers.absent.push(`${name}: ${messageOf(error)}`);
  }
}

async function onCups(options: PeerOptions): Promise<PeerRates[]> {
  await using stack = new AsyncDisposableStack();
  const sinks = await startSinks(stack, options.printers, '127.0.0.1');
  const cups = await startCupsd();
  stack.defer(() => cups.stop());
  for (const { name, uri } of sinks) await cups.addQueue(name, uri);
  const server = `127.0.0.1:${cups.port}`;
  const kinds: [string, (queue: string) => Promise<Way>][] = [
    ['CUPS, raw queue, lp', (queue) => lpRaw(server, queue)],
    ['CUPS, raw queue, IPP Print-Job', (queue) => bareIpp(`ipp://${server}/printers/${queue}`, RAW, true)],
  ];
  const rates: PeerRates[] = [];
  for (const [name, open] of kinds) {
    const load = async (among: readonly Sink[]) => {
      await using ways = new AsyncDisposableStack();
      const lanes: { way: Way }[] = [];
      for (let lane = 0; lane < options.parallel; lane++)
        lanes.push({ way: ways.use(await open(among[lane % among.length]?.name ?? '')) });
      return await measureLoad(among, options, async (until) => {
        const { times } = await inParallel(
          { ...until, width: options.parallel, most: MOST_JOBS },
          async (_number, lane) => {
            await lanes[lane]?.way.send(RAW_LABEL);
          },
        );
        return times.length;
      });
    };
    rates.push({ name, one: await load(sinks.slice(0, 1)), all: await load(sinks), goal: 4 });
  }
  return rates;
}

/**
 * LPrint 1.1 loses documents that arrive while its printer prints another. So a printer gets the next
 * document once the one before is out and LPrint lists no job any more. Answering that question costs LPrint
 * some time too.
 */
async function onLprint(options: PeerOptions): Promise<PeerRates[]> {
  await using stack = new AsyncDisposableStack();
  const network = openNetwork();
  stack.defer(() => network.close());
  const sinks = await startSinks(stack, options.printers, network.outside);
  const lprint = await startLprint(
    { network },
    Object.fromEntries(sinks.map(({ name, uri }) => [name, ['zpl_4inch-203dpi-dt', uri] as const])),
  );
  stack.defer(() => lprint.stop());
  const lanes = new Map<Sink, { way: Way; client: IppClient }>();
  for (const sink of sinks) {
    const uri = lprint.uri(sink.name);
    const client = new IppClient(uri);
    stack.defer(() => client.close());
    lanes.set(sink, { way: stack.use(await bareIpp(uri, ZPL, true)), client });
  }
  const load = (among: readonly Sink[]) =>
    measureLoad(among, options, async (until) => {
      const counts = await Promise.all(
        among.map(async (sink) => {
          const { times } = await inParallel({ ...until, width: 1 }, async () => {
            const lane = lanes.get(sink);
            const before = sink.sink.labels;
            await lane?.way.send(RAW_LABEL);
            while (sink.sink.labels === before) await nextTurn();
            while ((await lane?.client.getJobs(until.signal, ['job-id']))?.length !== 0);
          });
          return times.length;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    });
  return [{ name: 'LPrint', one: await load(sinks.slice(0, 1)), all: await load(sinks), goal: 0.8 }];
}

interface Sink {
  name: string;
  uri: string;
  sink: LabelSink;
}

async function startSinks(stack: AsyncDisposableStack, count: number, host: string): Promise<Sink[]> {
  const sinks: Sink[] = [];
  for (let index = 0; index < count; index++) {
    const name = `peer${index + 1}`;
    const sink = new LabelSink(name);
    stack.defer(() => sink.stop());
    sinks.push({ name, sink, uri: await sink.start(host) });
  }
  return sinks;
}

/** Measures from the first request until all labels are at the printers. @throws Error when some are lost */
async function measureLoad(
  among: readonly Sink[],
  { ms, signal }: PeerOptions,
  send: (until: { ms: number; signal: AbortSignal }) => Promise<number>,
): Promise<PeerRate> {
  const labels = () => among.reduce((sum, { sink }) => sum + sink.labels, 0);
  const [start, before, cpu] = [now(), labels(), cpuOfAll()];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(10 * ms)]);
  const sent = await send({ ms, signal: limit });
  while (labels() - before < sent) {
    if (limit.aborted) throw new Error(`${labels() - before} of ${sent} labels came out`);
    await nextTurn();
  }
  const lastAt = Math.max(...among.map(({ sink }) => sink.lastAt));
  return { rate: perSecond(sent, lastAt - start), cpu: (cpuOfAll() - cpu) / sent };
}

/** CPU time of this process and of all that it has started, ms. */
function cpuOfAll(): number {
  return below(process.pid).reduce((sum, { cpu }) => sum + cpu, cpuOf(process.pid));
}

/** Gives the printers, which are in this process too, time to work. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
