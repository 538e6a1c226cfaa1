import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import { pdfDocument } from '../../drivers/languages/pdf.ts';
import type { LabelRecord, Orientation } from '../contract/print-request.ts';
import { orientation } from '../contract/print-request.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { Template } from '../contract/template.ts';
import type { DisplayList } from '../render/display-list.ts';
import { compileLabel } from '../render/label-layout.ts';
import { rasterize } from '../render/raster.ts';
import { compileRawPictures } from '../render/raw-picture.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { readRecords, readTemplate } from './input-file.ts';
import { numberFrom } from './option-values.ts';
import { printLine } from './output.ts';

interface RenderOptions {
  data?: string;
  to: 'zpl' | 'pdf' | 'png';
  out: string;
  dpi: '203' | '300' | '600';
  orientation: Orientation;
  copies: number;
}

/** Of a raw ZPL template that does not say how large its label is, mm: the most common one. */
const UNKNOWN_SIZE = { width: 101.6, height: 152.4 };

/** `platen render` */
export function renderCommand(): Command {
  return new Command('render')
    .description('make labels from a template file without a service')
    .argument('<template>', 'template file: Platen JSON, or raw .zpl')
    .option('--data <file>', 'JSON file with an array of records; a template without fields needs none')
    .addOption(
      new Option('--to <language>', 'what to make').choices(['zpl', 'pdf', 'png']).makeOptionMandatory(),
    )
    .requiredOption(
      '--out <path>',
      'the file to write; for several PNGs the folder, or label.png for label-0001.png, …',
    )
    .addOption(new Option('--dpi <dpi>', 'resolution').choices(['203', '300', '600']).default('203'))
    .addOption(new Option('--orientation <orientation>').choices(orientation.options).default('portrait'))
    .option('--copies <n>', 'copies of each record', numberFrom(1, 10_000), 1)
    .action(async (file: string, options: RenderOptions) => {
      const template = await readTemplate(file);
      const records = options.data === undefined ? [{}] : await readRecords(options.data);
      for (const path of await render(template, records, options)) printLine(path);
    });
}

/** Writes the labels; returns the paths. @throws JobFaultError naming record and element */
async function render(template: Template, records: LabelRecord[], options: RenderOptions): Promise<string[]> {
  if (options.to === 'zpl') return [await renderZpl(template, records, options)];
  return options.to === 'pdf'
    ? [await renderPdf(template, records, options)]
    : await renderPng(template, records, options);
}

async function renderZpl(
  template: Template,
  records: LabelRecord[],
  options: RenderOptions,
): Promise<string> {
  const dpi = Number(options.dpi);
  const job: QueuedJob = {
    v: 1,
    // Formats stored in the printer are named after it: another file must not have the same.
    jobId: createHash('sha256')
      .update(JSON.stringify([template, records, options]))
      .digest('hex'),
    tenantId: 'none',
    printerId: 'address-00000000',
    templateId: 'none',
    template,
    format: {
      id: 'none',
      name: 'none',
      language: 'zpl',
      dpi,
      width: template.width ?? UNKNOWN_SIZE.width,
      height: template.height ?? UNKNOWN_SIZE.height,
    },
    orientation: options.orientation,
    copies: options.copies,
    records,
    createdAt: new Date().toISOString(),
  };
  const encoder = await LANGUAGES.zpl.open(job);
  const chunks = [encoder.begin()];
  for (let record = 0; record < records.length; record++)
    chunks.push(await encoder.label(record, options.copies));
  chunks.push(encoder.end());
  await writeFile(options.out, Buffer.concat(chunks));
  return options.out;
}

type Layout = (record: LabelRecord, index: number) => DisplayList | Promise<DisplayList>;

/** Laid out as the job that it would be if it were sent now. @throws JobFaultError */
async function layoutOf(template: Template, records: LabelRecord[], options: RenderOptions): Promise<Layout> {
  const job = { createdAt: new Date().toISOString(), records };
  const dpi = Number(options.dpi);
  const { orientation } = options;
  if (template.language !== 'zpl') return (await compileLabel(template, { dpi, orientation, job })).layout;
  if (orientation === 'landscape') {
    throw new CommandFailure(
      'A raw ZPL template has its own orientation: leave --orientation out.',
      EXIT.usage,
    );
  }
  return compileRawPictures(template, { dpi, ...UNKNOWN_SIZE, job }).layout;
}

async function renderPdf(
  template: Template,
  records: LabelRecord[],
  options: RenderOptions,
): Promise<string> {
  const layout = await layoutOf(template, records, options);
  const labels = [];
  for (const [index, record] of records.entries())
    labels.push({ list: await layout(record, index), copies: options.copies });
  await writeFile(options.out, pdfDocument(labels));
  return options.out;
}

async function renderPng(
  template: Template,
  records: LabelRecord[],
  options: RenderOptions,
): Promise<string[]> {
  const layout = await layoutOf(template, records, options);
  const total = records.length * options.copies;
  const paths = pngPaths(options.out, total);
  if (total > 1 && !options.out.endsWith('.png')) await mkdir(options.out, { recursive: true });
  for (const [index, record] of records.entries()) {
    const picture = await rasterize(await layout(record, index));
    for (const path of paths.slice(index * options.copies, (index + 1) * options.copies))
      await writeFile(path, picture);
  }
  return paths;
}

/** `label.png`, or `label-0001.png`, … when there are several; in a folder, `label-0001.png`, …. */
function pngPaths(out: string, total: number): string[] {
  if (total === 1) return [out];
  const stem = out.endsWith('.png') ? out.slice(0, -'.png'.length) : join(out, 'label');
  return Array.from({ length: total }, (_, index) => `${stem}-${String(index + 1).padStart(4, '0')}.png`);
}
