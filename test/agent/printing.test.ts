import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import { expected, jobFor, testDrivers, withoutOdometer } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';

const site = useSite();

test('prints every copy of every record in order, and says so', async () => {
  const { printer, printerId, description } = await site.startServedPrinter({
    name: 'Front desk',
    serial: 'SN-1234',
  });
  expect(description).toMatchObject({
    evidence: 'serial',
    name: 'Front desk',
    state: 'idle',
    reasons: [],
    formats: [{ language: 'zpl', dpi: 203, width: 50, height: 25 }],
  });
  expect(printerId).toMatch(/^serial-[0-9a-f]{24}$/);
  const jobs = [jobFor(printerId, 3, 2), jobFor(printerId, ['x'], 50), jobFor(printerId, ['last'])];
  for (const job of jobs) await site.queues.enqueue(job);
  const ends = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
  expect(ends.map(({ status, labels }) => [status, labels])).toEqual([
    ['printed', { sent: 6, printed: 6 }],
    ['printed', { sent: 50, printed: 50 }],
    ['printed', { sent: 1, printed: 1 }],
  ]);
  expect(printer.labels).toEqual(jobs.flatMap(expected));
  for (const { jobId } of jobs) {
    const reports = site.reports.of(jobId);
    // A short job may be told of only by its end.
    const printing = { status: 'printing', delivery: 1 };
    expect(reports).toMatchObject([
      ...reports.slice(1).map(() => printing),
      { status: 'printed', delivery: 1 },
    ]);
    expect(reports.map(({ seq }) => seq)).toEqual(reports.map(({ seq }) => seq).toSorted((a, b) => a - b));
  }
});

test('a job that a person has go on is printed from the label that was named, though it has ended before', async () => {
  const { printer, printerId } = await site.startServedPrinter();
  const job = await site.enqueue(jobFor(printerId, 4, 2));
  await site.reports.end(job.jobId);
  for (const [round, from] of [
    [1, 5],
    [2, 8],
  ] as const) {
    await site.queues.enqueue({ ...job, resume: { round, from } });
    const end = await site.reports.job(
      job.jobId,
      (report) => report.round === round && report.status === 'printed',
    );
    expect(end).toMatchObject({ labels: { sent: 8, printed: 8 } });
  }
  expect(printer.labels).toEqual([...expected(job), ...expected(job).slice(5)]);
});

test('a record that cannot be made fails the job before anything is printed', async () => {
  const { printer, printerId } = await site.startServedPrinter();
  const records = Array.from({ length: 60 }, (_, n) => (n === 57 ? 'bad' : String(n)));
  const job = jobFor(printerId, records);
  const next = jobFor(printerId, ['next']);
  await site.queues.enqueue(job, next);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'failed',
    labels: { sent: 0, printed: 0 },
    error: { code: 'value-invalid', record: 57, element: '/elements/0' },
  });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(['next']);
});

test('a template that breaks its render thread, twice, holds its own job and no other', async () => {
  const { printer, printerId } = await site.startServedPrinter();
  const job = jobFor(printerId, ['fine', 'exit']);
  const next = jobFor(printerId, ['next']);
  await site.queues.enqueue(job, next);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    error: { code: 'internal' },
    uncertain: { from: 0, to: 0 },
  });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(['next']);
});

test('runs never further ahead of the printer than the window', async () => {
  const { printer, printerId } = await site.startServedPrinter(
    { speed: 20 },
    { config: { window: { labels: 4, bytes: 65_536 } } },
  );
  let most = 0;
  printer.on('status', ({ formats, remaining }) => {
    most = Math.max(most, formats + remaining);
  });
  const job = jobFor(printerId, 8, 3);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(job));
  // Two copies a chunk, four labels a window.
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(4);
});

test.each([1, 30])('at a printer of two labels a second, few are under way: copies %i', async (copies) => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 2 });
  const job = await site.enqueue(jobFor(printerId, 30 / copies, copies));
  await printer.printed(4);
  const under: number[] = [];
  printer.on('status', ({ formats, remaining }) => under.push(formats + remaining));
  await printer.printed(10);
  // It prints four in two seconds. A question that comes late makes one label look slower, and the next one quicker: by
  // what two of them take on average, that is never half of the most that may be under way.
  expect(Math.max(...under)).toBeGreaterThan(1);
  expect(Math.max(...under)).toBeLessThan(8);
  await site.queues.markCanceled(laneOf(job), job.jobId, true);
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'canceled', labels: { printed: printer.labels.length } });
});

test('out of media in the middle: waits, says why, and goes on', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  const job = await site.enqueue(jobFor(printerId, 40));
  await printer.printed(10);
  printer.set({ 'media-empty': true });
  const waiting = await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
  expect(waiting.status).toBe('printing');
  await site.reports.agent(({ printers }) => printers.some(({ reasons }) => reasons.includes('media-empty')));
  printer.set({ 'media-empty': false });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 40 } });
  expect(printer.labels).toEqual(expected(job));
});

test('the printer loses power in the middle: what its buffer held is sent again, nothing twice', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  const job = await site.enqueue(jobFor(printerId, 20, 2));
  await printer.printed(9);
  await printer.powerOff();
  const waiting = await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  expect(waiting.status).toBe('printing');
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 40 } });
  expect(printer.labels).toEqual(expected(job));
});

test.each([1, 200, 455, 700, 2_000, 3_333])('the connection drops after %i bytes', async (bytes) => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 40 });
  const job = await site.enqueue(jobFor(printerId, 30));
  await printer.printed(3);
  printer.dropConnectionAfter(bytes);
  await site.printedBy(printer, job);
});

test('a printer that is off when the job comes', async () => {
  const { printer, printerId } = await site.startServedPrinter();
  await printer.powerOff();
  await site.reports.agent(({ printers }) =>
    printers.some(({ id, reasons }) => id === printerId && reasons.includes('offline')),
  );
  const job = await site.enqueue(jobFor(printerId, 3));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  await site.printedBy(printer, job);
});

test('another sender on the same printer: its labels are not taken for ours, the job is held', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  const job = await site.enqueue(jobFor(printerId, 40));
  await printer.printed(2);
  const other = createConnection(printer.port, '127.0.0.1');
  other.end('^XA^FO10,10^A0N,60,60^FDlabel other^FS^PQ3^XZ');
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
  await printer.printed((end.uncertain?.to ?? 0) + 3);
  // Nothing was sent again to make up for what the counter had too much.
  expect(printer.labels.filter((n) => n !== 'other')).toEqual(expected(job).slice(0, end.uncertain?.to));
});

test('without an odometer: all is well until labels are under way and the connection breaks', async () => {
  const { printer, printerId } = await site.startServedPrinter(
    { speed: 20 },
    { drivers: withoutOdometer(testDrivers) },
  );
  const good = jobFor(printerId, 12, 2);
  expect(await site.print(good)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(good));

  const cut = await site.enqueue(jobFor(printerId, 30));
  await printer.printed(24 + 5);
  await printer.powerOff();
  await printer.powerOn();
  const end = await site.reports.end(cut.jobId);
  expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
  const out = printer.labels.length - 24;
  expect(end.uncertain?.from).toBeLessThanOrEqual(out);
  expect(end.uncertain?.to).toBeGreaterThanOrEqual(out);
  expect(printer.labels).toEqual([...expected(good), ...expected(cut).slice(0, out)]);
});
