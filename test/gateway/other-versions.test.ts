/** Agents and services of other versions: what one does not know of the other is left out, and what cannot go on is said. */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { GATEWAY_PATH, PROTOCOL } from '../../src/contract/gateway.ts';
import { GatewayLanes } from '../../src/queue/gateway/lanes.ts';
import type { JoiningAgent } from '../../src/queue/index.ts';
import { lookAtGateway } from '../../src/queue/index.ts';
import { ErrorLogger } from '../../src/queue/queue-log.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { useGateway } from '../kit/queue/use-gateway.ts';
import { listeningForTest } from '../kit/wire/listening.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const LATER = 'platen.agent.2';
const LENGTH = { contended: 15_000, alone: 60_000 };
const used = useGateway();
let enrolment: JoiningAgent;

beforeAll(async () => {
  enrolment = await used.gateway.enroll('agent-of-a-site', null);
});

test('an agent that speaks more than this service does is answered in what both speak', async () => {
  const socket = new WebSocket(new URL(GATEWAY_PATH, used.gateway.origin.replace(/^http/, 'ws')), [
    LATER,
    PROTOCOL,
  ]);
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  expect(socket.protocol).toBe(PROTOCOL);
});

test('an agent that speaks nothing of it is told so', async () => {
  const request = httpRequest(new URL(GATEWAY_PATH, used.gateway.origin), {
    headers: {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      ...{ 'sec-websocket-key': Buffer.alloc(16).toString('base64'), 'sec-websocket-protocol': LATER },
    },
  });
  request.end();
  const opened = Promise.withResolvers<{ socket: Duplex; head: Buffer }>();
  request.once('upgrade', (_: IncomingMessage, socket: Duplex, head: Buffer) =>
    opened.resolve({ socket, head }),
  );
  const { socket, head } = await opened.promise;
  onTestFinished(() => void socket.destroy());
  let said = head.toString('latin1');
  socket.on('data', (bytes: Buffer) => {
    said += bytes.toString('latin1');
  });
  await expect.poll(() => said).toContain('{"kind":"bye","code":"too-old"}');
});

test('what a later agent says besides is left out, and the rest counts', async () => {
  const agent = await RawAgent.join(enrolment, { process: 'process-one' });
  onTestFinished(() => agent.socket.terminate());
  await agent.next('welcome');
  const lane = printerId();
  const ask = { lane, term: 'process.1', fresh: true, reaches: true, mood: 'fine' };
  agent.say({ kind: 'lease', i: 1, asks: [ask], length: { ...LENGTH, at: 'night' }, urgent: true });
  expect(await agent.next('leased')).toMatchObject({ i: 1, answers: [{ lane, granted: 60_000 }] });
  const take = { i: 2, what: 'take', lane, term: 'process.1', beside: [], number: 1, colour: 'red' };
  agent.say({ kind: 'say', entries: [take], weather: 'rain' });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 2, job: null }] });
});

const said = z.object({
  kind: z.string(),
  i: z.number().optional(),
  asks: z.array(z.object({ lane: z.string() })).default([]),
  entries: z.array(z.object({ i: z.number(), what: z.string() })).default([]),
});

/** A service of another version. @param protocol what it speaks; undefined: nothing that it is asked for */
async function other(
  protocol: string | undefined,
  answers: (frame: z.infer<typeof said>) => readonly object[] = () => [],
): Promise<string> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: () => protocol ?? false });
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      for (const answer of answers(said.parse(JSON.parse(data.toString()))))
        socket.send(JSON.stringify(answer));
    });
  });
  return `http://127.0.0.1:${await listeningForTest(server)}`;
}

function lanesAt(origin: string) {
  const logger = keepingLogger();
  const retry = { first: 20, most: 100, refused: 100 };
  const of = { ...enrolment, origin };
  const lanes = new GatewayLanes({ agent: of, logger, errors: new ErrorLogger(logger), retry });
  onTestFinished(() => lanes.close());
  return { lanes, logger };
}

test('what a later service says besides is left out, and the rest counts', async () => {
  const lane = printerId();
  const { template, ...rest } = job(lane);
  const taken = {
    ...{ id: rest.jobId, delivery: 1, json: JSON.stringify({ ...rest, priority: 'high' }) },
    ...{ template: JSON.stringify(template), ofRow: false, note: null, colour: 'red' },
  };
  const origin = await other(PROTOCOL, ({ kind, i, asks, entries }) => {
    if (kind === 'hello') return [{ kind: 'challenge', nonce: 'a'.repeat(22), mood: 'fine' }];
    if (kind === 'proof') {
      return [
        { kind: 'welcome', scope: null, name: 'Dock', since: 'today' },
        { kind: 'sing', song: 'la' },
      ];
    }
    const granted = asks.map((ask) => ({ ...ask, granted: 60_000, wanted: false, canceled: [], queue: 4 }));
    if (kind === 'lease') return [{ kind: 'leased', i, answers: granted, at: 'noon' }];
    return entries.map((entry) => ({
      kind: 'answers',
      answers: [{ i: entry.i, job: taken, more: 1 }],
      n: 1,
    }));
  });
  const { lanes } = lanesAt(origin);
  await expect.poll(() => lanes.answers(), { timeout: 30_000 }).toBe(true);
  const ask = { lane, term: 'process.1', fresh: true, reaches: true };
  expect(await lanes.leases.ask(enrolment.agentId, [ask], LENGTH)).toMatchObject([{ lane, granted: 60_000 }]);
  const turns = lanes.turnsOf(lane, AbortSignal.timeout(60_000));
  expect(await turns.take({ lane, term: 'process.1', beside: [], number: 1 })).toMatchObject({
    ...{ lane, id: rest.jobId, delivery: 1, note: null, template },
  });
});

test('a template that this agent cannot read goes with its job, and ends nothing else', async () => {
  const lane = printerId();
  const { template: _, ...rest } = job(lane);
  const origin = await other(PROTOCOL, ({ kind, i, entries }) => {
    if (kind === 'hello') return [{ kind: 'challenge', nonce: 'a'.repeat(22) }];
    if (kind === 'proof') return [{ kind: 'welcome', scope: null, name: 'Dock' }];
    const taken = { id: rest.jobId, delivery: 1, json: JSON.stringify(rest), ofRow: false, note: null };
    const brought = { term: 'process.1', number: 1, job: { ...taken, template: '{' } };
    const ring = { kind: 'ring', lane, what: '', brought };
    if (kind === 'lease') return [ring, { kind: 'leased', i, answers: [] }];
    return entries.map((entry) => ({ kind: 'answers', answers: [{ i: entry.i, job: null }] }));
  });
  const { lanes } = lanesAt(origin);
  await expect.poll(() => lanes.answers(), { timeout: 30_000 }).toBe(true);
  const turns = lanes.turnsOf(lane, AbortSignal.timeout(60_000));
  const ask = { lane, term: 'process.1', beside: [] };
  expect(await turns.take({ ...ask, number: 1 })).toBeNull();
  await lanes.ping();
  expect(await turns.take({ ...ask, number: 2 })).toMatchObject({ id: rest.jobId, template: undefined });
});

const OTHERWISE = 'the service speaks another version of the protocol';

test('a service that speaks nothing of what this agent does is told apart from one that is away', async () => {
  const origin = await other(undefined);
  const { lanes, logger } = lanesAt(origin);
  await expect.poll(() => logger.lines.join(), { timeout: 30_000 }).toContain(OTHERWISE);
  await expect(lanes.ping()).rejects.toThrow(OTHERWISE);
  await expect(lookAtGateway({ origin }, 20_000)).rejects.toThrow(OTHERWISE);
});

test('a goodbye for a reason that this agent does not know is said as it came, and it comes again', async () => {
  let hellos = 0;
  const origin = await other(PROTOCOL, ({ kind }) => {
    if (kind === 'hello') hellos += 1;
    return [{ kind: 'bye', code: 'tired', retryAfterMs: 10, until: 'spring' }];
  });
  const { logger } = lanesAt(origin);
  await expect.poll(() => hellos, { timeout: 30_000 }).toBeGreaterThan(1);
  expect(logger.lines.join()).toContain('the service says \\"tired\\"');
});
