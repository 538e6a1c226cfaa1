/** The server's life: start and stop, readiness, logging, failures of what it depends on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { serverConfig } from '../../src/server/config.ts';
import { Server } from '../../src/server/server.ts';
import {
  ADMIN_TOKEN,
  codeOf,
  jobIdOf,
  newKey,
  PRINTER,
  ServiceHarness,
  TEMPLATE,
} from '../kit/service/harness.ts';
import { takeKey } from '../kit/service/taken-key.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
useTenant(service);

describe('health', () => {
  test('ready with database and queue', async () => {
    expect((await service.call('/healthz')).body).toEqual({ status: 'ok' });
    expect((await service.call('/readyz')).body).toEqual({ status: 'ready' });
  });

  test('without the queue it is not ready, but takes jobs and adds them when the queue is back', async () => {
    let away = true;
    const alone = await ServiceHarness.start({
      config: { sweepInterval: 50 },
      queue: (real) => ({
        backend: real.backend,
        enqueue: (...jobs) => (away ? Promise.reject(new Error('away')) : real.enqueue(...jobs)),
        ping: () => (away ? Promise.reject(new Error('away')) : real.ping()),
        remove: (lane, jobId) => real.remove(lane, jobId),
        look: (lane, jobId) => real.look(lane, jobId),
        takeAway: (lane, jobId) => real.takeAway(lane, jobId),
        markCanceled: (lane, jobId, canceled) => real.markCanceled(lane, jobId, canceled),
        markHeld: (lane, held) => real.markHeld(lane, held),
        leaseHolders: (lanes) => (away ? Promise.reject(new Error('away')) : real.leaseHolders(lanes)),
        hasUnread: (agentId, scope) => real.hasUnread(agentId, scope),
        consumeReports: (handler) =>
          away ? Promise.reject(new Error('away')) : real.consumeReports(handler),
      }),
    });
    const answer = await alone.call('/readyz');
    expect([answer.status, codeOf(answer)]).toEqual([503, 'not-ready']);
    await alone.tenant('acme');
    await alone.agent([{}]);
    const body = { idT: await alone.template('acme'), printerId: PRINTER };
    const id = jobIdOf(await alone.admin('POST', '/tenants/acme/jobs', body));
    const printers = async () => (await alone.admin('GET', '/printers')).body;
    expect(await printers()).toMatchObject([{ id: PRINTER, agents: [{ online: true, serves: null }] }]);
    const told = alone.log.split('\n').find((line) => line.includes('does not say which agents serve'));
    expect(JSON.parse(told ?? '{}')).toMatchObject({
      level: 40,
      err: { message: 'away' },
      requestId: expect.stringMatching(/-/),
    });
    away = false;
    expect(await printers()).toMatchObject([{ agents: [{ online: true, serves: false }] }]);
    await expect.poll(() => alone.queues.look(PRINTER, id), { timeout: 10_000 }).not.toBeNull();
    await expect.poll(async () => (await alone.call('/readyz')).status, { timeout: 10_000 }).toBe(200);
    await alone.stop();
  });
});

describe('the server', () => {
  test('every answer carries a request ID, and its log line the same with route, tenant and jobs', async () => {
    const body = { idT: await service.template('acme', { ...TEMPLATE, name: 'Logged' }), printerId: PRINTER };
    const answer = await service.admin('POST', '/tenants/acme/jobs?secret=query-is-not-logged', body);
    const requestId = answer.headers.get('x-request-id') ?? '';
    const line = service.log.split('\n').find((each) => each.includes(requestId)) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      level: 30,
      method: 'POST',
      route: '/app/tenants/:id/jobs',
      status: 201,
      requestId,
      tenant: 'acme',
      jobs: [jobIdOf(answer)],
    });
    expect(service.log).not.toContain('query-is-not-logged');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('a failure of the database is a 500 that may be repeated, without its details, and is logged', async () => {
    const broken = await ServiceHarness.start();
    await broken.tenant('acme');
    await broken.agent([{}]);
    const token = await broken.token(await broken.integration('acme'));
    const body = { idT: await broken.template('acme'), printerId: PRINTER };
    await broken.pool.query('ALTER TABLE platen.idempotency_keys RENAME TO elsewhere');
    const answer = await broken.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body });
    expect([answer.status, answer.body]).toMatchObject([500, { code: 'enqueue-failed', retrySafe: true }]);
    expect(answer.text).not.toMatch(/idempotency_keys|relation|\.ts/);
    expect(broken.log).toContain('relation \\"platen.idempotency_keys\\" does not exist');
    await broken.stop();
  });

  test('a retry that waits too long for the request it repeats is told to come again', async () => {
    const hasty = await ServiceHarness.start({ database: { lock_timeout: 200 } });
    await hasty.agent([{}]);
    const tenant = await hasty.tenant('slow');
    const token = await hasty.token(await hasty.integration(tenant));
    const body = { idT: await hasty.template(tenant), printerId: PRINTER };
    const key = newKey();
    const taken = await takeKey(hasty.pool, tenant, key);
    const answer = await hasty.call('/v2/jobs', { token, tenant, key, body });
    await taken.release();
    expect([answer.status, codeOf(answer)]).toEqual([500, 'enqueue-failed']);
    expect((await hasty.call('/v2/jobs', { token, tenant, key, body })).status).toBe(201);
    await hasty.stop();
  });

  test('start and stop undo each other, and a second start finds everything in place', async () => {
    const server = new Server({
      config: serverConfig.parse({ port: 0 }),
      database: { connectionString: 'postgresql://nobody:secret-password@127.0.0.1:9/none' },
      queues: service.queues,
      logger: createLogger({ level: 'silent' }),
    });
    await server.stop();
    await expect(server.start()).rejects.toMatchObject({
      message: 'The database cannot be used',
      cause: { code: 'ECONNREFUSED' },
    });
    await server.stop();
    await expect(server.ensureTenant({ id: 'x' })).rejects.toThrow('not started');

    await service.server.stop();
    await expect(service.call('/healthz')).rejects.toThrow();
    await service.server.stop();
    const { url } = await service.server.start();
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    await service.server.stop();
  });

  test('stop lets a request in hand finish', async () => {
    const busy = await ServiceHarness.start();
    const { hostname, port } = new URL(busy.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    const body = JSON.stringify({ id: 'late' });
    socket.write(
      `POST /app/tenants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await once(socket, 'data');
    const stopped = busy.server.stop();
    socket.write(body);
    await once(socket, 'close');
    await stopped;
    expect(Buffer.concat(received).toString()).toMatch(/HTTP\/1\.1 201/);
    await busy.stop();
  });
});
