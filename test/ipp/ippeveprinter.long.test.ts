/** Our client against the PWG's sample printer. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { stringsOf, valuesOf } from '../../drivers/ipp/message.ts';
import { type Ippeveprinter, startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { type IppJob, JobClient } from '../kit/wire/job-client.ts';

const never = new AbortController().signal;
const PDF = Buffer.from('%PDF-1.4\n%âãÏÓ\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n', 'latin1');

let printer: Ippeveprinter;
beforeAll(async () => {
  printer = await startIppeveprinter('marker-supply-low-report');
});
afterAll(() => printer?.stop());

function client(): JobClient {
  const made = new JobClient(printer.uri);
  onTestFinished(() => made.close());
  return made;
}

async function ended(ipp: JobClient, jobId: number): Promise<IppJob> {
  const signal = AbortSignal.timeout(30_000);
  for (;;) {
    const job = await ipp.getJob(jobId, signal);
    if (job.state === 'completed' || job.state === 'aborted' || job.state === 'canceled') return job;
    await wait(50, undefined, { signal });
  }
}

test('it says what it is, and every value is understood', async () => {
  const attributes = await client().getPrinterAttributes(never);
  expect(stringsOf(attributes, 'printer-make-and-model')).toEqual(['Zebra ZD421']);
  expect(stringsOf(attributes, 'document-format-supported')).toContain('application/vnd.zebra-zpl');
  expect(stringsOf(attributes, 'printer-uuid')[0]).toMatch(/^urn:uuid:/);
  expect(valuesOf(attributes, 'media-col-default')[0]?.tag).toBe('collection');
  expect(attributes.flatMap(({ values }) => values).filter(({ tag }) => tag === 'raw')).toEqual([]);
});

test('a document in one request, one in two steps, and what the printer then says of itself', async () => {
  const ipp = client();
  const first = await ipp.printJob({ name: 'one', format: 'application/pdf' }, PDF, never);
  expect(await ended(ipp, first.jobId)).toMatchObject({ state: 'completed' });
  const second = await ipp.createJob({ name: 'two' }, never);
  const zpl = Buffer.from('^XA^FO10,10^A0N,30^FDtwo^FS^XZ');
  async function* stream() {
    yield zpl.subarray(0, 10);
    yield zpl.subarray(10);
  }
  await ipp.sendDocument(second, 'application/vnd.zebra-zpl', stream(), never);
  expect(await ended(ipp, second)).toMatchObject({ state: 'completed' });
  expect(printer.printed()).toEqual([PDF, zpl]);
  const attributes = await ipp.getPrinterAttributes(never, ['printer-state-reasons']);
  expect(stringsOf(attributes, 'printer-state-reasons')).toEqual(['marker-supply-low-report']);
});

test('a format that it does not take', async () => {
  const job = client().printJob({ format: 'application/postscript' }, Buffer.from('%!PS'), never);
  await expect(job).rejects.toMatchObject({ statusName: 'client-error-attributes-or-values-not-supported' });
});

test('one job at a time: a second is refused, and may come again later', async () => {
  const ipp = client();
  const open = await ipp.createJob({ name: 'open' }, never);
  await expect(ipp.createJob({ name: 'next' }, never)).rejects.toMatchObject({
    statusName: 'server-error-busy',
    retrySafe: true,
  });
  await ipp.cancelJob(open, never);
  expect(await ended(ipp, open)).toMatchObject({ state: 'canceled' });
});
