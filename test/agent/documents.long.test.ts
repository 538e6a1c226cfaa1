/** Jobs to a virtual IPP printer, with every fault that such a printer has; the agent in this process. */
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { designedJob } from '../kit/agent/ipp-site.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { JobClient } from '../kit/wire/job-client.ts';

const site = useSite();

async function withClient(
  printer: { uri: string },
  work: (client: JobClient) => Promise<void>,
): Promise<void> {
  const client = new JobClient(printer.uri);
  try {
    await work(client);
  } finally {
    client.close();
  }
}

test('ZPL in documents of a bounded number of labels, each copy of every record in order', async () => {
  const { printer, printerId, description } = await site.startServedIppPrinter(
    { name: 'Front desk', serial: 'IPP-1234' },
    { config: { window: { labels: 4 } } },
  );
  expect(description).toMatchObject({
    evidence: 'serial',
    name: 'Front desk',
    model: 'Platen Virtual Label Printer',
    state: 'idle',
    reasons: [],
    formats: [
      { id: 'zpl-203-50x25', language: 'zpl' },
      { id: 'pdf-203-50x25', language: 'pdf' },
    ],
  });
  const jobs = [jobFor(printerId, 3, 2), jobFor(printerId, ['x'], 10), jobFor(printerId, ['last'])];
  for (const job of jobs) await site.queues.enqueue(job);
  const ends = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
  expect(ends.map(({ status, labels }) => [status, labels])).toEqual([
    ['printed', { sent: 6, printed: 6 }],
    ['printed', { sent: 10, printed: 10 }],
    ['printed', { sent: 1, printed: 1 }],
  ]);
  expect(printer.labels).toEqual(jobs.flatMap(expected));
  expect(printer.jobs().map(({ printed }) => printed)).toEqual([4, 2, 4, 4, 2, 1]);
  // The name says which labels of which job it holds.
  expect(printer.jobs()[1]?.name).toMatch(new RegExp(`^${jobs[0]?.jobId} 5-6 [0-9a-f]{8}$`));
});

test('PDF: a label a page, and what is on it', async () => {
  const { printer, printerId, description } = await site.startServedIppPrinter(
    { rolls: [{ width: 100, height: 50 }] },
    { drivers: standardDrivers },
  );
  expect(description.formats.map(({ id }) => id)).toEqual([
    'zpl-203-50x25',
    'zpl-203-100x50',
    'pdf-203-50x25',
    'pdf-203-100x50',
  ]);
  const names = description.formats.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const job = designedJob(printerId, 'pdf', ['one', 'two', 'three'], 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 6 } });
  expect(printer.jobs().map(({ printed }) => printed)).toEqual([6]);
  const codes = await Promise.all(printer.pictures.map((file) => barcodesIn(file)));
  expect(codes.map(([code]) => code?.text)).toEqual(expected(job).map((n) => `label ${n}`));
});

test('a record that cannot be made fails the job before the printer hears of it', async () => {
  const { printer, printerId } = await site.startServedIppPrinter();
  const job = jobFor(printerId, ['0', '1', 'bad']);
  expect(await site.print(job)).toMatchObject({
    status: 'failed',
    error: { code: 'value-invalid', record: 2 },
  });
  expect(printer.jobs()).toEqual([]);
});

test('a format that it names and refuses all the same: failed, clearly, and the next job prints', async () => {
  const { printer, printerId } = await site.startServedIppPrinter();
  printer.misbehave({ refusedFormats: ['application/vnd.zebra-zpl'] });
  const job = jobFor(printerId, 2);
  expect(await site.print(job)).toMatchObject({
    status: 'failed',
    labels: { printed: 0 },
    error: {
      code: 'printer-refused',
      message: expect.stringContaining('document-format-not-supported'),
      reason: { code: 'refused-by-printer' },
    },
  });
  // Nothing of it is left waiting in the printer.
  expect(printer.jobs().map(({ state }) => state)).toEqual(['canceled']);
  printer.misbehave({ refusedFormats: [] });
  const next = jobFor(printerId, ['next']);
  expect(await site.print(next)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(['next']);
});

test.each(['busy', 'notAccepting'] as const)('%s: waits, and prints when it is taken', async (what) => {
  const { printer, printerId } = await site.startServedIppPrinter();
  printer.misbehave({ [what]: true });
  const job = jobFor(printerId, 2);
  const asked = new Promise<void>((resolve) => {
    let times = 0;
    printer.on('request', (operation) => {
      if (operation === 'Create-Job' && ++times === 3) resolve();
    });
  });
  await site.queues.enqueue(job);
  await asked;
  printer.misbehave({ [what]: false });
  await site.printedBy(printer, job);
});

test('it takes the job, and is too busy for its document: it is asked more and more rarely', async () => {
  const printer = await site.startIppPrinter();
  const timings = { reconnectMin: 50, pollWaiting: 400 };
  const { printerId } = await site.startAgent(printer, { config: { timings } });
  const asked: number[] = [];
  printer.on('request', (operation) => {
    if (operation === 'Create-Job') asked.push(performance.now());
    if (operation === 'Create-Job' || operation === 'Send-Document')
      printer.misbehave({ busy: operation === 'Send-Document' && asked.length < 7 });
  });
  const job = jobFor(printerId, 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(job));
  const [first = 0, last = 0] = [asked[0], asked.at(-1)];
  // Pauses of 50, 100, 200 and three times 400 ms, each up to a third shorter.
  expect(last - first).toBeGreaterThan(1_000);
});

test('out of media in the middle, then paused: waits, says why, and goes on', async () => {
  const { printer, printerId } = await site.startServedIppPrinter(
    { speed: 20 },
    { config: { window: { labels: 4 } } },
  );
  const job = await site.enqueue(jobFor(printerId, 10));
  await printer.printed(2);
  printer.set({ 'media-empty': true });
  const waiting = await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
  expect(waiting).toMatchObject({ status: 'printing' });
  printer.set({ 'media-empty': false, paused: true });
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  printer.set({ paused: false });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 10 } });
  expect(printer.labels).toEqual(expected(job));
});

test('off when the job comes: waits', async () => {
  const { printer, printerId } = await site.startServedIppPrinter();
  await printer.powerOff();
  const job = await site.enqueue(jobFor(printerId, 3));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  await site.printedBy(printer, job);
});

test('aborted by the printer in the middle: failed, with the labels that it counted', async () => {
  const { printer, printerId } = await site.startServedIppPrinter({ speed: 20 });
  printer.abortJobAfter(3);
  const job = jobFor(printerId, 8);
  expect(await site.print(job)).toMatchObject({
    status: 'failed',
    labels: { printed: 3 },
    error: {
      code: 'printer-aborted',
      message: expect.stringContaining('aborted'),
      reason: { code: 'printer-ended', values: { phase: 'aborted' } },
    },
  });
  expect(printer.labels).toEqual(expected(job).slice(0, 3));
});

test('aborted before it counted anything, by a printer of which nobody knows that it counts: held', async () => {
  const { printer, printerId } = await site.startServedIppPrinter({ speed: 20 });
  printer.abortJobAfter(0);
  const [first, second, third] = [jobFor(printerId, 8), jobFor(printerId, 2), jobFor(printerId, 8)];
  expect(await site.print(first)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { from: 0, to: 8 },
  });
  // By now it has counted a job right, and is believed.
  expect(await site.print(second)).toMatchObject({ status: 'printed' });
  printer.abortJobAfter(0);
  expect(await site.print(third)).toMatchObject({
    status: 'failed',
    error: { code: 'printer-aborted' },
  });
});

test.each(['Create-Job', 'Send-Document', 'Get-Job-Attributes'] as const)(
  'the answer to %s is lost: each label once',
  async (operation) => {
    const { printer, printerId } = await site.startServedIppPrinter(
      {},
      { config: { window: { labels: 4 } } },
    );
    printer.cutReply(4, operation);
    const job = jobFor(printerId, 10);
    expect(await site.print(job)).toMatchObject({ status: 'printed' });
    expect(printer.labels).toEqual(expected(job));
  },
);

test('the connection breaks in the middle of a document: sent again, nothing twice', async () => {
  const { printer, printerId } = await site.startServedIppPrinter();
  const job = jobFor(printerId, 12);
  printer.once('job', () => printer.dropConnectionAfter(2_000));
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(job));
  const [broken, whole, ...more] = printer.jobs().map(({ state, printed }) => [state, printed]);
  expect(['aborted', 'canceled'].map((state) => [state, 0])).toContainEqual(broken);
  expect([whole, more]).toEqual([['completed', 12], []]);
});

test('power off in the middle, its jobs are gone: the counter tells where it counts, else the job is held', async () => {
  const { printer, printerId } = await site.startServedIppPrinter({ speed: 20 });
  const [first, second, third] = [jobFor(printerId, 6), jobFor(printerId, 1), jobFor(printerId, 6)];
  await site.queues.enqueue(first);
  await printer.printed(2);
  await printer.powerOff();
  await site.reports.job(first.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  const held = await site.reports.end(first.jobId);
  expect(held).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
  expect(held.uncertain?.to).toBe(6);
  const before = printer.labels.length;
  expect(held.uncertain?.from).toBeLessThanOrEqual(before);
  expect(await site.print(second)).toMatchObject({ status: 'printed' });
  await site.queues.enqueue(third);
  await printer.printed(before + 3);
  await printer.powerOff();
  await site.reports.job(third.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  expect(await site.reports.end(third.jobId)).toMatchObject({ status: 'printed', labels: { printed: 6 } });
  expect(printer.labels.slice(before + 1)).toEqual(expected(third));
});

test('after a restart, a job of somebody else with the same number is not taken for ours', async () => {
  const { printer, printerId } = await site.startServedIppPrinter({ speed: 20, serial: 'SAME-0001' });
  const job = await site.enqueue(jobFor(printerId, 6));
  await printer.printed(1);
  printer.set({ 'media-empty': true });
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
  const ours = printer.jobs()[0];
  const { port } = printer;
  await printer.stop();
  // The same printer, which has forgotten how far it had counted its jobs, and has one under that number already.
  const other = await site.startIppPrinter({ serial: 'SAME-0001' });
  await withClient(other, async (client) => {
    const request = { name: 'someone else', format: 'application/vnd.zebra-zpl' };
    const theirs = await client.printJob(request, Buffer.from('^XA^FDx^FS^XZ'), AbortSignal.timeout(5_000));
    expect(theirs.jobId).toBe(ours?.id);
  });
  const road = createServer((socket) => {
    const on = connect(other.port, '127.0.0.1');
    for (const end of [socket, on]) end.on('error', () => undefined);
    socket.pipe(on).pipe(socket);
  }).listen(port, '127.0.0.1');
  site.running({ stop: () => road.close() });
  const held = await site.reports.end(job.jobId);
  expect(held).toMatchObject({ status: 'held', uncertain: { to: 6 } });
  expect(other.jobs()).toHaveLength(1);
});

test('canceled at the printer: failed with what came out, and not printed again', async () => {
  const { printer, printerId } = await site.startServedIppPrinter({ speed: 20 });
  const job = await site.enqueue(jobFor(printerId, 8));
  await printer.printed(2);
  await withClient(printer, (client) =>
    client.cancelJob(printer.jobs()[0]?.id ?? 0, AbortSignal.timeout(5_000)),
  );
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'failed', error: { code: 'printer-aborted' } });
  expect(end.labels.printed).toBe(printer.labels.length);
  expect(printer.labels.length).toBeLessThan(8);
});

test('a stop in the middle hands the job back; the next start looks the printer job up', async () => {
  const { printer, agent, dataDir, printerId } = await site.startServedIppPrinter(
    { speed: 20 },
    { config: { window: { labels: 4 } } },
  );
  const job = await site.enqueue(jobFor(printerId, 12));
  await printer.printed(2);
  await agent.stop({ graceMs: 0 });
  await site.startAgent(printer, { dataDir, config: { window: { labels: 4 } } });
  await site.printedBy(printer, job);
});

test('another printer answers at the address: it gets nothing of the job', async () => {
  const { printer, printerId } = await site.startServedIppPrinter({ serial: 'FIRST-1' });
  const { port } = printer;
  await printer.stop();
  const other = await site.startIppPrinter({ port, serial: 'SECOND-2' });
  const job = await site.enqueue(jobFor(printerId, 1));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  expect(other.jobs()).toEqual([]);
  await other.stop();
  const back = await site.startIppPrinter({ port, serial: 'FIRST-1' });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  expect([other.labels, back.labels]).toEqual([[], ['0']]);
});
