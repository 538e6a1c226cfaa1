/** Printers that speak neither ZPL nor PDF, driven by an agent from the queue to the label. */
import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { pageRecords } from '../../src/contract/document-pages.ts';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { mostData } from '../../src/contract/dots.ts';
import type { LanguageId } from '../../src/contract/format.ts';
import type { PrinterDescription } from '../../src/contract/printer.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { type Bitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { designedJob } from '../kit/agent/ipp-site.ts';
import { expected } from '../kit/agent/site.ts';
import { type StartOptions, useSite } from '../kit/agent/use-site.ts';
import { dotsOf, readSymbols } from '../kit/judges/judges.ts';
import { type PrintedLabel, readEpl, readTspl } from '../kit/judges/label-printers.ts';
import { drawPwgRaster } from '../kit/judges/printed.ts';
import { startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { peer } from '../kit/wire/peer.ts';

const site = useSite();

const MEDIA = { dpi: 203, width: 50, height: 25 };
/** Stops nothing. */
const REASON = 'marker-supply-low-report';
const LABEL = { width: 400, height: 200, dpi: 203 };

const startAgent = (on: { uri: string }, config: NonNullable<StartOptions['config']>) =>
  site.startAgent(on, { drivers: standardDrivers, config });

/** A job in the printer's own format of this language. */
function jobIn(
  { printerId, description }: { printerId: string; description: PrinterDescription },
  language: LanguageId,
  records: string[],
  copies = 1,
): QueuedJob {
  const format = description.formats.find((one) => one.language === language);
  if (format === undefined) throw new Error(`no format in ${language}`);
  return { ...designedJob(printerId, language, records, copies), format };
}

/** The same labels as a program that somebody else has written in the printer's language. */
async function documentJob(designed: QueuedJob): Promise<QueuedJob> {
  const encoder = await openEncoder(designed);
  const labels = await Promise.all(designed.records.map((_, at) => encoder.label(at, 1)));
  const template = documentTemplate.parse({
    name: 'Carrier',
    language: 'document',
    fields: [{ name: 'document' }],
  });
  const pages = labels.map((_, at) => at + 1);
  const document = Buffer.concat(labels).toString('base64');
  return { ...designed, template, records: pageRecords({ document }, template, pages, 0) };
}

async function codesOn(bitmaps: readonly Bitmap[]): Promise<(string | undefined)[]> {
  const pictures = bitmaps.map((bitmap) =>
    encodePng(cropBitmap(bitmap, 0, 0, LABEL.width, LABEL.height), 203),
  );
  return Promise.all(pictures.map(async (picture) => (await readSymbols(picture))[0]?.text));
}

const LANGUAGES = {
  tspl: {
    question: '\x1b!?',
    ready: '\0',
    empty: '\x04',
    print: /(?:PRINT 1,\d+|REFERENCE 0,0)\r\n$/,
    read: (bytes: Buffer) => readTspl(bytes, LABEL.dpi),
  },
  epl: {
    question: '^ee\r\n',
    ready: '00\r\n',
    empty: '07\r\n',
    print: /\n(?:P\d+|ZT)\r\n$/,
    read: (bytes: Buffer) => readEpl(bytes, LABEL.height),
  },
} as const;

/** A printer on a TCP port that keeps what it is sent, and answers the one question that its language has. */
async function labelPrinter(
  language: keyof typeof LANGUAGES,
  answer: { now: string | null },
  /** After so many bytes the connection breaks, once. */
  cutAfter = Number.POSITIVE_INFINITY,
) {
  const { question, print, read } = LANGUAGES[language];
  const arrivals = new EventEmitter();
  let text = '';
  const device = await peer((socket) => {
    socket.on('data', (bytes) => {
      const whole = text.length + bytes.length < cutAfter;
      text += bytes.toString('latin1', 0, whole ? bytes.length : cutAfter - text.length);
      if (!whole) {
        cutAfter = Number.POSITIVE_INFINITY;
        socket.resetAndDestroy();
      }
      if (answer.now !== null && text.endsWith(question)) socket.write(Buffer.from(answer.now, 'latin1'));
      arrivals.emit('bytes');
    });
    socket.resume();
  });
  return {
    uri: device.uri,
    /** Everything but the questions, once it ends with a label or a setting, of at least so many. */
    labels: async (count: number): Promise<PrintedLabel[]> => {
      for (;;) {
        const sent = text.replaceAll(question, '');
        const labels = sent === '' || print.test(sent) ? read(Buffer.from(sent, 'latin1')) : undefined;
        const printed = labels?.reduce((sum, { copies }) => sum + copies, 0) ?? 0;
        if (labels !== undefined && printed >= count) return labels;
        await once(arrivals, 'bytes');
      }
    },
  };
}

function printedCodes(labels: readonly PrintedLabel[]): Promise<(string | undefined)[]> {
  return codesOn(labels.flatMap(({ bitmap, copies }) => Array.from({ length: copies }, () => bitmap)));
}

for (const language of ['tspl', 'epl'] as const) {
  const { ready, empty } = LANGUAGES[language];

  test(`${language}: each copy of every record in order; printed where the operator trusts the connection`, async () => {
    const printer = await labelPrinter(language, { now: ready });
    const agent = await startAgent(printer, {
      printer: { language, ...MEDIA, confirmation: 'transport' },
      window: { labels: 4 },
    });
    expect(agent.description).toMatchObject({
      evidence: 'address',
      formats: [{ id: `${language}-203-50x25`, language }],
    });
    const job = jobIn(agent, language, ['a', 'b', 'c'], 3);
    expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 9 } });
    expect(await printedCodes(await printer.labels(9))).toEqual(expected(job).map((n) => `label ${n}`));
  });

  test(`${language}: a document in the printer's own language, also after the connection broke in its data`, async () => {
    const printer = await labelPrinter(language, { now: null }, mostData(MEDIA, MEDIA.dpi) + 800);
    const agent = await startAgent(printer, { printer: { language, ...MEDIA, confirmation: 'transport' } });
    const cut = await site.enqueue(await documentJob(jobIn(agent, language, ['cut'])));
    await site.reports.end(cut.jobId);
    const designed = jobIn(agent, language, ['a', 'b', 'c'], 3);
    const job = await documentJob(designed);
    expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 9 } });
    expect(await printedCodes(await printer.labels(9))).toEqual(expected(designed).map((n) => `label ${n}`));
  });

  test(`${language}: held where nobody says what came out, whether it answers or not`, async () => {
    for (const now of [ready, null]) {
      const printer = await labelPrinter(language, { now });
      const agent = await startAgent(printer, { printer: { language, ...MEDIA } });
      const job = jobIn(agent, language, ['a', 'b']);
      expect(await site.print(job)).toMatchObject({
        status: 'held',
        error: { code: 'outcome-unknown' },
        uncertain: { from: 0, to: 2 },
      });
      expect(await printedCodes(await printer.labels(2))).toEqual(['label a', 'label b']);
    }
  });

  test(`${language}: the connection breaks in the data of a label: the next one is as it should be`, async () => {
    // After the empty lines with which an agent begins.
    const filled = mostData(MEDIA, MEDIA.dpi);
    const printer = await labelPrinter(language, { now: null }, filled + 800);
    const agent = await startAgent(printer, { printer: { language, ...MEDIA, confirmation: 'transport' } });
    const cut = await site.enqueue(jobIn(agent, language, ['cut']));
    await site.reports.end(cut.jobId);
    const next = jobIn(agent, language, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed' });
    expect(await printedCodes(await printer.labels(1))).toEqual(['label next']);
  });

  test(`${language}: without paper the job waits and says why, and nothing is sent`, async () => {
    const answer: { now: string | null } = { now: empty };
    const printer = await labelPrinter(language, answer);
    const agent = await startAgent(printer, {
      printer: { language, ...MEDIA, confirmation: 'transport' },
    });
    const job = await site.enqueue(jobIn(agent, language, ['a']));
    await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
    expect(await printer.labels(0)).toEqual([]);
    answer.now = ready;
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 1 } });
    expect(await printedCodes(await printer.labels(1))).toEqual(['label a']);
  });
}

test('a driverless printer that takes PWG raster and nothing else of ours', async () => {
  const eve = await startIppeveprinter(REASON, { formats: ['image/pwg-raster'] });
  site.running(eve);
  const agent = await startAgent(eve, { printer: MEDIA, window: { labels: 4 } });
  expect(agent.description.formats).toMatchObject([
    { id: 'pwg-raster-203-50x25', language: 'pwg-raster', rasterType: 'sgray_8' },
  ]);
  const job = jobIn(agent, 'pwg-raster', ['a', 'b', 'c'], 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 6 } });
  const documents = await Promise.all(eve.printed().map((stream) => drawPwgRaster(stream, LABEL)));
  expect(documents.map((pages) => pages.length)).toEqual([4, 2]);
  expect(await codesOn(documents.flat())).toEqual(expected(job).map((n) => `label ${n}`));
});

test('a driverless printer that takes PNG and nothing else of ours: a document a label', async () => {
  const eve = await startIppeveprinter(REASON, { formats: ['image/png'] });
  site.running(eve);
  const agent = await startAgent(eve, { printer: MEDIA });
  expect(agent.description.formats).toMatchObject([{ id: 'png-203-50x25', language: 'png' }]);
  const job = jobIn(agent, 'png', ['a', 'b'], 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 4 } });
  const pictures = await Promise.all(eve.printed().map((picture) => dotsOf(picture)));
  expect(await codesOn(pictures)).toEqual(expected(job).map((n) => `label ${n}`));
});
