/** Who says nothing at the gateway: a stranger, and an agent whose machine is gone without a word. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { agentView } from '../../src/contract/agent-view.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const service = useService({ redis: false });
const { enrolled } = useEnrolments(service);

test('a stranger is let go after seconds, an agent within a minute, and is shown as gone', async () => {
  const place = await enrolled();
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
  const place = await enrolled({ name: 'Gate' });
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
