import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { ChangeFeed, type News } from '../../src/server/events/change-feed.ts';
import { createPool } from '../../src/server/store/pool.ts';
import { Collected } from '../kit/queue/samples.ts';
import { onRedis, onServer } from '../kit/servers/backends.ts';
import { PRINTER, ServiceHarness } from '../kit/service/harness.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';
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

test('what could not be told while the connection was away is made up for at the other instances', async () => {
  const backend = await onRedis().open();
  const url = new URL(backend.databaseUrl ?? '');
  const road = new BreakableRoad(url.hostname, Number(url.port || 5432));
  await road.open();
  url.port = String(road.port);
  const logger = createLogger({ level: 'silent' });
  const pool = createPool({ database: backend.database, max: 1, logger });
  const cutOff = new ChangeFeed({ database: { connectionString: url.href }, pool, logger });
  const other = new ChangeFeed({ database: backend.database, pool, logger });
  try {
    const heard = new Collected<News>();
    const here = new Collected<News>();
    other.listen({ tenant: undefined, hear: (news) => heard.add(news) });
    cutOff.listen({ tenant: undefined, hear: (news) => here.add(news) });
    other.start();
    expect(await heard.reach(1)).toEqual(['all']);
    cutOff.start();
    await here.reach(1);
    cutOff.tell({ tenants: ['told'] });
    expect((await heard.reach(2))[1]).toMatchObject({ tenants: ['told'] });
    await road.close();
    // Gathered for less time than passes before the next connection.
    cutOff.tell({ tenants: ['lost'] });
    await road.open();
    expect((await heard.reach(3))[2]).toBe('all');
    cutOff.tell({ tenants: ['after'] });
    expect((await heard.reach(4))[3]).toMatchObject({ tenants: ['after'] });
  } finally {
    await cutOff.stop();
    await other.stop();
    await pool.end();
    await road.close();
    await backend.close();
  }
});

test('a job may be named as a report may name it, and no page has to ask for everything', async () => {
  const backend = await onRedis().open({ migrated: true });
  const logger = createLogger({ level: 'silent' });
  const pool = createPool({ database: backend.database, max: 1, logger });
  const feed = new ChangeFeed({ database: backend.database, pool, logger });
  try {
    const heard = new Collected<News>();
    feed.listen({ tenant: undefined, hear: (news) => heard.add(news) });
    feed.start();
    expect(await heard.reach(1)).toEqual(['all']);
    // It has neither the version nor the variant of a UUID (RFC 9562).
    feed.tell({ jobs: ['00000000-0000-0000-f000-000000000000'], tenants: ['told'] });
    expect((await heard.reach(2))[1]).toMatchObject({ jobs: [], tenants: ['told'] });
  } finally {
    await feed.stop();
    await pool.end();
    await backend.close();
  }
});

test('where the lanes are in the same database, one connection hears of lanes, reports and changes', async () => {
  const service = await ServiceHarness.start({ backend: onServer() });
  const listening = async () => {
    const { rows } = await service.pool.query(
      `SELECT count(*)::int AS connections FROM pg_stat_activity
       WHERE application_name = 'platen-listening' AND datname = current_database()`,
    );
    return rows;
  };
  const heard = new Collected<string>();
  const stop = service.queues.lanes.listen(PRINTER, () => heard.add('rung'));
  try {
    await expect.poll(listening).toEqual([{ connections: 1 }]);
    // Once for the moment at which the channel is heard, which may have come before this listener.
    await service.pool.query("SELECT pg_notify('platen_lanes', $1)", [PRINTER]);
    await heard.reach(1);
    expect(await listening()).toEqual([{ connections: 1 }]);
  } finally {
    stop();
    await service.stop();
  }
});
