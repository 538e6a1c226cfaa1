/** A service that is away for long: an agent goes on trying, as often as it may, and is there with the first answer. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { Agent } from '../../src/agent/agent.ts';
import { PROTOCOL } from '../../src/contract/gateway.ts';
import { laneOf, MOST_LEASE } from '../../src/contract/lane.ts';
import { RETRY } from '../../src/queue/gateway/connection.ts';
import { GatewayLanes } from '../../src/queue/gateway/lanes.ts';
import { openGateway, openQueues } from '../../src/queue/index.ts';
import { ErrorLogger } from '../../src/queue/queue-log.ts';
import { Line } from '../chaos/line.ts';
import { Directories, QUICK, TestPrinter, testDrivers } from '../kit/agent/site.ts';
import { TestGateway } from '../kit/queue/over-gateway.ts';
import { keepingLogger } from '../kit/queue/samples.ts';
import { onServer } from '../kit/servers/backends.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

/** More than an hour has: after some minutes it tries every half a minute on average. */
const TRIES = 200;
const directories = new Directories();
afterAll(() => directories.remove());

test('after more tries than an hour has, an agent joins with the first answer', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => PROTOCOL });
  let tries = 0;
  server.on('upgrade', (request, socket: Duplex, head) => {
    tries += 1;
    if (tries <= TRIES) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('message', (data: Buffer) => {
        const isHello = data.toString().includes('"hello"');
        const said = isHello
          ? { kind: 'challenge', nonce: 'a'.repeat(22) }
          : { kind: 'welcome', scope: null, name: 'Dock' };
        opened.send(JSON.stringify(said));
      });
    });
  });
  const logger = keepingLogger();
  const origin = `http://127.0.0.1:${await listeningForTest(server)}`;
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const privateKey = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const enrolment = { origin, agentId: 'agent-far-away', scope: null, privateKey, version: '1' };
  const retry = { first: 1, most: 2 };
  const lanes = new GatewayLanes({ agent: enrolment, logger, errors: new ErrorLogger(logger), retry });
  onTestFinished(() => lanes.close());
  await expect.poll(() => lanes.answers(), { timeout: 60_000 }).toBe(true);
  expect(tries).toBe(TRIES + 1);
  expect(RETRY.most).toBe(60_000);
  // One line a while, not one a try.
  expect(logger.lines.filter((line) => line.startsWith('not connected')).length).toBeLessThan(5);
});

test('an agent that began before it could join has its lease as soon as it has', async () => {
  await using stack = new AsyncDisposableStack();
  const backend = await onServer().open({ migrated: true });
  stack.defer(() => backend.close());
  const gateway = await TestGateway.start(backend.database);
  stack.defer(() => gateway.stop());
  const queues = await openQueues({ database: backend.database, logger: keepingLogger() });
  stack.defer(() => queues.close({ timeoutMs: 0 }));
  const line = new Line('line', [Number(new URL(gateway.origin).port)]);
  await line.start();
  stack.defer(() => line.stop());
  const enrolment = await gateway.enroll('agent-far-away', null, line.url);
  line.cut(true);
  const printer = new TestPrinter(directories);
  await printer.start();
  stack.defer(() => printer.stop());

  const logger = keepingLogger();
  const retry = { first: 10, most: 100 };
  const queue = await openGateway({ agent: enrolment, logger, retry, onJoined: () => agent.reached() });
  stack.defer(() => queue.close({ timeoutMs: 0 }));
  const agent = new Agent({
    config: {
      ...{ dataDir: directories.make(), id: enrolment.agentId, name: 'Dock' },
      // It asks again after 20 s by itself.
      timings: { ...QUICK, lease: MOST_LEASE },
      printers: [{ uri: printer.uri, name: 'Dock', dpi: 203, width: 50, height: 25 }],
    },
    ...{ queue, drivers: testDrivers },
    logger: pino({ level: 'warn' }, { write: (text) => void logger.lines.push(text) }),
  });
  await agent.start();
  stack.defer(() => agent.stop({ graceMs: 0 }));
  await expect.poll(() => logger.lines.join()).toContain('leases cannot be asked for');
  const lane = laneOf({ scope: null, printerId: agent.printers[0]?.id ?? '' });
  line.mend();
  const holder = async () => (await queues.leaseHolders([lane])).get(lane);
  await expect.poll(holder, { timeout: 15_000 }).toBe(enrolment.agentId);
});
