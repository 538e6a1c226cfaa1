/** Callers that read slowly, send halves, or never stop sending: the others are served, and memory stays bounded. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { codeOf, newKey, ServiceHarness } from '../kit/service/harness.ts';
import { takeKey } from '../kit/service/taken-key.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const MIB = 1024 * 1024;
const CONNECTIONS = 120;

const service = useService({ config: { limits: { connections: CONNECTIONS } } });
/** The stranger, and one who is to be served meanwhile. */
const acme = useTenant(service);
const globex = useTenant(service, { id: 'globex' });
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A connection of its own, which reads nothing until it is asked to. */
async function dial(): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => undefined).pause();
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

function head(path: string, headers: Record<string, string> = {}): string {
  const all = { host: 'platen', 'x-tenant': 'acme', 'content-type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

async function written(socket: Socket, chunk: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/** Bytes of buffers, ours and the service's. */
function buffered(): number {
  return process.memoryUsage().arrayBuffers;
}

async function expectServed(): Promise<void> {
  expect((await service.call('/healthz')).status).toBe(200);
  const answer = await globex.enqueue({
    data: [{ sku: 'A-1', other: 'x'.repeat(30_000), more: 'y'.repeat(30_000) }],
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
}

describe('what is the same for everybody', () => {
  test.each(['/docs/', '/docs/js/scalar.js', '/docs/js/start.js', '/openapi.json'])(
    '%s is sent compressed, or not at all',
    async (path) => {
      const plain = await service.call(path, { headers: { 'accept-encoding': 'gzip;q=0, identity' } });
      expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null]);
      const response = await fetch(service.url + path, { headers: { 'accept-encoding': 'br, gzip' } });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(response.headers.get('vary')).toBe('accept-encoding');
      expect(await response.text()).toBe(plain.text);
      const tag = response.headers.get('etag') ?? '';
      expect(tag).not.toBe(plain.headers.get('etag'));
      for (const known of [tag, `"other", W/${tag}`, '*']) {
        const again = await fetch(service.url + path, {
          headers: { 'accept-encoding': 'gzip', 'if-none-match': known },
        });
        expect([again.status, await again.text()]).toEqual([304, '']);
      }
      const changed = await fetch(service.url + path, { headers: { 'if-none-match': '"other"' } });
      expect(changed.status).toBe(200);
      await changed.body?.cancel();
    },
  );

  test('the page has no script inside, and may run none', async () => {
    const page = await service.call('/docs/');
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|\son\w+=|javascript:/i);
    expect(page.headers.get('content-security-policy')).toMatch(/(?:^|; )script-src 'self';/);
    for (const [, src] of page.text.matchAll(/<script[^>]* src="([^"]*)"/g))
      expect((await service.call(`/docs/${src}`)).status).toBe(200);
  });

  test('nothing else is there, and the script is compressed to a quarter at least', async () => {
    expect(codeOf(await service.call('/docs/../package.json'))).toBe('not-found');
    expect(codeOf(await service.call('/docs/js/other.js'))).toBe('not-found');
    const socket = await dial();
    await written(
      socket,
      'GET /docs/js/scalar.js HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n',
    );
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    const answer = Buffer.concat(chunks);
    const body = answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    expect(gunzipSync(body).length).toBeGreaterThan(4 * body.length * 0.8);
    expect(body.length).toBeLessThan(1.5 * MIB);
  });

  test.each([
    ['no HTTP', '\x16\x03\x01\r\n\r\n', 400, 'request-malformed'],
    ['a body without its length', `${head('/v2/jobs')}{}`, 400, 'request-malformed'],
    [
      'two lengths',
      `${head('/v2/jobs', { 'content-length': '2\r\ncontent-length: 3' })}{}`,
      400,
      'request-malformed',
    ],
    ['too long headers', head('/v2/jobs', { 'x-long': 'x'.repeat(20_000) }), 431, 'headers-too-large'],
  ])('%s is refused in the form of all errors', async (_, request, status, code) => {
    const socket = await dial();
    await written(socket, request);
    const answer = await text(socket);
    expect(answer).toMatch(`HTTP/1.1 ${status} `);
    expect(answer).toMatch(/\r\ncontent-type: application\/problem\+json/);
    const problem: unknown = JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n')));
    expect(problem).toMatchObject({ status, code, requestId: expect.any(String) });
  });

  test('slow readers without number share it', async () => {
    await service.call('/docs/js/scalar.js');
    const before = buffered();
    for (let reader = 0; reader < 100; reader++) {
      const socket = await dial();
      await written(
        socket,
        'GET /docs/js/scalar.js HTTP/1.1\r\nhost: x\r\naccept-encoding: identity\r\n\r\n',
      );
      await once(socket, 'readable');
    }
    expect(buffered() - before).toBeLessThan(40 * MIB);
    await expectServed();
  });
});

test.each(['/oauth/token', '/v2/jobs'])(
  'a caller who hangs up before the body of %s is in gets no answer, and is in the log',
  async (path) => {
    const socket = await dial();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const headers =
      path === '/oauth/token' ? type : { authorization: `Bearer ${acme.token}`, 'idempotency-key': 'k' };
    const before = service.log.length;
    await written(socket, `${head(path, { ...headers, 'content-length': '9000' })}half`);
    await service.call('/healthz');
    socket.destroy();
    const line = `"route":"${path}","status":499`;
    await vi.waitFor(() => expect(service.log.slice(before)).toContain(line), { timeout: 10_000 });
    await expectServed();
  },
);

test('one connection too many closes the one that has been idle for longest, not the newcomer', async () => {
  const idle: Socket[] = [];
  for (let one = 0; one < CONNECTIONS; one++) idle.push(await dial());
  const [first] = idle;
  if (first === undefined) throw new Error('there is no connection');
  const closed = once(first.resume(), 'end');
  await dial();
  await closed;
  await expectServed();
});

test('a request that is being worked on keeps its connection', async () => {
  const key = newKey();
  // Another has the tenant's key, so this one waits in the database.
  await using taken = await takeKey(service.pool, 'globex', key);
  const waiting = globex.enqueue({ data: [{}] }, { key });
  const locks = async () => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    return (await service.pool.query(sql)).rows.length;
  };
  await expect.poll(locks).toBe(1);
  for (let one = 0; one < CONNECTIONS + 5; one++) await dial();
  await taken.release();
  expect((await waiting).status).toBe(201);
});

test('a request that has no body keeps its connection, too', async () => {
  const client = await service.pool.connect();
  try {
    await client.query('BEGIN; LOCK TABLE platen.sessions');
    const cookie = `platen-session=${'x'.repeat(43)}`;
    const waiting = service.call('/app/session', { headers: { cookie } });
    const locks = async () => {
      const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return (await service.pool.query(sql)).rows.length;
    };
    await expect.poll(locks).toBe(1);
    for (let one = 0; one < CONNECTIONS + 5; one++) await dial();
    await client.query('ROLLBACK');
    expect(codeOf(await waiting)).toBe('session-ended');
  } finally {
    client.release();
  }
});

test('a body that is in before its request has its turn is read', async () => {
  const bodies = await Promise.all(
    Array.from({ length: 40 }, () =>
      service.call('/app/session', { body: {}, headers: { 'x-platen-console': '1' } }),
    ),
  );
  expect(bodies.map(codeOf)).toEqual(bodies.map(() => 'payload-invalid'));
});

test('a caller who does not wait for answers is hung up on, and one who hardly does has them', async () => {
  const ask = 'GET /nothing HTTP/1.1\r\nhost: x\r\n';
  const patient = await dial();
  await written(patient, `${ask}\r\n${ask}\r\n${ask}connection: close\r\n\r\n`);
  expect((await text(patient)).match(/HTTP\/1.1 404 /g)).toHaveLength(3);
  const before = process.memoryUsage().heapUsed;
  for (let one = 0; one < 5; one++) {
    const socket = await dial();
    const closed = new Promise((resolve) => socket.resume().once('close', resolve));
    socket.write(`${ask}\r\n`.repeat(20_000));
    await closed;
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * MIB);
  await expectServed();
});

test('halves of large bodies take bounded room, and none of another tenant', async () => {
  const before = buffered();
  const half = Buffer.alloc(4 * MIB, ' ');
  const length = String(5 * MIB);
  const headers = {
    authorization: `Bearer ${acme.token}`,
    'content-length': length,
    'idempotency-key': newKey(),
  };
  for (let one = 0; one < 60; one++) {
    const socket = await dial();
    await written(socket, head('/v2/jobs', headers));
    socket.write(half);
  }
  await expectServed();
  const large = await globex.enqueue({
    data: Array.from({ length: 100 }, () => ({ other: 'x'.repeat(20_000), more: 'y'.repeat(20_000) })),
  });
  expect([large.status, large.text]).toEqual([201, expect.any(String)]);
  expect(buffered() - before).toBeLessThan(80 * MIB);
});

test('whoever does not say who it is has nothing read', async () => {
  for (let one = 0; one < 50; one++) {
    const socket = await dial();
    await written(socket, head('/v2/jobs', { 'content-length': String(5 * MIB) }));
    await written(socket, Buffer.alloc(64 * 1024));
  }
  await expectServed();
});

describe('an answer before the body is in reaches a client that writes it all first', () => {
  const large = Buffer.alloc(20 * MIB, ' ');
  const chunked = Buffer.concat([
    Buffer.from(`${large.length.toString(16)}\r\n`),
    large,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  const length = { 'content-length': String(large.length) };
  test.each([
    ['413, told beforehand', 413, { ...length }, large],
    ['413, and it wants the connection closed', 413, { ...length, connection: 'close' }, large],
    ['413, in chunks', 413, { 'transfer-encoding': 'chunked' }, chunked],
    ['413, in chunks, and closed', 413, { 'transfer-encoding': 'chunked', connection: 'close' }, chunked],
    ['401', 401, { ...length, authorization: 'Bearer x', connection: 'close' }, large],
    ['400 for a missing key', 400, { ...length, 'idempotency-key': '', connection: 'close' }, large],
  ])('%s', async (_name, status, headers, body) => {
    const socket = await dial();
    const all = { authorization: `Bearer ${acme.token}`, 'idempotency-key': newKey(), ...headers };
    await written(socket, head('/v2/jobs', all));
    await written(socket, body);
    socket.end();
    const answer = await text(socket.resume());
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\{.*"status":\d+.*\}$/);
  });

  test('and one that reads at once has it at once', async () => {
    const socket = await dial();
    await written(
      socket,
      head('/v2/jobs', { authorization: `Bearer ${acme.token}`, 'idempotency-key': 'k', ...length }),
    );
    const [chunk] = await once(socket.resume(), 'data');
    expect(String(chunk)).toMatch(/^HTTP\/1.1 413 .*\}$/s);
    socket.destroy();
  });

  test('one that never stops sending is hung up on', async () => {
    const socket = await dial();
    await written(socket, head('/v2/jobs', { 'transfer-encoding': 'chunked' }));
    const closed = new Promise((resolve) => socket.resume().once('close', resolve));
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB), Buffer.from('\r\n')]);
    for (let sent = 0; sent < 500 && !socket.destroyed; sent++)
      await written(socket, chunk).catch(() => undefined);
    await closed;
  });
});

test('slow bodies of several accounts of a tenant keep none of another tenant waiting', async () => {
  const integrations = [1, 2, 3, 4].map(() => service.integration('acme', ['jobs:enqueue']));
  const accounts = await Promise.all(integrations.map(async (one) => await service.token(await one)));
  const dripping: Socket[] = [];
  for (const token of accounts) {
    const headers = { authorization: `Bearer ${token}`, 'content-length': String(5 * MIB) };
    for (let one = 0; one < 20; one++) {
      const socket = await dial();
      await written(socket, head('/v2/jobs', { ...headers, 'idempotency-key': newKey() }));
      dripping.push(socket);
    }
  }
  const drip = setInterval(() => {
    for (const socket of dripping) socket.write(Buffer.alloc(1024, ' '));
  }, 100);
  try {
    const large = { data: Array.from({ length: 100 }, () => ({ other: 'x'.repeat(20_000) })) };
    // Without room for them they would be answered 500 after ten seconds.
    const answers = await Promise.all(Array.from({ length: 4 }, () => globex.enqueue(large)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  } finally {
    clearInterval(drip);
  }
});

test('a body that comes too slowly while others wait is told so, and its place is free', async () => {
  const headers = { authorization: `Bearer ${acme.token}`, 'content-length': String(5 * MIB) };
  const slow = await dial();
  await written(slow, head('/v2/jobs', { ...headers, 'idempotency-key': newKey(), connection: 'close' }));
  for (let one = 0; one < 4; one++) {
    await written(await dial(), head('/v2/jobs', { ...headers, 'idempotency-key': newKey() }));
  }
  const [said] = await once(slow.resume(), 'data');
  expect(String(said)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request-late"/);
});

test('a connection that brings nothing is closed without an answer, and one that brings half a request with one', async () => {
  const said = { silent: '', half: '' };
  const ends = (['silent', 'half'] as const).map(async (name) => {
    const socket = await dial();
    socket.on('data', (data) => {
      said[name] += String(data);
    });
    if (name === 'half') socket.write('POST /v2/jobs HTTP/1.1\r\n');
    await once(socket.resume(), 'end');
  });
  await Promise.all(ends);
  expect(said.silent).toBe('');
  expect(said.half).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request-late"/);
}, 60_000);

test('a request that comes in while the service stops is answered as ever', async () => {
  const stopping = await ServiceHarness.start({ redis: false });
  const { hostname, port } = new URL(stopping.url);
  const to = () => connect({ host: hostname, port: Number(port) }).on('error', () => undefined);
  // Half of it is there, so that the connection is not idle.
  const late = to();
  late.write('GET /openapi.json HTTP/1.1\r\nhost: ');
  sockets.push(late);
  // An answer on another connection: what was sent before it has been read.
  await (await fetch(`${stopping.url}/healthz`)).text();
  const stopped = stopping.stop();
  // Until it listens no more: from then on it stops.
  await vi.waitUntil(async () => {
    const other = to();
    const { promise: refused, resolve } = Promise.withResolvers<boolean>();
    other.once('connect', () => resolve(false)).once('close', () => resolve(true));
    const isRefused = await refused;
    other.destroy();
    return isRefused;
  });
  late.write('platen\r\n\r\n');
  expect(await text(late)).toMatch(/^HTTP\/1.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/i);
  await stopped;
});
