/** The benchmark's table: for each set-up the figure, and its ratio to what BullMQ alone does there. */
import type { BareQueue } from './bare-queue.ts';
import { round, type Spread, table } from './figures.ts';
import { type Load, type Processor, type Road, SLOW_ANSWER } from './measure-road.ts';
import type { PeerRate, Peers } from './peers.ts';
import type { Calls } from './processes.ts';

/** Of one set-up. */
export interface Measured {
  name: string;
  bare: BareQueue;
  road: Road;
  /** In the same run. */
  peers: Peers;
}

interface Row {
  name: string;
  figure(one: Measured): string;
  /** The road's figure by the yardstick's. */
  ratio?(one: Measured): number;
}

const milliseconds = ({ p50, p99 }: Spread): string => `${p50} / ${p99} ms`;
const processor = ({ platen, servers, bench }: Processor): string =>
  `${[platen, servers, bench].map((ms) => ms.toFixed(1)).join(' + ')} ms`;
const asked = ({ writes, reads, wakeUps }: Calls): string =>
  [writes, reads, wakeUps].map((count) => count.toFixed(1)).join(', ');
const megabytes = (size: number | null): string => (size === null ? '–' : `${Math.round(size)} MB`);

function loadRows({ road }: Measured): Row[] {
  return road.loads.flatMap((load, index) => {
    const of = (one: Measured): Load => one.road.loads[index] ?? load;
    const how = `${load.printers} printer${load.printers > 1 ? 's' : ''}, ${load.parallel} at a time`;
    return [
      {
        name: `POST accepted/s, ${how}`,
        figure: (one) => String(of(one).accepted),
        ratio: (one) => of(one).accepted / (load.parallel === 1 ? one.bare.addOne : one.bare.addParallel),
      },
      {
        name: `jobs printed/s, ${how}`,
        figure: (one) => String(of(one).printed),
        ratio: (one) => of(one).printed / (load.parallel === 1 ? one.bare.addOne : one.bare.addParallel),
      },
      { name: `CPU a job: Platen + servers + bench, ${how}`, figure: (one) => processor(of(one).cpu) },
      { name: `Platen's writes, reads, wake-ups a job, ${how}`, figure: (one) => asked(of(one).calls) },
    ];
  });
}

function rows(first: Measured): Row[] {
  return [
    { name: 'bare BullMQ: add/s, 1 at a time', figure: ({ bare }) => String(bare.addOne) },
    {
      name: `bare BullMQ: add/s, ${first.bare.parallel} at a time`,
      figure: ({ bare }) => String(bare.addParallel),
    },
    { name: 'bare BullMQ: processed/s, 1 worker', figure: ({ bare }) => String(bare.process) },
    { name: 'bare BullMQ: add → idle worker, p50 / p99', figure: ({ bare }) => milliseconds(bare.wakeUp) },
    ...loadRows(first),
    {
      name: 'POST → first byte, idle, p50 / p99',
      figure: ({ road }) => milliseconds(road.firstByte),
      ratio: ({ road, bare }) => road.firstByte.p50 / bare.wakeUp.p50,
    },
    {
      name: `POST → first byte, printer answers after ${SLOW_ANSWER} ms, p50 / p99`,
      figure: ({ road }) => milliseconds(road.firstByteSlow),
    },
    {
      name: 'POST → first byte, connecting anew, p50 / p99',
      figure: ({ road }) => milliseconds(road.firstByteReconnecting),
      ratio: ({ road, bare }) => road.firstByteReconnecting.p50 / bare.wakeUp.p50,
    },
    { name: 'labels/s, one job of 1,000 records', figure: ({ road }) => String(road.labels) },
    {
      name: 'first byte of a job of 10,000 records, native, drawn',
      figure: ({ road: { firstOfMany } }) =>
        `${round(firstOfMany.native / 1_000)}, ${round(firstOfMany.drawn / 1_000)} s`,
    },
    { name: 'memory at rest', figure: ({ road }) => megabytes(road.memory.rest) },
    { name: 'memory at peak', figure: ({ road }) => megabytes(road.memory.peak) },
    { name: 'memory of the embedded PostgreSQL', figure: ({ road }) => megabytes(road.memory.postgres) },
  ];
}

export function report(measured: readonly Measured[]): string {
  const [first] = measured;
  if (first === undefined) return '';
  const heading = ['', ...measured.flatMap(({ name }) => [name, 'by bare'])];
  const body = rows(first).map(({ name, figure, ratio }) => [
    name,
    ...measured.flatMap((one) => [figure(one), ratio === undefined ? '' : `${round(ratio(one))} ×`]),
  ]);
  return table([heading, ...body]);
}

/**
 * The table of one-label jobs a second, from the request to the label, and the CPU time of each: the road
 * beside CUPS and LPrint, with the ratios of the rates and of the CPU times.
 */
export function besidePeers(measured: readonly Measured[]): string {
  const [first] = measured;
  if (first === undefined) return '';
  const heading = [
    'labels/s, CPU of one',
    ...measured.flatMap(({ name }) => [name, 'road by it', 'its CPU by the road’s']),
    'goal',
  ];
  const body = (['one', 'all'] as const).flatMap((at) => [
    [
      `${WHERE[at]}: the road, confirmed`,
      ...measured.flatMap((each) => [rateOf(roadAt(each, at)), '', '']),
      '',
    ],
    ...first.peers.rates.map(({ name, goal }) => [
      `${WHERE[at]}: ${name}`,
      ...measured.flatMap((each) => {
        const road = roadAt(each, at);
        const peer = each.peers.rates.find((other) => other.name === name)?.[at];
        if (peer === undefined || road === undefined) return ['–', '', ''];
        return [rateOf(peer), `${round(road.rate / peer.rate)} ×`, `${round(peer.cpu / road.cpu)} ×`];
      }),
      `≥ ${goal} ×`,
    ]),
  ]);
  const absent = new Set(measured.flatMap(({ peers }) => peers.absent));
  const notes = [...absent].map((why) => `Not measured: ${why.trim()}`);
  return [table([heading, ...body]), ...notes].join('\n');
}

const WHERE = { one: '1 printer', all: 'all printers' };

function rateOf(measured: PeerRate | undefined): string {
  return measured === undefined ? '–' : `${round(measured.rate)}, ${measured.cpu.toFixed(1)} ms`;
}

/** The road's rate with many requests at a time, and the CPU time of everything that takes part. */
function roadAt({ road }: Measured, at: 'one' | 'all'): PeerRate | undefined {
  const load = road.loads.find(
    ({ printers, parallel }) => parallel > 1 && (printers === 1) === (at === 'one'),
  );
  if (load === undefined) return undefined;
  const { platen, servers, bench } = load.cpu;
  return { rate: load.printed, cpu: platen + servers + bench };
}
