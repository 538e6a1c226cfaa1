/** Files that others made, through a real queue to a virtual printer. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { dots } from '../../src/contract/dots.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { blacken, createBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { dotsOf } from '../kit/judges/judges.ts';

const site = useSite();

test('documents are printed dot by dot, a label each; a broken one fails its job before anything is printed', async () => {
  const { printer, printerId } = await site.startServedPrinter({}, { drivers: standardDrivers });
  const sheets = [3, 7].map((step) => {
    const sheet = createBitmap(dots(50, 203), dots(25, 203));
    for (let x = 0; x < sheet.width; x += step) for (let y = 0; y < 90; y++) blacken(sheet, x, y);
    return sheet;
  });
  const documents = sheets.map((sheet) => Buffer.from(encodePng(sheet, 203)).toString('base64'));
  const source = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
  const jobOf = (files: readonly string[]): QueuedJob => ({
    ...jobFor(printerId, 1, 2),
    template: template.parse(source),
    records: files.map((document) => ({ document })),
  });
  const broken = jobOf([...documents, documents[1]?.slice(0, 80) ?? '']);
  const job = jobOf(documents);
  for (const one of [broken, job]) await site.queues.enqueue(one);
  expect(await site.reports.end(broken.jobId)).toMatchObject({
    status: 'failed',
    labels: { sent: 0, printed: 0 },
    error: { code: 'value-invalid', record: 2, field: 'document', reason: { code: 'picture-cut-off' } },
  });
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'printed',
    labels: { sent: 4, printed: 4 },
  });
  for (const [number, sheet] of [0, 0, 1, 1].entries()) {
    const png = await printer.picture(number + 1);
    expect(await dotsOf(Buffer.from(png ?? [])), `label ${number + 1}`).toEqual(sheets[sheet]);
  }
});

test('each page of a PDF document is a label; a page that there is not fails its job before anything is printed', async () => {
  const { printer, printerId } = await site.startServedPrinter({}, { drivers: standardDrivers });
  const scans = [3, 5, 7].map((step) => {
    const scan = createBitmap(dots(50, 203), dots(25, 203));
    for (let x = 0; x < scan.width; x += step) for (let y = 0; y < 90; y++) blacken(scan, x, y);
    return scan;
  });
  const [width, height] = [((scans[0]?.width ?? 0) * 72) / 203, ((scans[0]?.height ?? 0) * 72) / 203];
  const sheets = scans.map((_, at) => ({
    ...{ width, height },
    content: `q ${width} 0 0 ${height} 0 0 cm /S${at} Do Q`,
  }));
  const file = pdfOf(sheets, scans).toString('base64');
  const source = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
  const jobOf = (...documents: string[]): QueuedJob => ({
    ...jobFor(printerId, 1, 1),
    template: template.parse(source),
    records: documents.map((document) => ({ document })),
  });
  const pages = [`${file}#page=1`, '#page=2&record=0', '#page=3&record=0'];
  const beyond = jobOf(...pages, '#page=4&record=0');
  const job = jobOf(...pages);
  for (const one of [beyond, job]) await site.queues.enqueue(one);
  expect(await site.reports.end(beyond.jobId)).toMatchObject({
    status: 'failed',
    labels: { sent: 0, printed: 0 },
    error: { code: 'value-invalid', record: 3, field: 'document', reason: { code: 'document-no-page' } },
  });
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'printed',
    labels: { sent: 3, printed: 3 },
  });
  for (const [at, scan] of scans.entries()) {
    const png = await printer.picture(at + 1);
    expect(await dotsOf(Buffer.from(png ?? [])), `label ${at + 1}`).toEqual(scan);
  }
});

test('ZPL documents reach the printer byte for byte, a label each', async () => {
  const { printer, printerId } = await site.startServedPrinter({}, { drivers: standardDrivers });
  const printed: string[] = [];
  printer.on('label', ({ rawFile }) => printed.push(readFileSync(rawFile, 'latin1')));
  const label = (n: number) =>
    `^XA\r\n^CI27^PW400^LL200\r\n^FO20,20^A0N,30,30^FDlabel ${n} \xe9^FS\r\n^PQ1,0,1,Y^XZ`;
  const document = (from: number) => {
    const labels = Array.from({ length: 6 }, (_, at) => `${label(from + at)}\r\n`);
    return Buffer.from(`\x10CT~~CD,~CC^~CT~\r\n~SD20${labels.join('')}`, 'latin1').toString('base64');
  };
  const job: QueuedJob = {
    ...jobFor(printerId, 1, 1),
    template: template.parse({ name: 'Carrier', language: 'document', fields: [{ name: 'document' }] }),
    records: [0, 6].flatMap((from) =>
      Array.from({ length: 6 }, (_, at) => ({
        document: at === 0 ? `${document(from)}#page=1` : `#page=${at + 1}&record=${from}`,
      })),
    ),
  };
  await site.queues.enqueue(job);
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 12 } });
  await printer.printed(12);
  expect(printed).toEqual(Array.from({ length: 12 }, (_, n) => label(n)));
});
