import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Command, Option } from 'commander';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import type { LabelRun } from '../../drivers/languages/language.ts';
import { openPages } from '../../drivers/languages/pages.ts';
import { type LanguageId, languageId } from '../contract/format.ts';
import type { LabelRecord, Orientation } from '../contract/print-request.ts';
import { orientation } from '../contract/print-request.ts';
import { labelCount, labelsPerPage, type QueuedJob } from '../contract/queued-job.ts';
import type { Template } from '../contract/template.ts';
import { rasterizePage } from '../render/raster.ts';
import { copiesDiffer } from '../render/template-fields.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { readRecords, readTemplate } from './input-file.ts';
import { numberFrom } from './option-values.ts';
import { printLine } from './output.ts';
import { timeFrom } from './times.ts';

interface RenderOptions {
  data?: string;
  to?: LanguageId;
  out: string;
  dpi: '203' | '300' | '600';
  orientation: Orientation;
  copies: number;
  at?: string;
  allowPrinterCommands?: true;
}

/** With `to`, said or as the file is called. */
type Chosen = RenderOptions & { to: LanguageId };

/** What is made where only a file's ending says it. */
const ENDINGS: Readonly<Record<string, LanguageId>> = {
  '.png': 'png',
  '.pdf': 'pdf',
  '.zpl': 'zpl',
  '.tspl': 'tspl',
  '.epl': 'epl',
  '.pwg': 'pwg-raster',
};
const STDOUT = '-';

/** Of a raw ZPL template that does not say how large its label is, mm: the most common one. */
const UNKNOWN_SIZE = { width: 101.6, height: 152.4 };

/** `platen render` */
export function renderCommand(): Command {
  return new Command('render')
    .description('make labels from a template file without a service')
    .argument('<template>', 'template file: Platen JSON, or raw .zpl')
    .option(
      '--data <file>',
      'JSON file with an array of records; by default one of the samples of the fields',
    )
    .addOption(
      new Option('--to <language>', "what to make; by default what the file's ending says").choices(
        languageId.options,
      ),
    )
    .requiredOption(
      '--out <path>',
      'the file to write, "-" for standard output; for several PNGs the folder, or label.png for label-0001.png, …',
    )
    .addOption(new Option('--dpi <dpi>', 'resolution').choices(['203', '300', '600']).default('203'))
    .addOption(new Option('--orientation <orientation>').choices(orientation.options).default('portrait'))
    .option('--copies <n>', 'copies of each record', numberFrom(1, 10_000), 1)
    .option('--at <time>', 'the time that $now and $today are: "2026-11-22 14:05"; by default now', timeFrom)
    .option('--allow-printer-commands', 'as for a tenant whose raw templates may set printers up')
    .action(async (file: string, options: RenderOptions) => {
      const to = options.to ?? ENDINGS[extname(options.out).toLowerCase()];
      if (to === undefined) {
        const endings = Object.keys(ENDINGS).join(', ');
        throw new CommandFailure(
          `Say what to make with --to, or end --out with one of ${endings}.`,
          EXIT.usage,
        );
      }
      const template = await readTemplate(file);
      const records = options.data === undefined ? [samples(template)] : await readRecords(options.data);
      for (const path of await render(template, records, { ...options, to })) {
        if (path !== STDOUT) printLine(path);
      }
    });
}

/** A record of what the fields have as samples; one without a sample prints as its default, or as nothing. */
function samples({ fields }: Template): LabelRecord {
  return Object.fromEntries(
    fields.flatMap(({ name, sample }) => (sample === undefined ? [] : [[name, sample]])),
  );
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  if (path !== STDOUT) return await writeFile(path, bytes);
  await new Promise<void>((done, failed) => {
    process.stdout.write(bytes, (error) => (error == null ? done() : failed(error)));
  });
}

/** Writes the labels; returns the paths. @throws JobFaultError naming record and element */
async function render(template: Template, records: LabelRecord[], options: Chosen): Promise<string[]> {
  if (template.language === 'zpl' && options.orientation === 'landscape') {
    throw new CommandFailure(
      'A raw ZPL template has its own orientation: leave --orientation out.',
      EXIT.usage,
    );
  }
  const job = jobOf(template, records, options);
  return options.to === 'png' ? await renderPng(job, options.out) : [await renderFile(job, options.out)];
}

/** Of a job that is never sent, on media as large as its labels. */
function jobOf(template: Template, records: LabelRecord[], options: Chosen): QueuedJob {
  const { width = UNKNOWN_SIZE.width, height = UNKNOWN_SIZE.height } = template;
  const turned = options.orientation === 'landscape';
  return {
    v: 1,
    // Formats stored in the printer are named after it: another file must not have the same.
    jobId: createHash('sha256')
      .update(JSON.stringify([template, records, options]))
      .digest('hex'),
    tenantId: 'none',
    scope: null,
    printerId: 'address-00000000',
    templateId: 'none',
    template,
    format: {
      id: 'none',
      name: 'none',
      language: options.to,
      dpi: Number(options.dpi),
      width: turned ? height : width,
      height: turned ? width : height,
    },
    orientation: options.orientation,
    copies: options.copies,
    records,
    createdAt: options.at ?? new Date().toISOString(),
    ...(options.allowPrinterCommands && { printerCommands: true as const }),
  };
}

function labelsOf({ template, records, copies }: QueuedJob): LabelRun[] {
  if (!copiesDiffer(template)) return records.map((_, record) => ({ record, copies }));
  return records.flatMap((_, record) =>
    Array.from({ length: copies }, (_, copy) => ({ record, copies: 1, copy })),
  );
}

/** All labels in one file. */
async function renderFile(job: QueuedJob, out: string): Promise<string> {
  const encoder = await LANGUAGES[job.format.language].open(job);
  const chunks = [encoder.begin()];
  if (encoder.document !== undefined) chunks.push(await encoder.document(labelsOf(job)));
  else
    for (const { record, copies, copy } of labelsOf(job))
      chunks.push(await encoder.label(record, copies, copy));
  chunks.push(encoder.end());
  await write(out, Buffer.concat(chunks));
  return out;
}

/** A file for each page. */
async function renderPng(job: QueuedJob, out: string): Promise<string[]> {
  const pages = await openPages(job);
  const paths = pngPaths(out, Math.ceil(labelCount(job) / labelsPerPage(job)));
  if (paths.length > 1 && !out.endsWith('.png')) await mkdir(out, { recursive: true });
  let done = 0;
  for await (const { page, copies } of pages(labelsOf(job))) {
    const picture = await rasterizePage(page);
    for (const path of paths.slice(done, done + copies)) await write(path, picture);
    done += copies;
  }
  return paths;
}

/** `label.png`, or `label-0001.png`, … when there are several; in a folder, `label-0001.png`, …. */
function pngPaths(out: string, total: number): string[] {
  if (total === 1) return [out];
  if (out === STDOUT) {
    const message = `These are ${total} pictures, and standard output takes one: name a file or a folder.`;
    throw new CommandFailure(message, EXIT.usage);
  }
  const stem = out.endsWith('.png') ? out.slice(0, -'.png'.length) : join(out, 'label');
  return Array.from({ length: total }, (_, index) => `${stem}-${String(index + 1).padStart(4, '0')}.png`);
}
