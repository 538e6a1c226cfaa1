import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Command, Option } from 'commander';
import { LANGUAGES, labelsPerPage, openEncoder } from '../../drivers/languages/index.ts';
import { type LanguageId, languageId } from '../contract/format.ts';
import type { LabelRecord, Orientation } from '../contract/print-request.ts';
import { orientation } from '../contract/print-request.ts';
import { labelCount, type QueuedJob } from '../contract/queued-job.ts';
import type { Template } from '../contract/template.ts';
import { copiesDiffer } from '../render/template-fields.ts';
import { planDocuments } from '../rendering/chunk-plan.ts';
import { encodeDocument } from '../rendering/encode-plan.ts';
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

/** With the language, from `--to` or from the ending of the file. */
type Chosen = RenderOptions & { to: LanguageId };

const STDOUT = '-';

/** The size for a raw ZPL template that does not say how large its label is, mm: the most common one. */
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
      const ending = extname(options.out).toLowerCase();
      const to = options.to ?? languageId.options.find((language) => LANGUAGES[language].ending === ending);
      if (to === undefined) {
        const endings = languageId.options.map((language) => LANGUAGES[language].ending).join(', ');
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

/** A record of the fields' samples; a field without a sample prints as its default, or as nothing. */
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

/**
 * Writes the labels to one file, or to a file for each document where a document has a limited number of
 * pages; returns the paths.
 * @throws JobFaultError naming record and element
 */
async function render(template: Template, records: LabelRecord[], options: Chosen): Promise<string[]> {
  if (template.language === 'zpl' && options.orientation === 'landscape') {
    throw new CommandFailure(
      'A raw ZPL template has its own orientation: leave --orientation out.',
      EXIT.usage,
    );
  }
  const job = jobOf(template, records, options);
  const { ending, pagesPerDocument } = LANGUAGES[options.to];
  const encoder = await openEncoder(job);
  const [total, perPage] = [labelCount(job), labelsPerPage(job)];
  const most = pagesPerDocument === undefined ? total + perPage : pagesPerDocument * perPage;
  const labels = { copies: job.copies, from: 0, upTo: total, copiesDiffer: copiesDiffer(template) };
  const plans = [...planDocuments(labels, most, perPage)];
  const paths = filePaths(options.out, plans.length, ending);
  if (paths.length > 1 && !options.out.endsWith(ending)) await mkdir(options.out, { recursive: true });
  let made = { of: '', bytes: new Uint8Array() };
  for (const [index, plan] of plans.entries()) {
    // A document equal to the one before is not made again.
    const of = JSON.stringify(
      plan.map(({ record, count, copy }) => [record, count, labels.copiesDiffer && copy]),
    );
    if (of !== made.of) made = { of, bytes: await encodeDocument(encoder, plan) };
    await write(paths[index] ?? options.out, made.bytes);
  }
  return paths;
}

/** A job that is never sent, on media as large as its labels. */
function jobOf(template: Template, records: LabelRecord[], options: Chosen): QueuedJob {
  const { width = UNKNOWN_SIZE.width, height = UNKNOWN_SIZE.height } = template;
  const turned = options.orientation === 'landscape';
  return {
    v: 1,
    // Formats stored in the printer are named after the job, so another file must not have the same ID.
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

/** `label.png`, or `label-0001.png`, … when there are several; in a folder, `label-0001.png`, …. */
function filePaths(out: string, total: number, ending: string): string[] {
  if (total === 1) return [out];
  if (out === STDOUT) {
    const message = `These are ${total} pictures, and standard output takes one: name a file or a folder.`;
    throw new CommandFailure(message, EXIT.usage);
  }
  const stem = out.endsWith(ending) ? out.slice(0, -ending.length) : join(out, 'label');
  return Array.from(
    { length: total },
    (_, index) => `${stem}-${String(index + 1).padStart(4, '0')}${ending}`,
  );
}
