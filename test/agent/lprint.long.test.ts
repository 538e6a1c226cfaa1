/**
 * LPrint between our agent and the printer: it takes a label as EPL2, PWG raster and PNG, and what it sends on to the
 * printer are the same dots. So our PWG raster is judged by another's reader, and the reader of EPL2 that judges our
 * EPL2 by another's writer. So it is with CUPS's own filter for EPL2 printers.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { Confirmation } from '../../src/agent/printer/confirmation.ts';
import type { LanguageId, RasterType } from '../../src/contract/format.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { type Bitmap, createBitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { Directories } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { design, differingDots, dotsOf, drawZpl, jobFor, readSymbols } from '../kit/judges/judges.ts';
import { readEpl } from '../kit/judges/label-printers.ts';
import { wholeJob } from '../kit/judges/printed.ts';
import { type Avahi, startAvahi } from '../kit/programs/avahi.ts';
import { type Lprint, startLprint } from '../kit/programs/lprint.ts';
import { type Network, networksCanBeMade, openNetwork } from '../kit/programs/network.ts';

const directories = new Directories();
const run = promisify(execFile);

/** 2 × 1 in: a size that LPrint knows. */
const MEDIA = { dpi: 203, width: 50.8, height: 25.4 };
const SIZE = { width: 406, height: 203 };
const LABEL = design(MEDIA.width, MEDIA.height, [
  { type: 'barcode', symbology: 'qr', value: 'label {{n}}', x: 5, y: 3, module: 0.5 },
  { type: 'text', x: 22, y: 12, size: 5, text: 'Ωμέγα {{n}}', font: 'sans' },
  { type: 'box', x: 0.5, y: 0.5, width: 49.5, height: 24, thickness: 0.25 },
]);

function jobOn(language: LanguageId, records: string[]): QueuedJob {
  const job = jobFor(
    LABEL,
    records.map((n) => ({ n })),
    { language },
  );
  return { ...job, format: { ...job.format, ...MEDIA } };
}

/** Our own dots of the job's labels. */
async function rasters(job: QueuedJob): Promise<Bitmap[]> {
  const { layout } = await compileLabel(LABEL, { dpi: 203, orientation: 'portrait', job });
  return job.records.map((record, index) => rasterBitmap(layout(record, index)));
}

/** For each label in how many dots it is another; as many as there are on either side. */
function differences(labels: readonly Bitmap[], own: readonly Bitmap[]): number[] {
  const none = createBitmap(0, 0);
  return Array.from({ length: Math.max(labels.length, own.length) }, (_, index) =>
    differingDots(labels[index] ?? none, own[index] ?? none),
  );
}

function labelsIn(epl: Buffer): Bitmap[] {
  return readEpl(epl, SIZE.height).map(({ bitmap }) => cropBitmap(bitmap, 0, 0, SIZE.width, SIZE.height));
}

afterAll(() => directories.remove());

test('CUPS makes EPL2 of our PWG raster: the same dots', async () => {
  const job = jobOn('pwg-raster', ['a', 'b']);
  job.format.rasterType = 'black_1';
  const directory = directories.make();
  const raster = join(directory, 'labels.pwg');
  writeFileSync(raster, await wholeJob(job, await openEncoder(job)));
  await run('ppdc', ['-d', directory, '/usr/share/cups/drv/sample.drv']);
  const { stdout } = await run(
    '/usr/lib/cups/filter/rastertolabel',
    ['1', 'user', 'title', '1', '', raster],
    {
      encoding: 'buffer',
      env: { ...process.env, PPD: join(directory, 'zebraep2.ppd') },
    },
  );
  expect(differences(labelsIn(stdout), await rasters(job))).toEqual([0, 0]);
});

describe.skipIf(!networksCanBeMade)('through LPrint', () => {
  const site = useSite();
  let network: Network;
  let avahi: Avahi;
  let lprint: Lprint;
  const out = { epl: '', zpl: '' };

  beforeAll(async () => {
    const directory = directories.make();
    for (const name of ['epl', 'zpl'] as const) {
      out[name] = join(directory, name);
      mkdirSync(out[name]);
    }
    network = openNetwork();
    avahi = await startAvahi(network);
    lprint = await startLprint(
      { network, avahi },
      {
        epl: ['epl2_4inch-203dpi-dt', `file://${out.epl}`],
        zpl: ['zpl_4inch-203dpi-dt', `file://${out.zpl}`],
      },
    );
  });
  afterAll(async () => {
    await lprint?.stop();
    await avahi?.stop();
    network?.close();
  });

  /** What LPrint wrote for the labels of a job, once the agent says that it is done. */
  async function printedBy(
    printer: 'epl' | 'zpl',
    language: LanguageId,
    records: string[],
    { type, confirmation = 'transport' }: { type?: RasterType; confirmation?: Confirmation } = {},
  ): Promise<{ job: QueuedJob; bytes: Buffer }> {
    const { printerId, description } = await site.startAgent(
      { uri: lprint.uri(printer) },
      { drivers: standardDrivers, config: { printer: MEDIA, confirmation } },
    );
    const format = description.formats.find((one) => one.language === language);
    if (format === undefined) throw new Error(`no format in ${language}`);
    const job = {
      ...jobOn(language, records),
      jobId: crypto.randomUUID(),
      printerId,
      format: { ...format, ...(type !== undefined && { rasterType: type }) },
    };
    const end = await site.print(job);
    const sent = records.length;
    expect(end).toMatchObject(
      confirmation === 'transport'
        ? { status: 'printed', labels: { sent, printed: sent } }
        : { status: 'held', labels: { sent, printed: 0 }, uncertain: { from: 0, to: sent } },
    );
    const files = readdirSync(out[printer]).filter((file) => file.includes(job.jobId));
    return { job, bytes: Buffer.concat(files.sort().map((file) => readFileSync(join(out[printer], file)))) };
  }

  test('what it is known to take, best first', async () => {
    const { description } = await site.startAgent(
      { uri: lprint.uri('epl') },
      { drivers: standardDrivers, config: { printer: MEDIA } },
    );
    expect(description.formats.map(({ id, rasterType: type }) => [id, type])).toEqual([
      ['epl-203-50.8x25.4', undefined],
      ['pwg-raster-203-50.8x25.4', 'sgray_8'],
      ['png-203-50.8x25.4', undefined],
    ]);
  });

  test('EPL2 goes through as it is', async () => {
    const { job, bytes } = await printedBy('epl', 'epl', ['a', 'b']);
    expect(bytes).toEqual(await wholeJob(job, await openEncoder(job)));
  });

  test('its completed says that the bytes were passed on: held, unless the operator takes that', async () => {
    const { job, bytes } = await printedBy('epl', 'epl', ['c'], { confirmation: 'device' });
    expect(bytes).toEqual(await wholeJob(job, await openEncoder(job)));
  });

  test.each(['black_1', 'sgray_8'] as const)('PWG raster (%s) becomes EPL2: the same dots', async (type) => {
    const { job, bytes } = await printedBy('epl', 'pwg-raster', ['a', 'b'], { type });
    expect(differences(labelsIn(bytes), await rasters(job))).toEqual([0, 0]);
  });

  test('PWG raster becomes ZPL, and its code reads', async () => {
    const { job, bytes } = await printedBy('zpl', 'pwg-raster', ['a']);
    const picture = await drawZpl(bytes.toString('latin1'), SIZE.width, SIZE.height);
    expect((await readSymbols(picture)).map(({ text }) => text)).toEqual(['label a']);
    expect(differences([await dotsOf(picture)], await rasters(job))).toEqual([0]);
  });

  test('PNG becomes EPL2: the same dots', async () => {
    const { job, bytes } = await printedBy('epl', 'png', ['a', 'b']);
    expect(differences(labelsIn(bytes), await rasters(job))).toEqual([0, 0]);
  });
});
