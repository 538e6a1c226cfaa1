/** Jobs through a real queue to a virtual printer with every fault a printer has; the agent in this process. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { laneOf } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { expected, jobFor, testDrivers, withoutOdometer } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();

test('prints every copy of every record in order, and says so', async () => {
  const printer = await site.startPrinter({ name: 'Front desk', serial: 'SN-1234' });
  const { printerId, description } = await site.startAgent(printer);
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
  const printer = await site.startPrinter();
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 4, 2);
  await site.queues.enqueue(job);
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
  const printer = await site.startPrinter();
  const { printerId } = await site.startAgent(printer);
  const records = Array.from({ length: 60 }, (_, n) => (n === 57 ? 'bad' : String(n)));
  const job = jobFor(printerId, records);
  const next = jobFor(printerId, ['next']);
  await site.queues.enqueueMany([job, next]);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'failed',
    labels: { sent: 0, printed: 0 },
    error: { code: 'value-invalid', record: 57, element: '/elements/0' },
  });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(['next']);
});

test('a template that breaks its render thread, twice, holds its own job and no other', async () => {
  const printer = await site.startPrinter();
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, ['fine', 'exit']);
  const next = jobFor(printerId, ['next']);
  await site.queues.enqueueMany([job, next]);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    error: { code: 'internal' },
    uncertain: { from: 0, to: 0 },
  });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(['next']);
});

test('runs never further ahead of the printer than the window', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer, { config: { window: { labels: 4, bytes: 65_536 } } });
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
  const printer = await site.startPrinter({ speed: 2 });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 30 / copies, copies);
  await site.queues.enqueue(job);
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
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 40);
  await site.queues.enqueue(job);
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
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 20, 2);
  await site.queues.enqueue(job);
  await printer.printed(9);
  await printer.powerOff();
  const waiting = await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  expect(waiting.status).toBe('printing');
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 40 } });
  expect(printer.labels).toEqual(expected(job));
});

test.each([1, 200, 455, 700, 2_000, 3_333])('the connection drops after %i bytes', async (bytes) => {
  const printer = await site.startPrinter({ speed: 40 });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 30);
  await site.queues.enqueue(job);
  await printer.printed(3);
  printer.dropConnectionAfter(bytes);
  await site.printedBy(printer, job);
});

test('a printer that is off when the job comes', async () => {
  const printer = await site.startPrinter();
  const { printerId } = await site.startAgent(printer);
  await printer.powerOff();
  await site.reports.agent(({ printers }) =>
    printers.some(({ id, reasons }) => id === printerId && reasons.includes('offline')),
  );
  const job = jobFor(printerId, 3);
  await site.queues.enqueue(job);
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  await site.printedBy(printer, job);
});

test('another sender on the same printer: its labels are not taken for ours, the job is held', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 40);
  await site.queues.enqueue(job);
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
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer, { drivers: withoutOdometer(testDrivers) });
  const good = jobFor(printerId, 12, 2);
  expect(await site.print(good)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(good));

  const cut = jobFor(printerId, 30);
  await site.queues.enqueue(cut);
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

test('a printer that never answers: held after everything was sent, or printed where the operator says so', async () => {
  const silent = await site.startPrinter({ faults: { silent: true } });
  const held = await site.startAgent(silent);
  expect(held.printerId).toMatch(/^address-/);
  expect(held.description.state).toBe('unknown');
  const job = jobFor(held.printerId, 5);
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { from: 0, to: 5 },
  });
  await silent.printed(5);

  const trusted = await site.startPrinter({ faults: { silent: true } });
  const agent = await site.startAgent(trusted, { config: { printer: { confirmation: 'transport' } } });
  const trustedJob = jobFor(agent.printerId, 40);
  expect(await site.print(trustedJob)).toMatchObject({
    status: 'printed',
    labels: { printed: 40 },
  });
  await trusted.printed(40);
  expect(trusted.labels).toEqual(expected(trustedJob));
});

test('a printer that has never answered is not asked in the time of a job; when it answers, it is gone by', async () => {
  const printer = await site.startPrinter({ faults: { silent: true }, serial: 'MUTE-1' });
  let received = '';
  printer.on('received', (bytes) => {
    received += bytes.toString('latin1');
  });
  const { printerId } = await site.startAgent(printer);
  while (received.split('~HI').length < 4) await once(printer, 'received');
  received = '';
  const job = jobFor(printerId, 2);
  expect(await site.print(job)).toMatchObject({ status: 'held' });
  expect(received.slice(received.indexOf('~JX'), received.lastIndexOf('^XZ'))).not.toMatch(/~H|getvar/);

  printer.set({ silent: false });
  const id = serialId('MUTE-1');
  await site.reports.agent(({ printers }) => printers.some((one) => one.id === id));
  const next = jobFor(id, 2);
  expect(await site.print(next)).toMatchObject({ status: 'printed' });
});

test('a stop in the middle hands the job back; the next start goes on where it was', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  // A slow machine takes more than `QUICK` has for the last labels.
  const first = await site.startAgent(printer, { config: { timings: { confirm: 30_000 } } });
  const job = jobFor(first.printerId, 30, 2);
  const next = jobFor(first.printerId, ['next']);
  await site.queues.enqueueMany([job, next]);
  await printer.printed(7);
  await first.agent.stop({ graceMs: 0 });
  const back = await site.reports.job(job.jobId, ({ status }) => status === 'queued');
  // Labels that the printer had were waited for; it stands exactly where the report says.
  expect(printer.labels).toEqual(expected(job).slice(0, back.labels.printed));
  expect(back.labels.printed).toBeLessThan(60);
  await site.reports.agent(({ agentId, online }) => agentId === back.agentId && !online);

  const second = await site.startAgent(printer, { dataDir: first.dataDir });
  expect(second.printerId).toBe(first.printerId);
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', delivery: 2 });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual([...expected(job), 'next']);
});

test('a stop lets a job finish that can within the grace time', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const { agent, printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 20);
  await site.queues.enqueue(job);
  await printer.printed(3);
  await agent.stop({ graceMs: 30_000 });
  await site.printedBy(printer, job);
});

test('another agent goes on after a clean hand-back', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const first = await site.startAgent(printer);
  const job = jobFor(first.printerId, 30);
  await site.queues.enqueue(job);
  await printer.printed(5);
  await first.agent.stop({ graceMs: 0 });
  const second = await site.startAgent(printer);
  expect(second.agent.id).not.toBe(first.agent.id);
  await site.printedBy(printer, job);
});

test('a job that waits for its printer is handed back at once, untouched', async () => {
  const printer = await site.startPrinter();
  printer.set({ paused: true });
  const { agent, printerId, dataDir } = await site.startAgent(printer);
  const job = jobFor(printerId, 3);
  await site.queues.enqueue(job);
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  // Grace is for jobs that print: this one must not use it up.
  await agent.stop({ graceMs: 3_600_000 });
  expect(await site.reports.job(job.jobId, ({ status }) => status === 'queued')).toMatchObject({
    labels: { sent: 0, printed: 0 },
  });
  printer.set({ paused: false });
  await site.startAgent(printer, { dataDir });
  await site.printedBy(printer, job);
});

test('another printer takes the address in the middle of a job: it prints nothing of it', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 30);
  await site.queues.enqueue(job);
  await printer.printed(4);
  await printer.powerOff();
  const impostor = await site.startPrinter({ port: printer.port });
  const found = await site.reports.agent(({ printers }) => printers.length === 2);
  expect(found.printers.find(({ id }) => id === printerId)?.reasons).toEqual(['offline']);
  await impostor.powerOff();
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  expect(impostor.labels).toEqual([]);
  expect(printer.labels).toEqual(expected(job));
});

test('power lost in the middle of a batch with a stored format: it is stored again, every label once and good', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const { printerId } = await site.startAgent(printer, { drivers: standardDrivers });
  const faults: string[] = [];
  printer.on('label', (label) => faults.push(...label.faults));
  const job: QueuedJob = {
    ...jobFor(printerId, 40),
    template: template.parse({
      name: 'Batch',
      width: 50,
      height: 25,
      fields: [{ name: 'n' }],
      elements: [
        { type: 'box', x: 1, y: 1, width: 48, height: 23 },
        { type: 'text', x: 3, y: 3, size: 4, text: 'label {{n}}' },
        { type: 'barcode', symbology: 'code128', x: 3, y: 10, height: 8, value: 'N{{n}}' },
      ],
    }),
  };
  await site.queues.enqueue(job);
  let stored = 0;
  printer.on('received', (bytes) => {
    stored += bytes.toString('latin1').split('^DFR:').length - 1;
  });
  // Once with labels in the printer's buffer, and once when it stands still.
  await printer.printed(9);
  await printer.powerOff();
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  await printer.printed(20);
  await printer.powerOff();
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 40 } });
  expect(printer.labels).toEqual(expected(job));
  expect(faults).toEqual([]);
  expect(stored).toBe(3);
});
