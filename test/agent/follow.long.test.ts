/** Jobs that follow each other at a printer: what it has just said need not be asked again. */
import { expect, test, vi } from 'vitest';
import { Transports } from '../../drivers/transports/transports.ts';
import { Journal } from '../../src/agent/journal.ts';
import { JournalError } from '../../src/agent/journal-file.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { keepNotes } from '../kit/agent/kept-notes.ts';
import { jobFor, type TestPrinter, testDrivers } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';
import { answering, peer } from '../kit/wire/peer.ts';

const site = useSite();
const frame = (text: string) => `\x02${text}\x03\r\n`;

/** A printer that prints before it is asked, and tells what it was sent: labels and questions. */
async function printer(serial: string) {
  const got: string[] = [];
  let odometer = 1_000;
  const answer = (line: string): string => {
    if (line.startsWith('^XA')) {
      odometer += Number(/\^PQ(\d+)/.exec(line)?.[1] ?? 1);
      got.push('label');
    }
    if (line === '~HI') return frame('ZTC ZD421-203dpi ZPL,V84.20.18Z,8,8176KB,X');
    if (line === '~HS') {
      got.push('asked');
      const [first, second] = ['030,0,0,1218,000,0,0,0,000,0,0,0', '000,0,0,0,0,2,4,0,00000000,1,000'];
      return frame(first) + frame(second) + frame('1234,0');
    }
    if (line === '! U1 getvar "odometer.total_label_count"') return `"${odometer}"`;
    if (line === '! U1 getvar "device.unique_id"') return `"${serial}"`;
    return line.startsWith('!') ? '"?"' : '';
  };
  // A label ends its line in another way than a question.
  const answers = answering((lines) => lines.split('\n').map(answer).join(''));
  const device = await peer((socket) => {
    socket.on('data', (bytes) => {
      if (/~HS|getvar/.test(bytes.toString('latin1'))) got.push('wrote');
    });
    answers(socket);
  });
  return { device, got };
}

const config = { printer: { dpi: 203, width: 50, height: 25 } };

test('the next job begins on the answer that ended the last', async () => {
  const { device, got } = await printer('FOLLOW-1');
  await site.startAgent(device, { config });
  const jobs = Array.from({ length: 6 }, (_, n) => jobFor(serialId('FOLLOW-1'), [`job ${n}`]));
  await site.queues.enqueue(...jobs);
  for (const { jobId } of jobs)
    expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed', labels: { printed: 1 } });
  const [, ...between] = got.join(' ').split('label').slice(0, -1);
  expect(between).toHaveLength(5);
  // Once, by the job that wants to know what became of its label; and again where the machine took long for the next.
  const asked = between.map((questions) => questions.split('asked').length - 1);
  expect(asked).toContain(1);
  // Whoever asks how it is asks in the same write what it has counted, and waits once; a counter that was read too long ago,
  // or has moved, is asked for again.
  const wrote = between.map((questions) => questions.split('wrote').length - 1);
  expect(wrote[asked.indexOf(1)]).toBe(1);
});

/** Drivers of which each connection is told when it opens, and can be looked at. */
function watched() {
  const opened: AbortSignal[] = [];
  const transports = new Transports(
    [...testDrivers.transports].map((transport) =>
      transport.takes !== 'bytes'
        ? transport
        : {
            ...transport,
            open: async (...args: Parameters<typeof transport.open>) => {
              const connection = await transport.open(...args);
              opened.push(connection.closed);
              return connection;
            },
          },
    ),
  );
  return {
    drivers: { ...testDrivers, transports },
    open: () => opened.filter(({ aborted }) => !aborted).length,
  };
}

/** The disk does not take the end of this job until it is told to. */
function slowDisk(jobId: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { promise: ended, resolve: ends } = Promise.withResolvers<void>();
  const { committed, finish } = Journal.prototype;
  let holds = false;
  vi.spyOn(Journal.prototype, 'finish').mockImplementation(function (this: Journal, entry, report) {
    finish.call(this, entry, report);
    if (report.jobId === jobId) holds = true;
  });
  vi.spyOn(Journal.prototype, 'committed').mockImplementation(async function (this: Journal) {
    const held = holds;
    holds = false;
    if (held) ends();
    if (held) await promise;
    await committed.call(this);
  });
  return {
    /** It has been asked to. */
    ended,
    takes: resolve,
    [Symbol.dispose]: () => {
      resolve();
      vi.restoreAllMocks();
    },
  };
}

/** Two jobs in a printer that does not come to the end of a label. */
async function both() {
  const slow = await site.startPrinter({ speed: 8 });
  slow.set({ slow: 600_000 });
  const { drivers, open } = watched();
  const { printerId } = await site.startAgent(slow, { drivers });
  const [a, b] = [jobFor(printerId, ['a']), jobFor(printerId, ['b'])];
  await site.queues.enqueue(a, b);
  await expect.poll(() => slow.waiting, { interval: 5, timeout: 30_000 }).toBe(2);
  return { slow, open, a: a.jobId, b: b.jobId };
}

/** One label comes out, and the next one stays under the head. */
async function firstOut(printer: TestPrinter): Promise<void> {
  printer.once('label', () => printer.set({ slow: 600_000 }));
  await goOn(printer);
}

/** The label under the head begins anew, and comes out. */
async function goOn(printer: TestPrinter): Promise<void> {
  printer.set({ slow: 0, 'media-empty': true });
  await new Promise(setImmediate);
  printer.set({ 'media-empty': false });
}

test("the job behind has done with the printer before the first one's end is on the disk: the connection is given back", async () => {
  const { slow, open, a, b } = await both();
  using disk = slowDisk(a);
  await firstOut(slow);
  await disk.ended;
  await goOn(slow);
  expect(await site.reports.end(b)).toMatchObject({ status: 'printed' });
  expect(site.reports.of(a).map(({ status }) => status)).not.toContain('printed');
  disk.takes();
  expect(await site.reports.end(a)).toMatchObject({ status: 'printed' });
  await expect.poll(open, { timeout: 10_000 }).toBe(0);
  expect(slow.labels).toEqual(['a', 'b']);
});

test("the printer falls silent when the first one's labels are out, and its end not yet on the disk: the second comes out once", async () => {
  const { slow, open, a, b } = await both();
  using disk = slowDisk(a);
  await firstOut(slow);
  await disk.ended;
  slow.set({ silent: true });
  await expect.poll(open, { interval: 5, timeout: 30_000 }).toBe(0);
  slow.set({ silent: false });
  await goOn(slow);
  await slow.printed(2);
  disk.takes();
  for (const jobId of [a, b]) expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed' });
  await expect.poll(open, { timeout: 10_000 }).toBe(0);
  expect(slow.labels).toEqual(['a', 'b']);
});

test('a label of the first one is gone while the second drives: what both have left in the queue says that the count does not tell', async () => {
  using notes = keepNotes(site.queues);
  const slow = await site.startPrinter({ speed: 8 });
  slow.set({ slow: 600_000 });
  const { printerId } = await site.startAgent(slow);
  const [a, b] = [jobFor(printerId, ['a1', 'a2', 'a3']), jobFor(printerId, ['b'])];
  await site.queues.enqueue(a, b);
  await expect.poll(() => slow.waiting, { interval: 5, timeout: 30_000 }).toBe(4);
  for (const { jobId } of [a, b])
    expect(notes.of(jobId)).toMatchObject({ underWay: { odometer: expect.any(Number) } });
  // One that the printer has not made ready yet: the third.
  slow.dropFormats(1);
  await firstOut(slow);
  for (const { jobId } of [a, b]) {
    const note = () => notes.of(jobId);
    await expect.poll(note, { timeout: 30_000 }).toMatchObject({ underWay: { odometer: null } });
  }
  await goOn(slow);
  for (const { jobId } of [a, b]) expect(await site.reports.end(jobId)).toMatchObject({ status: 'held' });
  expect(slow.labels).toEqual(['a1', 'a2', 'b']);
});

/** Two jobs at a slow printer, of which the queue does not take the note of the second. */
async function secondInTheMaking(serial: string, first: string[], format: Partial<QueuedJob['format']> = {}) {
  const slow = await site.startPrinter({ speed: 8, serial });
  slow.set({ slow: 600_000 });
  const [a, b] = [jobFor(serialId(serial), first), jobFor(serialId(serial), ['b'])];
  b.format = { ...b.format, ...format };
  const taken = new AbortController();
  const { promise: asked, resolve: asks } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: left, resolve: leaves } = Promise.withResolvers<void>();
  let deliveries = 0;
  const { consume } = site.queues;
  vi.spyOn(site.queues, 'consume').mockImplementation((lane, term, handle, options) =>
    consume.call(
      site.queues,
      lane,
      term,
      async (delivery) => {
        const isFirst = delivery.job.jobId === a.jobId && ++deliveries === 1;
        // It waits for those ahead of it without a place.
        if (delivery.job.format.darkness !== undefined) asks();
        const signal = isFirst ? AbortSignal.any([delivery.signal, taken.signal]) : delivery.signal;
        const setNote = async (note: object) => {
          if (delivery.job.jobId === b.jobId) asks();
          if (delivery.job.jobId === b.jobId) await gate;
          await delivery.setNote(note);
        };
        const result = await handle({ ...delivery, signal, setNote }).finally(() => isFirst && leaves());
        // As the queue does with the signal that it gives.
        if (result === 'hand-back') signal.throwIfAborted();
        return result;
      },
      options,
    ),
  );
  await site.startAgent(slow);
  await site.queues.enqueue(a, b);
  await asked;
  return {
    ...{ slow, a: a.jobId, b: b.jobId },
    /** The queue gives the first one to somebody else. */
    takeAway: () => taken.abort(new Error('another one has it')),
    /** The first one has left. */
    left,
    /** The queue takes the second one's note. */
    open,
    [Symbol.dispose]: () => {
      open();
      vi.restoreAllMocks();
    },
  };
}

test('the queue takes the first one away while the second is made ready: both come again, and come out', async () => {
  using jobs = await secondInTheMaking('FOLLOW-2', ['a']);
  const { slow, a, b } = jobs;
  jobs.takeAway();
  await jobs.left;
  jobs.open();
  await goOn(slow);
  for (const jobId of [a, b]) expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed' });
  expect(slow.labels).toEqual(['a', 'b']);
});

test.each([
  ['is made ready', 'FOLLOW-3', {}],
  ['waits, since it sets the printer otherwise', 'FOLLOW-4', { darkness: 20 }],
])(
  'the disk is too slow for the first one while the second %s: they come out in their order',
  async (_, serial, format) => {
    using jobs = await secondInTheMaking(serial, ['a1', 'a2'], format);
    const { slow, a, b } = jobs;
    const late = new JournalError('journal-not-synced', 'no answer');
    vi.spyOn(Journal.prototype, 'committed').mockRejectedValueOnce(late);
    // What it had is lost, so the first one sends its labels again.
    await slow.powerOff();
    await slow.powerOn();
    await jobs.left;
    slow.set({ slow: 0 });
    jobs.open();
    for (const jobId of [a, b]) expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed' });
    expect(slow.labels).toEqual(['a1', 'a2', 'b']);
  },
);
