import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { ChangeFeed } from '../../src/server/events/change-feed.ts';
import { createPool } from '../../src/server/store/pool.ts';
import { Collected } from '../kit/queue/samples.ts';
import { listening } from '../kit/wire/listening.ts';

/** PostgreSQL's protocol 3.0: AuthenticationOk, ReadyForQuery. */
const LET_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
const QUERY = 'Q'.charCodeAt(0);

test('a connection that breaks before it listens ends nothing: there is a next one', async () => {
  const connections = new Collected<string>();
  const server = createServer((socket) => {
    connections.add('one');
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data[0] === QUERY) socket.destroy();
      else socket.write(LET_IN);
    });
  });
  const port = await listening(server);
  const logger = createLogger({ level: 'silent' });
  const database = { host: '127.0.0.1', port, user: 'platen', password: 'x', database: 'platen' };
  const pool = createPool({ database, max: 1, logger });
  const feed = new ChangeFeed({ database, pool, logger });
  feed.start();
  expect(await connections.reach(2)).toEqual(['one', 'one']);
  await feed.stop();
  await pool.end();
  server.close();
});
