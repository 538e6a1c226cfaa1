/** Our codec and client against implementations of others: CUPS (a server) and ipptool (a client). */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { groupOf, type IppMessage, numbersOf, stringsOf, valuesOf } from '../../drivers/ipp/message.ts';
import { OPERATIONS } from '../../drivers/ipp/names.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { httpPeer, ippAnswer } from '../kit/wire/http-peer.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';
import { type IppJob, JobClient } from '../kit/wire/job-client.ts';
import { everything, peer } from '../kit/wire/peer.ts';
import { PRINTER_REPLY } from './messages.ts';

const never = new AbortController().signal;
const run = promisify(execFile);
const hash = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

let cups: Cupsd;
beforeAll(async () => {
  cups = await startCupsd();
});
afterAll(() => cups?.stop());

function client(path: string): JobClient {
  const made = new JobClient(`ipp://127.0.0.1:${cups.port}${path}`);
  onTestFinished(() => made.close());
  return made;
}

async function followed(ipp: JobClient, jobId: number, until: (job: IppJob) => boolean): Promise<IppJob> {
  const signal = AbortSignal.timeout(30_000);
  for (;;) {
    const job = await ipp.getJob(jobId, signal);
    if (until(job)) return job;
    await wait(50, undefined, { signal });
  }
}

const printed = (job: IppJob) => job.state === 'completed';

test('CUPS: a queue is listed, a job printed byte for byte and followed to its end', async () => {
  expect(await client('/').cupsGetPrinters(never)).toEqual([]);
  const device = await peer(undefined, { allowHalfOpen: true });
  await cups.addQueue('labels', `socket://127.0.0.1:${device.port}`);
  const queues = await client('/').cupsGetPrinters(never, ['printer-name', 'device-uri']);
  expect(queues.map((queue) => stringsOf(queue, 'printer-name'))).toEqual([['labels']]);
  expect(queues.map((queue) => stringsOf(queue, 'device-uri'))).toEqual([
    [`socket://127.0.0.1:${device.port}`],
  ]);

  const ipp = client('/printers/labels');
  const label = randomBytes(300_000);
  const received = device.accepted.then(async (socket) => {
    const bytes = await everything(socket);
    socket.end();
    return bytes;
  });
  const sent = await ipp.printJob({ name: 'Etiquetas ñ', format: 'application/octet-stream' }, label, never);
  expect(hash(await received)).toBe(hash(label));
  const done = await followed(ipp, sent.jobId, printed);
  expect(done).toMatchObject({ jobId: sent.jobId, state: 'completed' });
  expect(stringsOf(await ipp.getJobAttributes(sent.jobId, never), 'job-name')).toEqual(['Etiquetas ñ']);
});

test('CUPS: a job in two steps, streamed, and one canceled while its printer is away', async () => {
  const device = await peer(undefined, { allowHalfOpen: true });
  await cups.addQueue('twosteps', `socket://127.0.0.1:${device.port}`);
  const ipp = client('/printers/twosteps');
  const created = await ipp.createJob({ name: 'two steps' }, never);
  const label = randomBytes(200_000);
  async function* stream() {
    for (let at = 0; at < label.length; at += 7_000) yield label.subarray(at, at + 7_000);
  }
  const received = device.accepted.then(async (socket) => {
    const bytes = await everything(socket);
    socket.end();
    return bytes;
  });
  await ipp.sendDocument(created, 'application/octet-stream', stream(), never);
  expect(hash(await received)).toBe(hash(label));
  await followed(ipp, created, printed);

  const gone = await peer();
  gone.server.close();
  await cups.addQueue('away', `socket://127.0.0.1:${gone.port}`);
  const away = client('/printers/away');
  const stuck = await away.printJob({ format: 'application/octet-stream' }, label, never);
  await followed(away, stuck.jobId, (job) => job.state === 'processing');
  await away.cancelJob(stuck.jobId, never);
  await followed(away, stuck.jobId, (job) => job.state === 'canceled');
});

test('CUPS: refusals are its own', async () => {
  const ipp = client('/printers/nowhere');
  await expect(ipp.getPrinterAttributes(never)).rejects.toMatchObject({
    statusName: 'client-error-not-found',
  });
  await cups.addQueue('picky', 'socket://127.0.0.1:9');
  const format = 'application/vnd.zebra-zpl';
  await expect(
    client('/printers/picky').printJob({ format }, Buffer.from('^XA^XZ'), never),
  ).rejects.toMatchObject({
    statusName: 'client-error-document-format-not-supported',
    retrySafe: false,
  });
});

test('CUPS: every value of its answer is understood, and written again as the very same bytes', async () => {
  await cups.addQueue('whole', 'socket://127.0.0.1:9');
  const uri = `ipp://127.0.0.1:${cups.port}/printers/whole`;
  const request = ippRequest('Get-Printer-Attributes', uri, {
    name: 'requested-attributes',
    values: ['all', 'media-col-database'].map((value) => ({ tag: 'keyword', value })),
  });
  const answer = await fetch(uri.replace('ipp:', 'http:'), {
    method: 'POST',
    headers: { 'content-type': 'application/ipp' },
    body: new Uint8Array(encodeIpp(request)),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const decoded = decodeIpp(bytes);
  const attributes = groupOf(decoded, 'printer')?.attributes ?? [];
  expect(attributes.length).toBeGreaterThan(50);
  expect(attributes.flatMap(({ values }) => values).filter(({ tag }) => tag === 'raw')).toEqual([]);
  expect(encodeIpp(decoded).equals(bytes)).toBe(true);
  // A date, and the right month of it.
  const [time] = valuesOf(attributes, 'printer-current-time');
  expect(time?.tag === 'dateTime' && Math.abs(time.value.getTime() - Date.now())).toBeLessThan(60_000);
  expect(numbersOf(attributes, 'printer-state')).toEqual([3]);
});

test('ipptool reads what we write, and we read what it asks', async () => {
  const asked: IppMessage[] = [];
  const device = await httpPeer(
    ippAnswer((request) => {
      asked.push(request);
      return { groups: PRINTER_REPLY.groups.filter((group) => group.tag === 'printer') };
    }),
  );
  const { stdout } = await run('ipptool', ['-tv', device.uri, 'get-printer-attributes.test'], {
    timeout: 20_000,
  }).catch(
    // It wants more attributes than this printer has; what it read stands in its output all the same.
    (error: { stdout: string }) => error,
  );
  expect(asked.map((request) => request.code)).toContain(OPERATIONS['Get-Printer-Attributes']);
  expect(
    asked.flatMap((request) => request.groups.flatMap((group) => group.attributes)).length,
  ).toBeGreaterThan(3);
  for (const shown of [
    'status-code = successful-ok',
    'printer-name (nameWithoutLanguage) = Étiquettes 3',
    'printer-info (textWithLanguage) = Labor[de]',
    'printer-state (enum) = idle',
    'printer-state-reasons (1setOf keyword) = media-empty-error,cover-open-warning',
    'printer-is-accepting-jobs (boolean) = true',
    'printer-resolution-default (resolution) = 203dpi',
    'copies-supported (rangeOfInteger) = 1-999',
    'printer-current-time (dateTime) = 2026-11-21T08:00:00+0100',
    'printer-geo-location (unknown) = unknown',
    'media-col-default (collection) = {media-size={x-dimension=10160 y-dimension=15240} media-tracking=gap}',
  ]) {
    expect(stdout).toContain(shown);
  }
});
