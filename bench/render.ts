/**
 * `npm run bench:render`: how fast labels are made, how many bytes they take, what pages of others cost, and what memory
 * a large job takes, beside the same label as a ZPL string put together by hand, and as one raster picture.
 *
 *     npm run bench:render [-- --seconds 2]
 *
 * Absolute figures depend on the machine and on its load; only the ratios within a run count. This file also
 * runs as the worker thread that measures one way.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { openEncoder } from '../drivers/languages/index.ts';
import { round, table } from './figures.ts';
import { renderDocuments } from './render-documents.ts';
import { dataBytes, jobOf } from './render-label.ts';
import { renderMemory } from './render-memory.ts';
import { RECORDS, WAY_NAMES, WAYS, type WayName } from './render-ways.ts';

/** How long labels are made before the clock starts, ms. */
const WARM_UP_MS = 500;

interface Measured {
  /** `labels` were made in `ms`; `bytes` is the average size of a label. */
  labels: number;
  ms: number;
  bytes: number;
}
const measured = z.object({ labels: z.number(), ms: z.number(), bytes: z.number() });
const order = z.object({ way: z.string(), ms: z.number() });

async function measure(way: WayName, ms: number): Promise<Measured> {
  const make = await WAYS[way]();
  let number = 0;
  for (const end = performance.now() + WARM_UP_MS; performance.now() < end; ) await make(number++);
  let labels = 0;
  let bytes = 0;
  const start = performance.now();
  while (performance.now() - start < ms) {
    bytes += await make(number++);
    labels++;
  }
  return { labels, ms: performance.now() - start, bytes: bytes / labels };
}

function onThread(way: WayName, ms: number): Promise<Measured> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { way, ms } });
  return new Promise((resolve, reject) => {
    worker.once('message', (message) => resolve(measured.parse(message)));
    worker.once('error', reject);
  });
}

function rate(results: readonly Measured[]): number {
  return results.reduce((sum, { labels, ms }) => sum + (labels * 1_000) / ms, 0);
}

async function rates(ms: number): Promise<string[][]> {
  const threads = availableParallelism();
  const found = [];
  for (const way of WAY_NAMES) {
    const one = await onThread(way, ms);
    const all = await Promise.all(Array.from({ length: threads }, () => onThread(way, ms)));
    found.push({ way, one: rate([one]), all: rate(all), bytes: one.bytes });
  }
  const drawn = found.find(({ way }) => way === 'whole label rasterised, ^GFA')?.one ?? Number.NaN;
  return [
    ['4×6 inch, 203 dpi', 'labels/s, 1 thread', `${threads} threads`, 'by rasterised', 'bytes/label'],
    ...found.map(({ way, one, all, bytes }) => [
      way,
      String(round(one)),
      String(round(all)),
      `${round(one / drawn)} ×`,
      String(Math.round(bytes)),
    ]),
  ];
}

/** Bytes that a batch sends for each record, beside the bytes of the record's data. */
async function batchBytes(): Promise<string> {
  const job = jobOf('native', RECORDS);
  const encoder = await openEncoder(job);
  let bytes = encoder.begin().length + encoder.end().length;
  for (let index = 0; index < RECORDS; index++) bytes += (await encoder.label(index, 1)).length;
  const data = job.records.reduce((sum, values) => sum + dataBytes(values), 0);
  const [each, own] = [bytes / RECORDS, data / RECORDS];
  return `A batch of ${RECORDS} records: ${round(each)} bytes a record; its data ${round(own)}, twice that and 40: ${round(2 * own + 40)}.`;
}

if (!isMainThread) {
  const { way, ms } = order.parse(workerData);
  const name = WAY_NAMES.find((one) => one === way);
  if (name === undefined) throw new Error(`no way ${way}`);
  parentPort?.postMessage(await measure(name, ms));
} else {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '2' },
    },
  });
  console.log(
    `${cpus()[0]?.model ?? ''}, ${availableParallelism()} threads, load ${round(loadavg()[0] ?? 0)}\n`,
  );
  console.log(table(await rates(Number(values.seconds) * 1_000)));
  console.log(`\n${await batchBytes()}\n`);
  console.log(`${renderDocuments()}\n`);
  console.log(renderMemory());
}
