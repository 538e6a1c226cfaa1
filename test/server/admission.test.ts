import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as breathe } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { Admission } from '../../src/server/admission.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

let server: Server;
let port: number;
let turns: Admission;

beforeEach(async () => {
  server = createServer(async (request, response) => {
    await turns.take(request.socket.remoteAddress ?? '');
    response.end(await text(request));
  });
  turns = new Admission(server);
  port = await listeningForTest(server);
});

test('who comes once does not wait for one who comes a thousand times', async () => {
  const order: string[] = [];
  const come = (address: string) => turns.take(address).then(() => order.push(address));
  const all = Array.from({ length: 1_000 }, () => come('192.0.2.1'));
  // Of one host, for an IPv6 one has 2^64 addresses.
  const six = Array.from({ length: 1_000 }, (_, host) => come(`2001:db8::${host.toString(16)}`));
  await come('192.0.2.2');
  expect(order.length).toBeLessThan(6);
  await Promise.all([...all, ...six]);
  expect(order).toHaveLength(2_001);
});

test('who has gone takes nobody’s turn', async () => {
  const gone = Array.from({ length: 1_000 }, () => turns.take('192.0.2.1', () => true));
  const waiting = turns.take('192.0.2.1').then(() => 'its turn');
  let rounds = 0;
  const round = async () => {
    await breathe();
    rounds += 1;
    return undefined;
  };
  while ((await Promise.race([waiting, round()])) === undefined);
  expect(rounds).toBeLessThan(10);
  await Promise.all(gone);
});

test('connections that come together are all served, each with its own answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, caller) => {
      const socket = connect(port, '127.0.0.1');
      // Not ended: Node lets go of a request whose caller has.
      socket.write(
        `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 6\r\n\r\n${String(caller).padStart(6, '0')}`,
      );
      return (await text(socket)).slice(-6);
    }),
  );
  expect(answers).toEqual(Array.from({ length: 200 }, (_, caller) => String(caller).padStart(6, '0')));
});

test('a connection that waits does not hold up a stop', async () => {
  const { promise: accepted, resolve } = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  server.once('connection', () => {
    server.close(() => closed.resolve());
    resolve();
  });
  const asked = get({ port, host: '127.0.0.1', agent: false });
  const broken = once(asked, 'error');
  await accepted;
  await closed.promise;
  await expect(broken).resolves.toMatchObject([{ code: 'ECONNRESET' }]);
});
