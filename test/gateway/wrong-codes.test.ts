/** How often somebody may try codes, and keys that are not an agent's: who guesses waits, and keeps nobody else out. */
import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { enrollAgent } from '../../src/cli/enrolment.ts';
import { agentView, invitationMade } from '../../src/contract/agent-view.ts';
import { ENROLL_PATH, signedToEnroll } from '../../src/contract/gateway.ts';
import { codeOf, plainCode } from '../../src/contract/invitation.ts';
import { Directories } from '../kit/agent/site.ts';
import { type Answer, codeOf as problemOf } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const LIMIT = 3;
/** s */
const WINDOW = 5;
const directories = new Directories();
const service = useService({
  redis: false,
  config: {
    trustProxy: 1,
    tokenFailures: { perClientAndAddress: LIMIT, perAddress: 100, perClient: 100, window: WINDOW },
  },
});
afterAll(() => directories.remove());

async function invite(): Promise<string> {
  const { body } = await service.admin('POST', '/agents/invitations', { name: 'Dock' });
  return invitationMade.parse(body).code;
}

/** A new agent shows the code. @param from its network's address */
async function shows(written: string, from: string): Promise<Answer> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const { origin } = new URL(service.url);
  const asked = { code: plainCode(written) ?? '', agentId: randomUUID(), publicKey: x, origin };
  const signature = sign(null, signedToEnroll(asked), privateKey).toString('base64url');
  const headers = { 'x-forwarded-for': from };
  return await service.call(ENROLL_PATH, { body: { ...asked, signature }, headers });
}

const guesses = (from: string) => shows(codeOf(randomBytes(15)), from);

test('after too many wrong codes from a network none counts from there until the window ends, and from elsewhere each', async () => {
  const [near, far] = ['198.51.100.1', '198.51.100.2'];
  expect(problemOf(await guesses(near))).toBe('invitation-spent');
  // A right one is none of them.
  for (let count = 0; count < LIMIT; count += 1) expect((await shows(await invite(), near)).status).toBe(200);
  const code = await invite();
  let answer = await guesses(near);
  // On a machine that is slow the first ones count no more.
  while (answer.status !== 429) {
    expect(problemOf(answer)).toBe('invitation-spent');
    answer = await guesses(near);
  }
  expect(problemOf(answer)).toBe('enrolment-too-often');
  const wait = Number(answer.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(WINDOW);
  expect((await shows(code, near)).status).toBe(429);
  expect((await shows(await invite(), far)).status).toBe(200);
  expect(problemOf(await guesses(far))).toBe('invitation-spent');
  const status = async () => (await shows(code, near)).status;
  await expect.poll(status, { timeout: 30_000, interval: 200 }).toBe(200);
});

test('all agents of a site may enrol at one moment', async () => {
  const codes = await Promise.all(Array.from({ length: 4 * LIMIT }, invite));
  const answers = await Promise.all(codes.map((code) => shows(code, '198.51.100.3')));
  expect(answers.map(({ status }) => status)).toEqual(codes.map(() => 200));
});

test('however often somebody shows another key, the agent with its own joins, and is not shown as refused', async () => {
  const { origin } = new URL(service.url);
  const place = await enrollAgent(`${origin}#${await invite()}`, directories.make());
  const { privateKey } = await enrollAgent(`${origin}#${await invite()}`, directories.make());
  for (let count = 0; count < 50; count += 1) {
    const thief = await RawAgent.join({ ...place, privateKey });
    expect(await thief.next('bye')).toMatchObject({ code: 'proof-wrong' });
    thief.socket.terminate();
  }
  const agent = await RawAgent.join(place);
  onTestFinished(() => agent.socket.terminate());
  await agent.next('welcome');
  const agents = z.array(agentView).parse((await service.admin('GET', '/agents')).body);
  expect(agents.find(({ id }) => id === place.agentId)?.enrolled).toMatchObject({ refused: null });
});
