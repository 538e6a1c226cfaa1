/** A service that is away for long: an agent goes on trying, as often as it may, and is there with the first answer. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { PROTOCOL } from '../../src/contract/gateway.ts';
import { RETRY } from '../../src/queue/gateway/connection.ts';
import { GatewayLanes } from '../../src/queue/gateway/lanes.ts';
import { ErrorLog } from '../../src/queue/queue-log.ts';
import { keepingLogger } from '../kit/queue/samples.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

/** More than an hour has: after some minutes it tries every half a minute on average. */
const TRIES = 200;

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
  const place = { origin, agentId: 'agent-far-away', scope: null, privateKey, version: '1' };
  const retry = { first: 1, most: 2 };
  const lanes = new GatewayLanes({ place, logger, errors: new ErrorLog(logger), retry });
  onTestFinished(() => lanes.close());
  await expect.poll(() => lanes.answers(), { timeout: 60_000 }).toBe(true);
  expect(tries).toBe(TRIES + 1);
  expect(RETRY.most).toBe(60_000);
  // One line a while, not one a try.
  expect(logger.lines.filter((line) => line.startsWith('not connected')).length).toBeLessThan(5);
});
