/** The benchmark's table: for each set-up the figure, and its ratio to what BullMQ alone does there. */
import type { BareQueue } from './bare-queue.ts';
import { round, type Spread, table } from './figures.ts';
import type { Load, Processor, Road } from './measure-road.ts';

/** Of one set-up. */
export interface Measured {
  name: string;
  bare: BareQueue;
  road: Road;
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
      name: 'POST → first byte, connecting anew, p50 / p99',
      figure: ({ road }) => milliseconds(road.firstByteReconnecting),
      ratio: ({ road, bare }) => road.firstByteReconnecting.p50 / bare.wakeUp.p50,
    },
    { name: 'labels/s, one job of 1,000 records', figure: ({ road }) => String(road.labels) },
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
