/** The Windows spooler: what can be tried on Linux, and the same sources under Wine. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  jobState,
  printerName,
  printerStatus,
  winspoolAddress,
} from '../../drivers/transports/document/winspool.ts';
import { portAddress } from '../../drivers/transports/document/winspool-ports.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { sighting } from '../../src/agent/discovery/provider.ts';
import { sightingOf } from '../../src/agent/discovery/providers/winspool.ts';
import { Directories, expected, jobFor, openSite, QUICK, TestPrinter } from '../kit/agent/site.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { startWine, type Wine } from '../kit/programs/wine.ts';
import { onRedis } from '../kit/servers/backends.ts';
import { startDocumentSink } from '../kit/wire/document-sink.ts';
import { DOCUMENTS } from './documents.ts';

const directories = new Directories();
let cups: Cupsd;
let wine: Wine;

beforeAll(async () => {
  [cups, wine] = await Promise.all([startCupsd(), startWine()]);
});
afterAll(async () => {
  await wine?.stop();
  await cups?.stop();
  directories.remove();
});

test('under Wine: found, asked, and what is sent arrives byte for byte', async () => {
  const device = await startDocumentSink();
  onTestFinished(() => device.stop());
  await cups.addQueue('labels', device.uri);

  // What Wine calls the port, as if it were one of Windows' TCP/IP ports.
  await wine.setPort('CUPS:labels', { host: '10.0.0.7', port: 9_100, protocol: 1, queue: '' });
  const said = await wine.run('test/winspool/on-windows.ts', `127.0.0.1:${cups.port}`);
  const lines = said.split('\n').flatMap((line) => (line.startsWith('[') ? [JSON.parse(line)] : []));
  const told = z.array(z.tuple([z.string(), z.unknown()])).parse(lines);
  const all = (what: string) => told.flatMap(([name, value]) => (name === what ? [value] : []));
  const deviceUri = 'socket://10.0.0.7:9100';
  const printer = {
    uri: 'winspool:labels',
    name: 'labels',
    evidence: { queue: 'winspool:labels', model: 'labels', deviceUri },
  };
  expect(all('platform')).toEqual(['win32']);
  expect(all('findings')).toEqual([[printer]]);
  expect(all('candidates')).toMatchObject([[{ uri: 'winspool:labels', language: 'zpl' }]]);
  expect(all('unknown')).toEqual([
    { name: 'TransportError', message: expect.stringContaining('the spooler has no such printer') },
  ]);
  expect(all('description')).toMatchObject([
    { name: 'labels', makeAndModel: 'labels', spooler: 'delivers', deviceUri },
  ]);
  expect(all('status')).toEqual([{ state: 'idle', reasons: [], labelsPending: null, odometer: null }]);
  const created = (name: string) => ({
    known: true,
    state: expect.objectContaining({ phase: 'held', name }),
  });
  expect(all('created')).toEqual([created('job 0 é'), created('job 1 é')]);
  expect(all('sent')).toMatchObject([{ state: { phase: 'completed' } }, { state: { phase: 'completed' } }]);
  expect(all('given up')).toMatchObject([{ phase: 'aborted', began: false }]);
  expect(all('sent after that')).toMatchObject([{ name: 'TransportError' }]);
  expect(all('of another process')).toEqual([null]);
  expect(all('aborted')).toEqual([{ name: 'Error', message: 'stop' }]);
  expect(all('end')).toEqual([null]);

  await device.document(DOCUMENTS.length - 1);
  expect(device.documents.toSorted((a, b) => a.length - b.length)).toEqual(DOCUMENTS);
});

test('under Wine: an agent finds the printer by itself, and prints a job of the queue', async () => {
  const site = await openSite(onRedis());
  onTestFinished(() => site.close());
  const printer = new TestPrinter(directories);
  await printer.start();
  onTestFinished(() => printer.stop());
  await cups.addQueue('agent_labels', `socket://127.0.0.1:${printer.port}`);
  const config = {
    dataDir: 'data',
    renderThreads: 1,
    timings: QUICK,
    confirmation: 'transport',
    discovery: { winspool: true, fingerprints: [{ match: 'agent_labels', languages: ['zpl'] }] },
  };
  const options = JSON.stringify({ config, queues: site.queueOptions });
  const ended = wine.run('test/winspool/agent-on-windows.ts', `127.0.0.1:${cups.port}`, options);
  const early = ended.then((said) => {
    throw new Error(`the agent ended: ${said}`);
  });
  early.catch(() => undefined);
  const found = site.reports.agent(({ printers }) => printers.some(({ state }) => state === 'idle'));
  const { printers } = await Promise.race([found, early]);
  expect(printers).toMatchObject([{ name: 'agent_labels', evidence: 'queue', uri: 'winspool:agent_labels' }]);
  const job = jobFor(printers[0]?.id ?? '', 20, 2);
  await site.queues.enqueue(job);
  // It ends when its report is out.
  await ended;
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'printed',
    labels: { sent: 40, printed: 40 },
  });
  await printer.printed(40);
  expect(printer.labels).toEqual(expected(job));
});

test.each([
  [{ host: '10.0.0.7', port: 9_100, protocol: 1, queue: '' }, 'socket://10.0.0.7:9100'],
  [{ host: 'labels.lab', port: 0, protocol: 1, queue: '' }, 'socket://labels.lab:9100'],
  [{ host: 'fe80::1', port: 6_101, protocol: 1, queue: '' }, 'socket://[fe80::1]:6101'],
  [{ host: '10.0.0.7', port: 0, protocol: 2, queue: 'lp 1' }, 'lpd://10.0.0.7:515/lp%201'],
  [{ host: '', port: 9_100, protocol: 1, queue: '' }, null],
  [{ host: 'a b', port: 9_100, protocol: 1, queue: '' }, null],
  [{ host: 'host/path', port: 9_100, protocol: 1, queue: '' }, null],
  [{ host: 'me@host', port: 9_100, protocol: 1, queue: '' }, null],
  [{ host: 'host', port: 99_999, protocol: 1, queue: '' }, null],
])('a TCP/IP port %o leads to %s', (port, address) => {
  expect(portAddress(port)).toBe(address);
});

test('elsewhere there is no such spooler', async () => {
  const port = standardTransports.documents('winspool:labels');
  await expect(port?.describe(AbortSignal.timeout(5_000))).rejects.toMatchObject({ code: 'address-invalid' });
});

test.each(['Zebra ZD421', '\\\\server\\labels 100%', 'Drucker für Ü', '标签', 'a/b?c#d'])(
  '%s as an address, and back',
  (name) => {
    expect(printerName(new URL(winspoolAddress(name)))).toBe(name);
  },
);

test.each([
  [0x0, 'pending'],
  // PRINTING; and stuck while it prints.
  [0x10, 'processing'],
  [0x10 | 0x40, 'stopped'],
  [0x20, 'stopped'],
  [0x400, 'stopped'],
  // SPOOLING: not all of it is there.
  [0x8, 'held'],
  // PRINTED, COMPLETE, also while it leaves the queue.
  [0x80, 'completed'],
  [0x1000 | 0x4, 'completed'],
  // DELETING, and nothing says that it was done.
  [0x4, 'processing'],
])('a job of status %i is %s', (status, phase) => {
  expect(jobState(status, 'x')).toMatchObject({ phase, incomplete: phase === 'held' });
});

test.each([
  [0x0, 0, 'idle', []],
  [0x400, 0, 'processing', []],
  [0x10 | 0x400, 0, 'stopped', ['media-empty']],
  [0x8 | 0x40_0000 | 0x1, 0, 'stopped', ['paused', 'media-jam', 'cover-open']],
  [0x80, 0x400, 'stopped', ['offline']],
  [0x0, 0x400, 'stopped', ['offline']],
  // TONER_LOW, POWER_SAVE: it prints all the same.
  [0x2_0000 | 0x100_0000, 0, 'idle', []],
])('a printer of status %i, attributes %i is %s', (Status, Attributes, state, reasons) => {
  expect(printerStatus({ Status, Attributes })).toEqual({ state, reasons });
});

test('what the spooler lists is proper evidence, whatever the names', () => {
  const rest = { pPortName: 'USB001', pComment: null, pLocation: null, Attributes: 0, Status: 0, cJobs: 0 };
  const names = ['Zebra ZD421', `\u0000${'x'.repeat(220)}`, 'é\ufffd\n1', null, '', '标'.repeat(220)];
  const found = names.flatMap((name) => sightingOf({ ...rest, pPrinterName: name, pDriverName: name }, null));
  for (const one of found) expect(sighting.parse(one)).toEqual(one);
  expect(found.map(({ name }) => name)).toEqual(['Zebra ZD421', 'x'.repeat(200), 'é 1']);
});
