/**
 * `node test/agent/recording.ts --out DIRECTORY [--compare DIRECTORY]`: records every byte and every question
 * of a hundred jobs at each of several scripted printers, to see what a change of the agent's loop changes
 * there. Of each printer `NAME.txt` has all that was sent and asked, in order. Questions that follow each
 * other are one line, since how often the agent asks depends on the machine. `NAME.json` has their counts,
 * and the digest of all that is no question.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { OPERATIONS } from '../../drivers/ipp/names.ts';
import { Agent } from '../../src/agent/agent.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { type PaperLabel, PaperPrinter, type PaperPrinterOptions } from '../chaos/paper-printer.ts';
import { TestIppPrinter } from '../kit/agent/ipp-site.ts';
import { agentConfig, Directories, jobFor, Reports } from '../kit/agent/site.ts';
import { memoryQueues } from '../kit/queue/memory-lanes.ts';
import { listening } from '../kit/wire/listening.ts';

const JOBS = 100;
const LABEL_MS = 10;
const QUESTION = /~H[SI]\r\n|~HQ[A-Z]{2}\r\n|! U1 getvar "[^"]*"\r\n/g;

interface Recorded {
  uri: string;
  /** What was sent and asked, in order. */
  readonly lines: string[];
  /** Bytes that are no question. */
  readonly sent: ReturnType<typeof createHash>;
  readonly counts: Record<string, number>;
  /** Labels on the paper. */
  out(): readonly string[];
  /** Nothing is to come out any more. */
  readonly atRest: () => boolean;
  confirmation?: 'transport';
  close(): Promise<void>;
}

function recorder() {
  const lines: string[] = [];
  const counts: Record<string, number> = {};
  const sent = createHash('sha256');
  const note = (what: string, times = 1) => {
    counts[what] = (counts[what] ?? 0) + times;
  };
  return {
    ...{ lines, counts, sent },
    /** A question, or another line of which several in a row count once. */
    once(line: string): void {
      note(line);
      if (lines.at(-1) !== line) lines.push(line);
    },
    line(line: string): void {
      lines.push(line);
    },
    note,
  };
}

/** A printer that takes bytes, behind a server that writes down what it is sent. */
async function bytesPrinter(options: PaperPrinterOptions): Promise<Recorded> {
  const printer = new PaperPrinter(options);
  await printer.powerOn();
  const record = recorder();
  let connections = 0;
  const server = createServer({ noDelay: true }, (agent) => {
    const upstream = connect({ port: Number(new URL(printer.uri).port), noDelay: true });
    const name = `connection ${++connections}`;
    record.note('connections');
    let brought = false;
    agent.on('data', (bytes: Buffer) => {
      if (!brought && /\^XA/.test(bytes.toString('latin1'))) record.line(name);
      brought ||= bytes.includes('^XA');
      record.note('writes');
      sort(bytes.toString('latin1'), record);
    });
    for (const [one, other] of [
      [agent, upstream],
      [upstream, agent],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  const port = await listening(server);
  return {
    ...record,
    uri: `socket://127.0.0.1:${port}`,
    atRest: () => printer.atRest,
    out: () => printer.paper.map(({ ids, spoiled }: PaperLabel) => spoiled ?? ids.join(' ')),
    close: async () => {
      await printer.powerOff();
      await closed(server);
    },
  };
}

/** Writes down what came in one piece: questions by their names, labels by their bytes. */
function sort(text: string, record: ReturnType<typeof recorder>): void {
  let end = 0;
  const bytes = (part: string) => {
    if (part === '') return;
    for (const line of part.split(/(?<=\n)/)) {
      // How often it is sent depends on how often the agent connects.
      if (/^~JX\s*$/.test(line)) record.once('~JX');
      else {
        record.sent.update(line, 'latin1');
        record.line(`${line.trimEnd().slice(0, 160)} (${line.length} bytes)`);
      }
    }
  };
  let asked = '';
  for (const question of text.matchAll(QUESTION)) {
    bytes(text.slice(end, question.index));
    end = question.index + question[0].length;
    asked += `${asked === '' ? '? ' : ' + '}${question[0].replace('! U1 getvar', '').trim()}`;
  }
  if (asked !== '') record.once(asked);
  bytes(text.slice(end));
}

/** A printer that takes documents, behind a server that writes down the operations and what they bring. */
async function documentPrinter(directories: Directories): Promise<Recorded> {
  const printer = new TestIppPrinter(directories, { speed: 1_000 / LABEL_MS, serial: 'RECORD-IPP' });
  await printer.start();
  const record = recorder();
  const names = new Map(Object.entries(OPERATIONS).map(([name, code]): [number, string] => [code, name]));
  const server = createHttpServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const { code, data } = decodeIpp(body);
    const name = names.get(code) ?? String(code);
    if (data.length === 0) record.once(`? ${name}`);
    else {
      const digest = createHash('sha256').update(data).digest('hex').slice(0, 16);
      record.sent.update(data);
      record.line(`${name} ${digest} (${data.length} bytes)`);
    }
    const headers = { 'content-type': 'application/ipp' };
    const url = printer.uri.replace('ipp:', 'http:');
    const answer = await fetch(url, { method: 'POST', headers, body });
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
  });
  const port = await listening(server);
  return {
    ...record,
    uri: `ipp://127.0.0.1:${port}/ipp/print`,
    atRest: () => true,
    out: () => printer.labels,
    close: async () => {
      await printer.stop();
      server.closeAllConnections();
      await closed(server);
    },
  };
}

async function closed(server: Pick<Server, 'close'>): Promise<void> {
  await new Promise((done) => void server.close(done));
}

/** The same jobs each time: mostly of one label, some of many, and of copies; by raw ZPL and by a design. */
function jobsFor(printerId: string): QueuedJob[] {
  return Array.from({ length: JOBS }, (_, number) => {
    const many = number % 20 === 7 ? 30 : number % 5 === 3 ? 4 : 1;
    const records = Array.from({ length: many }, (_, record) => `K${number}R${record}Z`);
    const job = jobFor(printerId, records, number % 10 === 9 ? 3 : 1);
    const designed = number % 4 === 2;
    return {
      ...job,
      jobId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      createdAt: '2026-11-21T10:00:00.000Z',
      template: designed ? DESIGNED : RAW,
    };
  });
}

/** Read by both kinds of printers. */
const RAW = template.parse({
  name: 'raw',
  language: 'zpl',
  source: '^XA^FO10,10^A0N,60,60^FD{{n}}^FS^FO10,80^FDlabel {{n}}^FS^XZ',
  fields: [{ name: 'n' }],
});
const DESIGNED = template.parse({
  name: 'designed',
  width: 50,
  height: 25,
  fields: [{ name: 'n' }],
  elements: [{ type: 'text', x: 3, y: 3, width: 44, height: 8, text: '{{n}}', size: 6 }],
});
const BYTES = { labelTime: LABEL_MS, answerTime: 1, mute: false, odometer: true, single: false };

async function record(directory: string): Promise<void> {
  const directories = new Directories();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => directories.remove());
  const printers = new Map<string, Recorded>([
    ['counter', await bytesPrinter({ ...BYTES, serial: 'RECORD-COUNTER' })],
    ['pending', await bytesPrinter({ ...BYTES, serial: 'RECORD-PENDING', odometer: false })],
    [
      'none',
      { ...(await bytesPrinter({ ...BYTES, serial: 'RECORD-NONE', mute: true })), confirmation: 'transport' },
    ],
    ['slow', await bytesPrinter({ ...BYTES, serial: 'RECORD-SLOW', answerTime: 60 })],
    ['single', await bytesPrinter({ ...BYTES, serial: 'RECORD-SINGLE', single: true })],
    ['documents', await documentPrinter(directories)],
  ]);
  for (const { close } of printers.values()) stack.defer(close);
  mkdirSync(directory, { recursive: true });
  for (const [name, printer] of printers) {
    await drive(printer, directories);
    while (!printer.atRest()) await pause(LABEL_MS);
    const { lines, counts, sent } = printer;
    const digest = sent.digest('hex');
    writeFileSync(join(directory, `${name}.txt`), `${lines.join('\n')}\n`);
    const out = { labels: printer.out().length, paper: printer.out() };
    writeFileSync(
      join(directory, `${name}.json`),
      `${JSON.stringify({ digest, counts, ...out }, null, 1)}\n`,
    );
    process.stdout.write(`${name}: ${lines.length} lines, ${out.labels} labels, ${digest.slice(0, 16)}\n`);
  }
}

async function drive(printer: Recorded, directories: Directories): Promise<void> {
  const logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' });
  const reports = new Reports();
  const queues = memoryQueues(logger, (report) => reports.add(report));
  const { confirmation = 'device', uri } = printer;
  const config = agentConfig(directories.make(), { uri }, { confirmation });
  config.printers = [{ uri, dpi: 203, width: 50, height: 25 }];
  const agent = new Agent({ config, queue: queues, logger });
  await agent.start();
  try {
    const there = await reports.agent(({ printers }) => printers.some(({ state }) => state !== undefined));
    const [found] = there.printers;
    if (found === undefined) throw new Error('no printer was found');
    const jobs = jobsFor(found.id);
    await queues.enqueue(...jobs);
    for (const { jobId } of jobs) {
      const { status, error } = await reports.end(jobId);
      if (status !== 'printed') throw new Error(`${jobId} is ${status}: ${error?.message}`);
    }
  } finally {
    await agent.stop({ graceMs: 0 });
    await queues.close();
  }
}

function compare(before: string, after: string): void {
  for (const name of ['counter', 'pending', 'none', 'slow', 'single', 'documents']) {
    const read = (directory: string, ending: string) =>
      readFileSync(join(directory, `${name}${ending}`), 'utf8');
    const [was, is] = [before, after].map((directory) => JSON.parse(read(directory, '.json')));
    const paper = JSON.stringify(was.paper) === JSON.stringify(is.paper) ? 'same paper' : 'OTHER PAPER';
    const bytes = was.digest === is.digest ? 'same bytes' : 'OTHER BYTES';
    process.stdout.write(`${name}: ${paper}, ${bytes}\n`);
    const what = new Set([...Object.keys(was.counts), ...Object.keys(is.counts)]);
    for (const one of what)
      process.stdout.write(`  ${one}: ${was.counts[one] ?? 0} → ${is.counts[one] ?? 0}\n`);
  }
}

const { values } = parseArgs({ options: { out: { type: 'string' }, compare: { type: 'string' } } });
if (values.out === undefined)
  throw new Error('usage: node test/agent/recording.ts --out DIRECTORY [--compare DIRECTORY]');
await record(values.out);
if (values.compare !== undefined) compare(values.compare, values.out);
process.exit();
