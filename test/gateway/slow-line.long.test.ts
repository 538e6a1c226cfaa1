/** A large frame over a slow line, which takes longer than the service may be silent. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { PROTOCOL, type ServiceFrame } from '../../src/contract/gateway.ts';
import { createLogger } from '../../src/log.ts';
import { GatewayConnection, RETRY } from '../../src/queue/gateway/connection.ts';
import { ErrorLogger } from '../../src/queue/queue-log.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

const logger = createLogger({ level: 'silent' });
/** Pieces of the frame, one a second: more than the 10 s after which a silent service is given up. */
const PIECES = 14;

test('each piece of a frame is heard, and the connection stays until the frame is there', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => PROTOCOL });
  server.on('upgrade', (request, raw: Duplex, head) => {
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const say = (frame: ServiceFrame) => socket.send(JSON.stringify(frame));
      socket.on('error', () => undefined);
      socket.on('message', (data: Buffer) => {
        const { kind } = z.object({ kind: z.string() }).parse(JSON.parse(data.toString()));
        if (kind === 'hello') say({ kind: 'challenge', nonce: 'a'.repeat(22) });
        if (kind !== 'proof') return;
        say({ kind: 'welcome', scope: null, name: 'Dock' });
        void drip(raw, JSON.stringify({ kind: 'printers', printers: [] } satisfies ServiceFrame));
      });
    });
  });
  const port = await listeningForTest(server);
  const { privateKey } = generateKeyPairSync('ed25519');
  const said: string[] = [];
  const over = Promise.withResolvers<void>();
  const connection = new GatewayConnection(
    {
      ...{ origin: `http://127.0.0.1:${port}`, agentId: 'agent-far-away', scope: null, version: '1' },
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
    {
      ...{ logger, errors: new ErrorLogger(logger), retry: RETRY },

      listener: {
        joined: () => said.push('joined'),
        said: ({ kind }) => {
          said.push(kind);
          over.resolve();
        },
        waitsSince: () => undefined,
        moved: () => said.push('moved'),
        lost: () => {
          said.push('lost');
          over.resolve();
        },
      },
    },
  );
  onTestFinished(() => connection.close());
  await over.promise;
  expect(said).toEqual(['joined', 'printers']);
}, 120_000);

/** One text frame of the service's (RFC 6455, 5.2), as a slow line brings it. */
async function drip(raw: Duplex, text: string): Promise<void> {
  raw.on('error', () => undefined);
  const frame = Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]);
  const size = Math.ceil(frame.length / PIECES);
  for (let at = 0; at < frame.length && !raw.destroyed; at += size) {
    raw.write(frame.subarray(at, at + size));
    await wait(1_000);
  }
}
