/** Who says nothing at the gateway: a stranger, and an agent whose machine is gone without a word. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { enrollAgent } from '../../src/cli/enrolment.ts';
import { agentView, invitationMade } from '../../src/contract/agent-view.ts';
import { Directories } from '../kit/agent/site.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const directories = new Directories();
let service: ServiceHarness;

beforeAll(async () => {
  service = await ServiceHarness.start({ redis: false });
});
afterAll(async () => {
  await service?.stop();
  directories.remove();
});

test('a stranger is let go after seconds, an agent within a minute, and is shown as gone', async () => {
  const { body } = await service.admin('POST', '/agents/invitations', { name: 'Dock' });
  const place = await enrollAgent(invitationMade.parse(body).url, directories.make());
  const listed = async () => {
    const agents = z.array(agentView).parse((await service.admin('GET', '/agents')).body);
    return agents.find(({ id }) => id === place.agentId)?.enrolled?.connectedSince;
  };
  const agent = await RawAgent.join(place);
  await agent.next('welcome');
  expect(await listed()).toBeTypeOf('string');
  const stranger = new RawAgent(place.origin);
  await once(stranger.socket, 'open');
  await stranger.closed;
  expect(agent.socket.readyState).toBe(agent.socket.OPEN);
  await agent.closed;
  await expect.poll(listed, { timeout: 30_000 }).toBe(null);
}, 120_000);

test('who is refused and does not go is let go after seconds too', async () => {
  const { body } = await service.admin('POST', '/agents/invitations', { name: 'Gate' });
  const place = await enrollAgent(invitationMade.parse(body).url, directories.make());
  const agent = await RawAgent.join(place);
  await agent.next('welcome');
  const begun = performance.now();
  const copy = await RawAgent.join(place);
  const gone = new Promise((resolve) => copy.stream?.once('close', resolve));
  // It reads the goodbye, and says nothing to it.
  copy.stream?.removeAllListeners('data').resume();
  await gone;
  // A connection that is being closed may take half a minute otherwise.
  expect(performance.now() - begun).toBeLessThan(20_000);
  agent.socket.terminate();
}, 120_000);
