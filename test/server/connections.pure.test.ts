/**
 * Requests that a connection brings before it has the answers: the first are answered, the rest is not even read. And which
 * connection goes when there are too many.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { boundConnections } from '../../src/server/connections.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

/**
 * A server that takes ten connections. `/known`: its caller is identified. `/stream`: so is this one, and the answer goes on.
 * `/work`: the answer does not come.
 */
async function listening() {
  let made = 0;
  const server = createServer((request, response) => {
    if (request.url === '/known' || request.url === '/stream') connections.identified(request);
    if (request.url === '/stream') new PassThrough().pipe(response).write('data');
    else if (request.url === '/work') connections.works(request);
    else setImmediate(() => response.end('here'));
  });
  const connections = boundConnections(server, 10);
  server.on('request', () => {
    made += 1;
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP port');
  const { port } = address;
  const dial = (localAddress = '127.0.0.1') =>
    connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  /** Connections that the server has, and what it was asked on them. */
  const open = async (count: number, localAddress: string, path?: string): Promise<Socket[]> => {
    const sockets: Socket[] = [];
    for (let one = 0; one < count; one++) {
      const accepted = once(server, 'connection');
      const socket = dial(localAddress).resume();
      sockets.push(socket);
      await accepted;
      if (path === undefined) continue;
      const asked = path === '/work' ? once(server, 'request') : once(socket, 'data');
      socket.write(GET.replace('/', path));
      await asked;
    }
    return sockets;
  };
  return { dial, open, made: () => made };
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.destroyed) await once(socket, 'close', { signal: AbortSignal.timeout(5_000) });
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

describe('one connection too many', () => {
  const [OFFICE, STRANGER, NEIGHBOUR, OTHER] = ['127.0.7.1', '127.0.8.1', '127.0.8.2', '127.0.9.1'];
  const isOpen = (sockets: readonly Socket[]) => sockets.map(({ destroyed }) => !destroyed);

  test('closes an idle stranger, and neither a stream nor one that is known', async () => {
    const { open } = await listening();
    const office = [...(await open(2, OFFICE, '/known')), ...(await open(5, OFFICE, '/stream'))];
    const strangers = await open(40, STRANGER);
    await Promise.all(strangers.slice(0, 37).map(closed));
    expect(isOpen([...office, ...strangers.slice(37)])).toEqual(Array.from({ length: 10 }, () => true));
  });

  test('closes one of the network that has most, around it and by itself, the longest idle first', async () => {
    const { open } = await listening();
    const alone = await open(1, OFFICE);
    const few = await open(3, STRANGER);
    const many = await open(6, NEIGHBOUR);
    const [newcomer] = await open(1, OTHER);
    const [first, ...others] = many;
    if (newcomer === undefined || first === undefined) throw new Error('there is no connection');
    await closed(first);
    expect(isOpen([...alone, ...few, ...others, newcomer])).toEqual(Array.from({ length: 10 }, () => true));
  });

  test('is itself the one where its network has more than that of any that could go', async () => {
    const { open } = await listening();
    const office = await open(2, OFFICE, '/known');
    await open(8, STRANGER, '/work');
    const [refused] = await open(1, STRANGER);
    if (refused === undefined) throw new Error('there is no connection');
    await closed(refused);
    expect(isOpen(office)).toEqual([true, true]);
    const [newcomer] = await open(1, OTHER);
    const [oldest, other] = office;
    if (newcomer === undefined || oldest === undefined || other === undefined)
      throw new Error('there is no connection');
    await closed(oldest);
    expect(isOpen([other, newcomer])).toEqual([true, true]);
  });
});
