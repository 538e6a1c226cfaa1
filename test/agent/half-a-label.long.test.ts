/** A printer that holds half a label, from whoever: a connection that broke, an agent that is gone, another sender. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { Journal } from '../../src/agent/journal.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { PaperPrinter, type PaperPrinterOptions } from '../chaos/paper-printer.ts';
import { expected, jobFor, type TestPrinter } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';
import { answering, peer } from '../kit/wire/peer.ts';

const site = useSite();

/** Takes the bytes of all connections for one stream. */
class OneStream extends PaperPrinter {
  constructor(options: Pick<PaperPrinterOptions, 'serial' | 'mute' | 'odometer'>) {
    super({ labelTime: 5, answerTime: 1, single: false, ...options });
  }

  async start(): Promise<void> {
    await this.powerOn();
  }

  async stop(): Promise<void> {
    await this.powerOff();
  }
}
const HALF = '^XA^FO10,10^A0N,60,60^FDlabel ha';

/** Each label carries a number that `PaperPrinter` reads. */
function rawJob(printerId: string, ids: string[]): QueuedJob {
  const source = '^XA^FO10,10^A0N,60,60^FD{{n}}^FS^XZ';
  const raw = template.parse({ name: 'Raw', language: 'zpl', fields: [{ name: 'n' }], source });
  return { ...jobFor(printerId, ids), template: raw };
}

/** Somebody whose connection breaks in the middle of a label. */
async function leaveHalf(printer: TestPrinter, half = HALF): Promise<void> {
  const socket = createConnection(printer.port, '127.0.0.1');
  const taken = once(printer, 'received');
  socket.write(half);
  await taken;
  socket.resetAndDestroy();
  while (!printer.state().partialFormat) await once(printer, 'received');
}

/** The bytes of each label hold one beginning. */
function watchForOverprint(printer: TestPrinter): string[] {
  const over: string[] = [];
  printer.on('label', ({ rawFile }) => {
    const raw = readFileSync(rawFile, 'latin1');
    if (raw.split('^XA').length !== 2) over.push(raw);
  });
  return over;
}

test('before an agent begins there: the printer is the same, the job prints, nothing over anything', async () => {
  const printer = await site.startPrinter({ serial: 'HALF-1' });
  const over = watchForOverprint(printer);
  const first = await site.startAgent(printer);
  await first.agent.stop();
  await leaveHalf(printer);
  const { printerId } = await site.startAgent(printer);
  expect(printerId).toBe(first.printerId);
  const job = jobFor(printerId, 3);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(job));
  expect(over).toEqual([]);
});

test('while the agent has no connection: the next job prints, nothing over anything', async () => {
  const printer = await site.startPrinter();
  const over = watchForOverprint(printer);
  const { printerId } = await site.startAgent(printer);
  const jobs = [jobFor(printerId, 2), jobFor(printerId, 2)];
  for (const job of jobs) {
    await leaveHalf(printer);
    expect(await site.print(job)).toMatchObject({ status: 'printed' });
  }
  expect(printer.labels).toEqual(jobs.flatMap(expected));
  expect(over).toEqual([]);
});

test('somebody who has begun a label and does not go on: the job says so, and prints when that one is gone', async () => {
  const { printer, printerId } = await site.startServedPrinter({ keepsPartial: false });
  const other = createConnection(printer.port, '127.0.0.1');
  other.write(HALF);
  await once(printer, 'received');
  const job = await site.enqueue(jobFor(printerId, 2));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('label-unfinished'));
  other.destroy();
  await site.printedBy(printer, job);
});

test('while a job of which nothing is under way waits for the disk: its next label is not printed over it', async () => {
  const printer = await site.startPrinter();
  const over = watchForOverprint(printer);
  const { printerId } = await site.startAgent(printer, { config: { window: { labels: 1, bytes: 65_536 } } });
  const { committed } = Journal.prototype;
  let waits = true;
  using _ = vi.spyOn(Journal.prototype, 'committed').mockImplementation(async function (this: Journal) {
    if (waits && printer.labels.length === 1) {
      waits = false;
      await leaveHalf(printer);
      // Longer than an answer of the printer counts.
      await pause(600);
    }
    await committed.call(this);
  });
  const job = jobFor(printerId, 3);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  expect([printer.labels, over, waits]).toEqual([expected(job), [], false]);
});

test.each([
  { counter: true, answers: 'counts' },
  { counter: false, answers: 'tells what is pending' },
])(
  'just after a printer that $answers has answered, nothing being under way: its next label is not printed over it',
  async ({ counter }) => {
    const printer = await site.start(
      new OneStream({ serial: `HALF-${counter}`, mute: false, odometer: counter }),
    );
    const { printerId } = await site.startAgent(printer, {
      config: { window: { labels: 1, bytes: 65_536 } },
      drivers: standardDrivers,
    });
    const { committed } = Journal.prototype;
    let waits = true;
    using _ = vi.spyOn(Journal.prototype, 'committed').mockImplementation(async function (this: Journal) {
      await committed.call(this);
      if (!waits || printer.paper.length !== 1) return;
      waits = false;
      await printer.half();
    });
    const ids = ['K1R0Z', 'K2R0Z', 'K3R0Z'];
    expect(await site.print(rawJob(printerId, ids))).toMatchObject({ status: 'printed' });
    expect(printer.paper.map((label) => [label.ids, label.spoiled])).toEqual(
      ids.map((id) => [[id], undefined]),
    );
    expect(waits).toBe(false);
  },
);

test('labels of somebody else are to come out first: the job says so', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 1 });
  const other = createConnection(printer.port, '127.0.0.1');
  other.end('^XA^FO10,10^A0N,60,60^FDlabel other^FS^PQ5^XZ');
  await once(printer, 'received');
  const job = await site.enqueue(jobFor(printerId, 2));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('busy'));
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual([...Array(5).fill('other'), ...expected(job)]);
});

test('a mute printer, and the connection broke after the last write of a job: the next one prints over nothing', async () => {
  const printer = await site.startPrinter({ faults: { silent: true } });
  const over = watchForOverprint(printer);
  const { printerId } = await site.startAgent(printer, { config: { confirmation: 'transport' } });
  const first = jobFor(printerId, 3);
  const cut = '^XA^FO10,10^A0N,60,60^FDlabel 0^FS^XZ'.length * 2;
  printer.dropConnectionAfter(cut + 40);
  await site.queues.enqueue(first);
  await site.reports.end(first.jobId);
  const next = jobFor(printerId, ['x', 'y']);
  expect(await site.print(next)).toMatchObject({ status: 'printed' });
  while (printer.labels.at(-1) !== 'y') await once(printer, 'label');
  expect(printer.labels.slice(-2)).toEqual(['x', 'y']);
  expect(over).toEqual([]);
});

test('a printer that answers nothing, and somebody else leaves half a label between two jobs: nothing is printed over it', async () => {
  const printer = await site.start(new OneStream({ serial: 'HALF-2', mute: true, odometer: false }));
  const config = { confirmation: 'transport', timings: { idleConnection: 60_000 } } as const;
  const { printerId } = await site.startAgent(printer, { config, drivers: standardDrivers });
  for (const n of ['K1R0Z', 'K2R0Z', 'K3R0Z']) {
    expect(await site.print(rawJob(printerId, [n]))).toMatchObject({ status: 'printed' });
    await expect.poll(() => printer.paper.at(-1)?.ids).toEqual([n]);
    await printer.half();
  }
  expect(printer.paper.map(({ spoiled }) => spoiled)).toEqual([undefined, undefined, undefined]);
});

test('one that takes questions for a part of the label is not registered under its address', async () => {
  const frame = (text: string) => `\x02${text}\x03\r\n`;
  let half = true;
  const device = await peer(
    answering((line) => {
      if (line === '~JX') half = false;
      if (line === '~HI') return frame('ZTC ZD421-203dpi ZPL,V84.20.18Z,8,8176KB,X');
      if (line === '~HS') {
        const partial = half ? 1 : 0;
        return (
          frame(`030,0,0,1218,000,0,0,${partial},000,0,0,0`) +
          frame('000,0,0,0,0,2,4,0,00000000,1,000') +
          frame('1234,0')
        );
      }
      if (half) return undefined;
      return line === '! U1 getvar "device.unique_id"' ? '"41A06440023"' : '"?"';
    }),
  );
  await site.startAgent(device, {
    config: {
      printer: { dpi: 203, width: 50, height: 25 },
      timings: { vanished: 300 },
      transport: { query: 200 },
    },
  });
  const ids = site.reports.all.flatMap((report) =>
    report.kind === 'agent' && report.printers[0]?.uri === device.uri
      ? report.printers.map(({ id }) => id)
      : [],
  );
  expect([...new Set(ids)]).toEqual([serialId('41A06440023')]);
});
