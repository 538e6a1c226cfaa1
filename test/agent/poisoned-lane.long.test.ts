/**
 * Somebody with the Redis user of an agent writes into the lanes of its tenant what is no job, or a hostile one. The agent there
 * says of each that it does not print it, keeps within its memory, and prints what others have sent.
 */
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { jobFor } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';

const MIB = 1024 * 1024;
const site = useSite();
let redis: Redis;
beforeAll(() => {
  redis = new Redis(site.queueOptions.redisUrl ?? '');
});
afterAll(() => redis.disconnect());

const keyOf = (job: QueuedJob, name: string) => `${site.queueOptions.prefix}:{${job.printerId}}:${name}`;
const stored = (json: string) => JSON.stringify({ json });

/** A job of which `poisoned` is in the lane, and one behind it, as somebody else has sent it. */
async function poison(serial: string, poisons: readonly Poison[]) {
  const printer = await site.startPrinter({ serial });
  const jobs: QueuedJob[] = [];
  for (const { hash, keys } of poisons) {
    const job = await site.enqueue(jobFor(serialId(serial), ['poison']));
    await redis.hset(keyOf(job, job.jobId), hash(job));
    for (const [name, value] of Object.entries(keys ?? {})) await redis.set(keyOf(job, name), value);
    jobs.push(job);
  }
  const good = await site.enqueue(jobFor(serialId(serial), 3));
  const agent = await site.startProcess(printer, { languages: 'standard' });
  const ends = [];
  for (const { jobId } of jobs) ends.push(await site.reports.end(jobId));
  expect(await site.reports.end(good.jobId)).toMatchObject({ status: 'printed' });
  expect(agent.exitCode).toBeNull();
  const status = readFileSync(`/proc/${agent.pid}/status`, 'utf8');
  return { ends, peak: Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) * 1024, printer };
}

interface Poison {
  hash: (job: QueuedJob) => Record<string, string>;
  keys?: Record<string, string>;
}

const payload =
  (make: (job: QueuedJob) => string): Poison['hash'] =>
  (job) => ({ data: stored(make(job)) });
const many = (piece: string, bytes: number) =>
  Array(Math.floor(bytes / (piece.length + 1)))
    .fill(piece)
    .join();
const changed = (change: (job: QueuedJob) => object): Poison => ({
  hash: payload((job) => JSON.stringify({ ...job, ...change(job) })),
});
/** The job's JSON, with this in the place of one of its members. */
const spliced = (member: string, piece: (job: QueuedJob) => string): Poison => ({
  hash: payload(
    (job) => `${JSON.stringify({ ...job, [member]: undefined }).slice(0, -1)},"${member}":${piece(job)}}`,
  ),
});

test('payloads that are no job fail, whatever their size and depth, and the job behind them is printed', async () => {
  const { ends, peak } = await poison('POISON-1', [
    { hash: () => ({ data: 'no JSON' }) },
    { hash: () => ({ data: 'x'.repeat(40 * MIB) }) },
    { hash: payload(() => '['.repeat(8 * MIB)) },
    { hash: payload(() => '['.repeat(2 * MIB) + ']'.repeat(2 * MIB)) },
    { hash: payload(() => `${`{"a":`.repeat(MIB)}1${'}'.repeat(MIB)}`) },
    spliced('records', () => `[${many('0', 10 * MIB)}]`),
    spliced('records', () => `[${many('{"a":[]}', 10 * MIB)}]`),
    spliced('records', () => '['.repeat(MIB) + ']'.repeat(MIB)),
    spliced(
      'again',
      ({ jobId }) => `{"jobId":"${jobId}","records":1,"copies":1,"labels":[${many('0', 10 * MIB)}]}`,
    ),
    spliced(
      'template',
      () => `{"name":"a","width":50,"height":25,"fields":[],"elements":[${many('0', 10 * MIB)}]}`,
    ),
    changed(() => ({ copies: -1, format: null })),
    {
      hash: () => ({ data: JSON.stringify({ template: 'abc', json: '{}' }) }),
      keys: { 'template:abc': 'x'.repeat(40 * MIB) },
    },
  ]);
  for (const end of ends)
    expect(end).toMatchObject({ status: 'failed', error: { code: 'payload-unreadable' } });
  expect(peak).toBeLessThan(700 * MIB);
});

test('a note that is no note, or without end, says that somebody has begun: held', async () => {
  const { ends, peak, printer } = await poison('POISON-2', [
    { hash: () => ({ progress: `{"a":"${'x'.repeat(40 * MIB)}"}` }) },
    { hash: () => ({ progress: `{"a":${'['.repeat(MIB)}` }) },
    { hash: () => ({ progress: '{"agentId":"agent-x","resumeAt":1e308}' }) },
    { hash: () => ({ ats: '1e400', progress: '{"agentId":"agent-12345","resumeAt":-1}' }) },
  ]);
  for (const end of ends) expect(end).toMatchObject({ status: 'held' });
  expect(printer.labels).toEqual(['0', '1', '2']);
  expect(peak).toBeLessThan(500 * MIB);
});

/** A PNG of so many black dots on each side, in a thousandth of their size. */
function png(side: number): string {
  const chunk = (kind: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(kind), data, Buffer.alloc(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 1;
  const rows = deflateSync(Buffer.alloc(side * (Math.ceil(side / 8) + 1)));
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}

test('hostile templates fail or are held, in bounded memory', async () => {
  const label = { name: 'a', width: 50, height: 25, fields: [] };
  const text = { type: 'text', x: 1, y: 1, text: 'a', size: 4 };
  const element = (one: object, more: object = {}) =>
    changed(() => ({ template: { ...label, elements: [one], ...more } }));
  const picture = { type: 'image', x: 0, y: 0, width: 20, height: 20 };
  const { ends, peak, printer } = await poison('POISON-3', [
    element(text, { width: 2_000, height: 2_000 }),
    element(text, { width: 1e12 }),
    element({ ...picture, data: png(30_000) }),
    element({ ...picture, image: 'bomb' }, { images: [{ name: 'bomb', data: png(60_000) }] }),
    element(
      { ...text, font: 'evil' },
      { fonts: [{ name: 'evil', data: Buffer.from('\0\u0001\0\0\xff\xff', 'latin1').toString('base64') }] },
    ),
  ]);
  expect(ends.map(({ error }) => error?.code)).toEqual([
    'template-invalid',
    'payload-unreadable',
    'template-invalid',
    'template-invalid',
    'template-invalid',
  ]);
  expect(printer.labels).toEqual(['0', '1', '2']);
  expect(peak).toBeLessThan(700 * MIB);
});
