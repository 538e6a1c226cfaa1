/**
 * Measures what the pages of a PDF document cost an agent: as a picture for printers of dots, and as the page itself for
 * printers of PDF, which is drawn once more and compared. Each is measured in a process of its own, which runs this file
 * too, as the agent makes labels: a check of all pages, then the documents one after the other. Nothing is kept.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { z } from 'zod';
import { standardDrivers } from '../src/agent/drivers.ts';
import { pageRecords } from '../src/contract/document-pages.ts';
import { documentTemplate } from '../src/contract/document-template.ts';
import type { LanguageId } from '../src/contract/format.ts';
import type { QueuedJob } from '../src/contract/queued-job.ts';
import { RenderPool } from '../src/rendering/render-pool.ts';
import { label } from '../test/kit/documents/carrier.ts';
import { pdfOf } from '../test/kit/documents/pdf.ts';
import { round, table } from './figures.ts';
import { resident } from './memory.ts';
import { DPI, jobOf } from './render-label.ts';

const PAGES = [16, 100, 400];
/** Labels of a document, as many as the agent's window has. */
const IN_DOCUMENT = 16;
const WAYS = {
  'a picture, ZPL': 'zpl',
  'a picture, PWG raster': 'pwg-raster',
  'the page itself, PDF': 'pdf',
} satisfies Record<string, LanguageId>;

const measured = z.object({
  /** ms of CPU of the whole process, and ms until the first bytes may go out, and until all are made. */
  cpu: z.number(),
  first: z.number(),
  whole: z.number(),
  /** The process's highest memory, MB. */
  peak: z.number().nullable(),
});

function documentJob(language: LanguageId, count: number): QueuedJob {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const pages = numbers.map((number) => {
    return { width: 288, height: 432, content: label(String(340_123_450_000_000_000n + BigInt(number))) };
  });
  const document = pdfOf(pages).toString('base64');
  const source = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
  const template = documentTemplate.parse(source);
  const job = jobOf('native', 1, { language });
  return { ...job, template, records: pageRecords({ document }, template, numbers, 0) };
}

async function measure(language: LanguageId, count: number): Promise<z.infer<typeof measured>> {
  const { languagesModule } = standardDrivers;
  const pool = new RenderPool({
    ...{ threads: 1, languagesModule, stuckMs: 60_000 },
    logger: pino({ level: 'error' }),
  });
  const never = new AbortController().signal;
  const documents = language !== 'zpl';
  const open = async (job: QueuedJob) => {
    const session = pool.open(job, { from: 0, maxCopies: IN_DOCUMENT, documents });
    await session.check(never);
    return session;
  };
  // Loads what draws.
  const loading = await open(documentJob(language, 1));
  loading.close();
  const job = documentJob(language, count);
  const [cpu, started] = [process.cpuUsage(), performance.now()];
  const session = await open(job);
  await session.peek(never);
  const first = performance.now() - started;
  while ((await session.peek(never)) !== null) session.taken();
  const whole = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  session.close();
  await pool.stop();
  return { cpu: (user + system) / 1_000, first, whole, peak: resident(process.pid)?.peak ?? null };
}

/** The table for people. */
export function renderDocuments(): string {
  const rows = PAGES.flatMap((count) =>
    Object.keys(WAYS).map((name) => {
      const said = execFileSync(process.execPath, [import.meta.filename, name, String(count)]).toString();
      const { cpu, first, whole, peak } = measured.parse(JSON.parse(said));
      const times = [cpu / count, first, whole].map((ms) => String(round(ms)));
      return [`${count} pages, ${name}`, ...times, String(peak === null ? '' : round(peak))];
    }),
  );
  const heading = [
    `A PDF document, 4×6 inch, ${DPI} dpi`,
    ...['CPU ms a page', 'ms to the first bytes', 'ms for all', 'peak MB'],
  ];
  return table([heading, ...rows]);
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [way = '', count] = positionals;
  const language = Object.entries(WAYS).find(([name]) => name === way)?.[1];
  if (language === undefined) console.log(renderDocuments());
  else console.log(JSON.stringify(await measure(language, Number(count))));
}
