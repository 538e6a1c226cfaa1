/**
 * Measures the memory of a large job: the peak of a process that only renders it, as the agent does, on one
 * thread, for a consumer that keeps nothing. Each job is measured in a process of its own, which runs this
 * file too.
 *
 * There are two figures. V8 lets the main thread's heap of new objects grow to 3 × 16 MB before it collects
 * often; a small job does not get that far. `tidy` is the same job with that heap held at 1 MB: this figure
 * must not grow with the number of records, except by the records themselves, which are in memory once in
 * each of the two threads. The first row shows what the records take: jobs that are held, and of which only
 * the first labels are made.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { standardDrivers } from '../src/agent/drivers.ts';
import type { LanguageId } from '../src/contract/format.ts';
import { RenderPool } from '../src/rendering/render-pool.ts';
import { round, table } from './figures.ts';
import { resident } from './memory.ts';
import { jobOf, type LabelName } from './render-label.ts';

const RECORDS = [1_000, 5_000, 10_000];

interface Way {
  name: string;
  label: LabelName;
  language: LanguageId;
}
const WAYS: readonly Way[] = [
  { name: 'ZPL, native', label: 'native', language: 'zpl' },
  { name: 'ZPL, texts as graphics', label: 'drawn', language: 'zpl' },
  { name: 'PDF', label: 'native', language: 'pdf' },
  { name: 'PNG', label: 'native', language: 'png' },
];

/** Labels of a document, for printers that take documents. */
const IN_DOCUMENT = 8;

/** @returns the process's highest memory, MB; null where it cannot be told */
async function measure({ label, language }: Way, records: number, whole: boolean): Promise<number | null> {
  const { languagesModule } = standardDrivers;
  const logger = pino({ level: 'error' });
  const pool = new RenderPool({ threads: 1, languagesModule, stuckMs: 60_000, logger });
  const never = new AbortController().signal;
  const job = jobOf(label, records, { language });
  const session = pool.open(job, { from: 0, maxCopies: IN_DOCUMENT, documents: language !== 'zpl' });
  while ((await session.peek(never)) !== null) {
    session.taken();
    if (!whole) break;
  }
  session.close();
  await pool.stop();
  return resident(process.pid)?.peak ?? null;
}

function peakOf(way: Way, records: number, what: 'whole' | 'first', flags: string[] = []): number {
  const order = [...flags, import.meta.filename, way.name, String(records), what];
  return round(Number(execFileSync(process.execPath, order).toString()));
}

const TIDY = ['--max-semi-space-size=1'];

/** The table for people. */
export function renderMemory(): string {
  const row = (name: string, peak: (records: number) => number) => [
    name,
    ...RECORDS.map((records) => String(peak(records))),
  ];
  return table([
    ['Peak memory of a process, MB', ...RECORDS.map((records) => `${records.toLocaleString('en')} records`)],
    ...WAYS.slice(0, 1).map((way) =>
      row('The job held, not rendered; tidy', (records) => peakOf(way, records, 'first', TIDY)),
    ),
    ...WAYS.flatMap((way) => [
      row(way.name, (records) => peakOf(way, records, 'whole')),
      row(`${way.name}; tidy`, (records) => peakOf(way, records, 'whole', TIDY)),
    ]),
  ]);
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const way = WAYS.find(({ name }) => name === positionals[0]);
  if (way === undefined) throw new Error(`no way ${positionals[0]}`);
  console.log(await measure(way, Number(positionals[1]), positionals[2] === 'whole'));
}
