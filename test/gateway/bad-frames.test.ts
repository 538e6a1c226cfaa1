/** What is no frame, or too large, or comes from too many strangers: the connection ends, and says why. */
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { Enrolment } from '../../src/cli/enrolment.ts';
import { GATEWAY_PATH } from '../../src/contract/gateway.ts';
import { describePrinter } from '../kit/service/harness.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const service = useService({ redis: false, config: { trustProxy: 1 } });
const { enrolled } = useEnrolments(service);
const open = useRawAgents();
const strange: Duplex[] = [];
const LANE = 'serial-0a1b2c3d4e5f';
let place: Enrolment;
let another: Enrolment;

beforeAll(async () => {
  place = await enrolled();
  another = await enrolled();
});
afterEach(() => {
  for (const socket of strange.splice(0)) socket.destroy();
});

async function joined(of = place): Promise<RawAgent> {
  const agent = await RawAgent.join(of, { process: 'the-only-process' });
  open.push(agent);
  await agent.next('welcome');
  return agent;
}

async function stranger(headers: Record<string, string> = {}): Promise<RawAgent> {
  const made = new RawAgent(place.origin, { headers });
  open.push(made);
  await new Promise((resolve) => made.socket.once('open', resolve));
  return made;
}

const deep = (count: number) => '['.repeat(count);
const names = Array.from({ length: 80_000 }, (_, at) => `"n${at}":1`);
test.each([
  ['no JSON', '{'],
  ['bytes', Buffer.from(JSON.stringify({ kind: 'listen', lanes: [LANE] }))],
  ['nothing', ''],
  ['an unknown kind', '{"kind":"sing"}'],
  ['a list', '[]'],
  ['a million lists in each other', deep(1_000_000)],
  ['80,000 members', `{${names.join()}}`],
  ['an entry with a lane that is none', JSON.stringify({ kind: 'say', entries: [{ i: 1, what: 'take' }] })],
  ['no entry', '{"kind":"say","entries":[]}'],
  [
    'a lease of more than five minutes where another agent wants it',
    JSON.stringify({ kind: 'lease', i: 1, asks: [], length: { contended: 300_001, alone: 1_200_000 } }),
  ],
  [
    'a lease that is said to last for longer than one may',
    JSON.stringify({
      ...{ kind: 'lease', i: 1, length: { contended: 300_000, alone: 1_200_000 } },
      asks: [{ lane: LANE, term: '1.1', fresh: true, reaches: true, keeps: { ms: 1_200_001, question: 1 } }],
    }),
  ],
  ['a number that is none', JSON.stringify({ kind: 'giveBack', i: '1', lane: LANE, term: 'process.1' })],
  [
    '65 entries',
    JSON.stringify({ kind: 'say', entries: Array(65).fill({ i: 1, what: 'told', report: '' }) }),
  ],
])('%s ends the connection, with the reason', async (_, frame) => {
  const agent = await joined();
  agent.socket.send(frame);
  expect(await agent.next('bye')).toMatchObject({ code: 'frame-wrong' });
  expect((await agent.closed).code).toBe(1_008);
});

const IN_HAND = { i: 1, lane: LANE, id: 'a job', delivery: 1, term: 'process.1' };
const entry = (what: string, of: object) => ({ kind: 'say', entries: [{ ...IN_HAND, what, ...of }] });
const lease = (term: string) => ({
  ...{ kind: 'lease', i: 1, length: { contended: 15_000, alone: 60_000 } },
  asks: [{ lane: LANE, term, fresh: true, reaches: true }],
});
// What agents of an instance say at one moment is one command in the database.
test.each([
  ['a lease under a term with NUL', lease('process.1\0')],
  ['a lease under a term with half of a character', lease('process.1\ud800')],
  ['the end of a job with NUL in its name', entry('ended', { id: 'a job\0' })],
  ['the end of a job that was handed out two thousand million times', entry('ended', { delivery: 2 ** 31 })],
  ['a job handed back under a term with NUL', entry('back', { term: '\0' })],
  ['a note with NUL', entry('note', { order: 1, note: '\0' })],
  ['a note after two thousand million others', entry('note', { order: 2 ** 31, note: '' })],
  ['a take beside half of a character', entry('take', { number: 1, beside: ['\udc00'] })],
])(
  '%s ends the connection, and fails nothing that another agent says',
  async (_, frame) => {
    const [agent, other] = [await joined(), await joined(another)];
    agent.say(frame);
    other.say({
      kind: 'say',
      entries: [
        { ...IN_HAND, what: 'ended' },
        { ...IN_HAND, what: 'note', order: 1, note: '', i: 2 },
      ],
    });
    const no = [
      { i: 1, ok: false },
      { i: 2, ok: false },
    ];
    const answers = () => other.said.flatMap((said) => said['answers'] ?? []);
    await expect.poll(answers, { timeout: 30_000 }).toEqual(expect.arrayContaining(no));
    expect(await agent.next('bye')).toMatchObject({ code: 'frame-wrong' });
  },
  60_000,
);

test('what a database says of an error is in the log, and not told to the agent', async () => {
  const agent = await joined();
  const report = {
    ...{ kind: 'agent', agentId: place.agentId, name: 'Dock', version: '1', tenantId: null, online: true },
    ...{ at: new Date().toISOString(), printers: [describePrinter({ id: LANE })] },
  };
  agent.say({ kind: 'say', entries: [{ i: 1, what: 'told', report: JSON.stringify(report) }] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 1, ok: true }] });
  const answers = [{ i: 1, failed: 'the service cannot do it now' }];
  await service.pool.query('ALTER TABLE lanes.lease RENAME TO lease_away');
  try {
    agent.say({ kind: 'giveBack', i: 1, lane: LANE, term: 'process.1' });
    expect(await agent.next('answers')).toEqual({ kind: 'answers', answers });
    agent.say(lease('process.1'));
    expect(await agent.next('answers')).toEqual({ kind: 'answers', answers });
  } finally {
    await service.pool.query('ALTER TABLE lanes.lease_away RENAME TO lease');
  }
  expect(service.log).toContain('what an agent asked for has failed');
  expect(service.log).toMatch(/42P01/);
});

test('a frame of more than 1 MiB ends the connection', async () => {
  const agent = await joined();
  agent.say('x'.repeat(1_100_000));
  expect((await agent.closed).code).toBe(1_009);
});

test('a stranger is heard for 16 KiB', async () => {
  // A member that nobody knows is read over.
  const hello = (more: number) => ({
    ...{
      kind: 'hello',
      agent: place.agentId,
      process: '0123456789abcdef',
      nonce: 'A'.repeat(22),
      version: '1',
    },
    more: 'x'.repeat(more),
  });
  const proof = { kind: 'proof', signature: 'A'.repeat(86) };
  const heard = await stranger();
  heard.say(hello(15_000));
  heard.say(proof);
  await heard.next('bye');
  const unknown = await stranger();
  unknown.say(hello(20_000));
  unknown.say(proof);
  await unknown.closed;
  expect(unknown.said.map(({ kind }) => kind)).not.toContain('bye');
});

test('of the strangers who prove nothing there are 200 at most, and none of them keeps an agent out', async () => {
  const strangers: RawAgent[] = [];
  // One proxy has them all. What it says of who they are counts.
  const elsewhere = await stranger({ 'x-forwarded-for': '192.0.2.7' });
  for (let count = 0; count < 199; count += 1)
    strangers.push(await stranger({ 'x-forwarded-for': '198.51.100.1' }));
  await joined();
  await strangers[0]?.closed;
  const still = strangers.filter(({ socket }) => socket.readyState === socket.OPEN);
  expect(still).toEqual(strangers.slice(1));
  expect(elsewhere.socket.readyState).toBe(elsewhere.socket.OPEN);
});

test('of strangers who speak nothing of it, and do not go, there are as many', async () => {
  const upgraded = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  let count = 0;
  for (let made = 0; made < 200; made += 1) {
    const asked = request(new URL(GATEWAY_PATH, place.origin), {
      headers: {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
        ...{ 'sec-websocket-key': Buffer.alloc(16).toString('base64'), 'x-forwarded-for': '198.51.100.2' },
      },
    });
    asked.on('upgrade', (_, socket: Duplex) => {
      count += 1;
      if (count === 200) upgraded.resolve();
      socket.on('error', () => undefined).on('close', () => left.resolve());
      // What it is told is read, and not answered.
      socket.resume();
      strange.push(socket);
    });
    asked.end();
  }
  await upgraded.promise;
  await stranger({ 'x-forwarded-for': '192.0.2.8' });
  await left.promise;
}, 9_000);
