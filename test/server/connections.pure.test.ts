/** Requests that a connection brings before it has the answers: the first are answered, the rest is not even read. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { boundConnections } from '../../src/server/connections.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

async function listening() {
  let made = 0;
  const server = createServer((_, response) => setImmediate(() => response.end('here')));
  boundConnections(server, 10);
  server.on('request', () => {
    made += 1;
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP port');
  const { port } = address;
  return { dial: () => connect(port, '127.0.0.1').on('error', () => undefined), made: () => made };
}

/** Sends so many requests, and reads until the server hangs up, with or without a reset. */
function greedy(socket: Socket, requests: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.resume().once('close', () => resolve());
  socket.write(GET.repeat(requests));
  return promise;
}

test('of thousands that come in together Node makes no more than it takes to see that they are too many', async () => {
  const { dial, made } = await listening();
  await greedy(dial(), 20_000);
  expect(made()).toBe(5);
});

test('a parser that was told to read no further serves the connections after it', async () => {
  const { dial, made } = await listening();
  for (let round = 0; round < 20; round += 1) {
    await greedy(dial(), 2_000);
    const before = made();
    const modest = dial();
    modest.end(GET.repeat(3));
    expect((await text(modest)).match(/here/g)).toHaveLength(3);
    expect(made() - before).toBe(3);
  }
});
