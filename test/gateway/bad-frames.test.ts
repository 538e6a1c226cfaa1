/** What is no frame, or too large, or comes from too many strangers: the connection ends, and says why. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Enrolment, enrollAgent } from '../../src/cli/enrolment.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { Directories } from '../kit/agent/site.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const directories = new Directories();
const open: RawAgent[] = [];
const LANE = 'serial-0a1b2c3d4e5f';
let service: ServiceHarness;
let place: Enrolment;

beforeAll(async () => {
  service = await ServiceHarness.start({ redis: false, config: { trustProxy: 1 } });
  const { body } = await service.admin('POST', '/agents/invitations', { name: 'Dock' });
  place = await enrollAgent(invitationMade.parse(body).url, directories.make());
});
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.terminate();
});
afterAll(async () => {
  await service.stop();
  directories.remove();
});

async function joined(): Promise<RawAgent> {
  const agent = await RawAgent.join(place, { process: 'the-only-process' });
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

test('a frame of more than 1 MiB ends the connection', async () => {
  const agent = await joined();
  agent.say('x'.repeat(1_100_000));
  expect((await agent.closed).code).toBe(1_009);
});

test('a stranger is heard for 16 KiB', async () => {
  const unknown = await stranger();
  unknown.say('x'.repeat(20_000));
  await unknown.closed;
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
