/** Ways on which nothing ever comes back: a file, an LPD server. The job is held, or the operator's word counts. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openDataDir } from '../../src/agent/data-dir.ts';
import { Journal } from '../../src/agent/journal.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { type StartOptions, useSite } from '../kit/agent/use-site.ts';
import { useLpd } from '../kit/programs/cups-lpd.ts';
import { peer } from '../kit/wire/peer.ts';

const site = useSite();
const lpd = useLpd();

const startAgent = (uri: string, options: StartOptions = {}) => site.startAgent({ uri }, options);

const trusted: StartOptions = { config: { confirmation: 'transport' } };

const labelsIn = (text: string) => [...text.matchAll(/\^FDlabel ([^^]*)\^FS/g)].map(([, label]) => label);

test('a file: held once all is in it; printed where the agent takes what was delivered', async () => {
  const file = join(site.directories.make(), 'labels.zpl');
  writeFileSync(file, '');
  const first = await startAgent(pathToFileURL(file).href);
  expect(first.description).toMatchObject({ evidence: 'address', name: file });
  const held = jobFor(first.printerId, 3);
  expect(await site.print(held)).toMatchObject({
    status: 'held',
    labels: { sent: 3, printed: 0 },
    error: {
      code: 'outcome-unknown',
      message: expect.stringContaining('"confirmation": "transport"'),
      reason: { code: 'not-confirmed', values: {} },
    },
    uncertain: { from: 0, to: 3 },
  });
  expect(labelsIn(readFileSync(file, 'latin1'))).toEqual(expected(held));
  await first.agent.stop();
  writeFileSync(file, '');
  const second = await startAgent(pathToFileURL(file).href, trusted);
  const printed = jobFor(second.printerId, 4);
  expect(await site.print(printed)).toMatchObject({ status: 'printed', labels: { printed: 4 } });
  // Nothing else is in it: no question was asked.
  expect(labelsIn(readFileSync(file, 'latin1'))).toEqual(expected(printed));
  expect(readFileSync(file, 'latin1')).not.toContain('~');
});

test('a FIFO that nobody reads: the job waits, and prints when somebody does', async () => {
  const fifo = join(site.directories.make(), 'labels');
  execFileSync('mkfifo', [fifo]);
  let reader = await open(fifo, 'r+');
  const { printerId } = await startAgent(pathToFileURL(fifo).href, trusted);
  await reader.close();
  const job = await site.enqueue(jobFor(printerId, 2));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  reader = await open(fifo, 'r+');
  site.running({ stop: () => reader.close() });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  const { bytesRead, buffer } = await reader.read(Buffer.alloc(60_000));
  expect(labelsIn(buffer.subarray(0, bytesRead).toString('latin1'))).toEqual(expected(job));
});

test("LPD, through CUPS's server for it: delivered and held, or printed on the operator's word", async () => {
  const printer = await site.startPrinter();
  await lpd().cups.addQueue('labels', `socket://127.0.0.1:${printer.port}`);
  const uri = `lpd://127.0.0.1:${lpd().port}/labels`;
  const first = await startAgent(uri);
  const held = jobFor(first.printerId, 3, 2);
  expect(await site.print(held)).toMatchObject({
    status: 'held',
    labels: { sent: 6, printed: 0 },
  });
  await printer.printed(6);
  await first.agent.stop();
  const second = await startAgent(uri, { config: { confirmation: 'transport', window: { labels: 2 } } });
  const printed = jobFor(second.printerId, 5);
  expect(await site.print(printed)).toMatchObject({ status: 'printed', labels: { printed: 5 } });
  await printer.printed(11);
  expect(printer.labels).toEqual([...expected(held), ...expected(printed)]);
});

test('an LPD server that breaks the connection: sent again before the data file, held after it', async () => {
  const got: string[] = [];
  let breaks = 2;
  const device = await peer((socket) => {
    let step = 0;
    socket.on('data', (bytes) => {
      step++;
      if (step === 4 && breaks-- > 0) socket.destroy();
      else if (step < 5) socket.write(Uint8Array.of(0));
      else {
        got.push(bytes.toString('latin1'));
        socket.destroy();
      }
    });
    socket.resume();
  });
  const { printerId } = await startAgent(`lpd://127.0.0.1:${device.port}/q`, trusted);
  const job = jobFor(printerId, 2);
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { from: 0, to: 2 },
  });
  expect(breaks).toBeLessThan(0);
  expect(labelsIn(got.join(''))).toEqual(expected(job));
});

test('cups: is another name for the queue', async () => {
  const printer = await site.startPrinter();
  await lpd().cups.addQueue('named', `socket://127.0.0.1:${printer.port}`);
  const { printerId, description } = await startAgent(`cups://127.0.0.1:${lpd().cups.port}/named`, trusted);
  expect(description.evidence).toBe('uuid');
  const job = jobFor(printerId, 3);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  await printer.printed(3);
  expect(printer.labels).toEqual(expected(job));
});

test.each([
  ['device', 'held'],
  ['transport', 'printed'],
] as const)(
  'cut off once all was delivered, then confirmation %s: %s, and nothing is sent again',
  async (confirmation, status) => {
    const got: Buffer[] = [];
    const device = await peer((socket) => socket.on('data', (bytes) => got.push(bytes)).resume());
    const dataDir = site.directories.make();
    const job = jobFor('', 4);
    const opened = openDataDir(dataDir, undefined);
    const all = { base: 4, intent: 4, sent: 4, total: 4 };
    new Journal(opened.db).write({
      queueId: job.jobId,
      printerId: 'queue-00000000',
      delivery: 1,
      odometer: null,
      printed: 0,
      ...all,
    });
    opened.close();
    const options: StartOptions = { dataDir, config: { confirmation } };
    const { printerId } = await startAgent(`lpd://127.0.0.1:${device.port}/q`, options);
    await site.queues.enqueue({ ...job, printerId });
    expect(await site.reports.end(job.jobId)).toMatchObject({ status, labels: { sent: 4 } });
    expect(Buffer.concat(got).length).toBe(0);
  },
);
