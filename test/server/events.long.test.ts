/** What open pages are told: which jobs and printers have changed, only their own, in time, and until the session ends. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { changes } from '../../src/contract/people.ts';
import { PostgresClient } from '../../src/queue/index.ts';
import { ADMIN_TOKEN, codeOf, jobIdOf, PRINTER, ServiceHarness, TEMPLATE } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

/** s */
const HEARTBEAT = 1;
/** ms that a change is waited for on a busy machine; it is told within 2 s. */
const SOON = 15_000;

const service = useService({ config: { events: { heartbeat: HEARTBEAT, perTenant: 6, perPerson: 4 } } });
const acme = useTenant(service);
let viewer: SignedIn;
let other: SignedIn;
beforeAll(async () => {
  await service.tenant('globex');
  viewer = await SignedIn.as(service, 'acme', 'viewer');
  other = await SignedIn.as(service, 'globex', 'admin');
});

const opened: EventStream[] = [];
beforeEach(async () => {
  for (const stream of opened.splice(0)) await stream.close();
});

/** What a browser's EventSource does. */
class EventStream {
  text = '';
  ended = false;
  readonly #closing: AbortController;

  private constructor(response: Response, closing: AbortController) {
    this.#closing = closing;
    void this.#read(response);
    opened.push(this);
  }

  static async open(headers: Record<string, string>, at = service): Promise<EventStream> {
    const closing = new AbortController();
    const response = await fetch(`${at.url}/app/events`, { headers, signal: closing.signal });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const stream = new EventStream(response, closing);
    await stream.has('event: resync');
    return stream;
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) this.text += decoder.decode(chunk, { stream: true });
    } catch {
      // Cut.
    }
    this.ended = true;
  }

  get jobs(): string[] {
    return [...this.text.matchAll(/^event: changed\ndata: (.*)$/gm)].flatMap(
      ([, data = '']) => changes.parse(JSON.parse(data)).jobs,
    );
  }

  async has(text: string): Promise<void> {
    await vi.waitFor(() => expect(this.text).toContain(text), { timeout: SOON, interval: 20 });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await vi.waitFor(() => expect(this.ended).toBe(true), { timeout: SOON });
  }
}

async function print(): Promise<string> {
  return jobIdOf(await acme.byAdmin({ data: [{ sku: '1', name: 'secret value' }] }));
}

test('a new job, and what is done to it, reaches its tenant’s pages and no others', async () => {
  const mine = await EventStream.open({ cookie: viewer.cookie });
  const theirs = await EventStream.open({ cookie: other.cookie });
  const machine = await EventStream.open({ authorization: `Bearer ${ADMIN_TOKEN}` });
  const job = await print();
  await mine.has(job);
  await machine.has(job);
  const before = mine.jobs.length;
  expect((await service.admin('POST', `/jobs/${job}/cancel`)).status).toBe(200);
  await vi.waitFor(() => expect(mine.jobs.length).toBeGreaterThan(before), SOON);
  // A printer that all may use says itself to all that it has changed: they have seen the time pass.
  await theirs.has(PRINTER);
  expect(theirs.text).not.toContain(job);
  expect(mine.text + machine.text).not.toContain('secret value');
});

test('what an agent reports is told', async () => {
  const stream = await EventStream.open({ cookie: viewer.cookie });
  const job = await print();
  await stream.has(job);
  const seen = stream.jobs.length;
  await service.queues.publish(
    {
      kind: 'job',
      agentId: 'agent-one',
      jobId: job,
      printerId: PRINTER,
      delivery: 1,
      seq: 1,
      at: new Date().toISOString(),
      status: 'printing',
      labels: { sent: 1, printed: 0 },
      reasons: ['media-empty'],
    },
    null,
  );
  await vi.waitFor(() => expect(stream.jobs.length).toBeGreaterThan(seen), SOON);
});

test('nobody without a session, and no more streams than a person and a tenant may have', async () => {
  expect((await service.call('/app/events')).status).toBe(401);
  const foreign = { cookie: viewer.cookie, 'sec-fetch-site': 'cross-site' };
  expect(codeOf(await service.call('/app/events', { headers: foreign }))).toBe('origin-foreign');
  for (let count = 0; count < 4; count += 1) await EventStream.open({ cookie: viewer.cookie });
  const fifth = await viewer.call('/app/events');
  expect([fifth.status, codeOf(fifth)]).toEqual([429, 'too-many-streams']);
  const colleague = await SignedIn.as(service, 'acme', 'viewer', 'colleague');
  for (let count = 0; count < 2; count += 1) await EventStream.open({ cookie: colleague.cookie });
  expect(codeOf(await colleague.call('/app/events'))).toBe('too-many-streams');
  await EventStream.open({ cookie: other.cookie });
  await opened[0]?.close();
  await vi.waitFor(async () => void (await EventStream.open({ cookie: viewer.cookie })), SOON);
});

test('a stream ends with its session, and when its person may see less', async () => {
  const person = await SignedIn.as(service, 'acme', 'admin', 'leaving');
  const first = await EventStream.open({ cookie: person.cookie });
  await vi.waitFor(() => expect(first.text.split('event: here\ndata: 1\n').length).toBeGreaterThan(2), SOON);
  expect((await service.admin('PUT', `/tenants/acme/people/${person.id}`, { role: 'viewer' })).status).toBe(
    200,
  );
  await vi.waitFor(() => expect(first.ended).toBe(true), 3 * HEARTBEAT * 1_000);
  const second = await EventStream.open({ cookie: person.cookie });
  await service.admin('DELETE', `/tenants/acme/people/${person.id}`);
  await vi.waitFor(() => expect(second.ended).toBe(true), 3 * HEARTBEAT * 1_000);
});

test('it ends within seconds, however seldom there are signs of life', async () => {
  const quiet = await ServiceHarness.start({ config: { events: { heartbeat: 50 } } });
  onTestFinished(() => quiet.stop());
  await quiet.tenant('acme');
  const person = await SignedIn.as(quiet, 'acme', 'admin', 'leaving');
  const stream = await EventStream.open({ cookie: person.cookie }, quiet);
  await quiet.admin('PUT', `/tenants/acme/people/${person.id}`, { role: 'viewer' });
  await vi.waitFor(() => expect(stream.ended).toBe(true), 15_000);
});

test('whether their sessions have ended is one question for all streams together', async () => {
  const crowd = await ServiceHarness.start({
    config: { events: { heartbeat: HEARTBEAT, perTenant: 100, perPerson: 30 } },
  });
  onTestFinished(() => crowd.stop());
  await crowd.tenant('acme');
  const people = await Promise.all(
    ['one', 'two', 'three'].map((name) => SignedIn.as(crowd, 'acme', 'viewer', name)),
  );
  const [first, leaving] = people;
  if (first === undefined || leaving === undefined) throw new Error('nobody is there');
  const stream = await EventStream.open({ cookie: first.cookie }, crowd);
  const asked = vi.spyOn(PostgresClient.prototype, 'query');
  onTestFinished(() => asked.mockRestore());
  /** Statements about sessions while the first stream hears three signs of life. */
  const inThree = async () => {
    const beats = () => stream.text.split('event: here').length;
    const from = beats();
    const before = asked.mock.calls.length;
    await vi.waitFor(() => expect(beats()).toBeGreaterThanOrEqual(from + 3), {
      timeout: 20_000,
      interval: 20,
    });
    const since = asked.mock.calls.slice(before).map(([query]) => textOf(query));
    return since.filter((text) => text.includes('platen.sessions')).length;
  };
  const alone = await inThree();
  expect(alone).toBeGreaterThanOrEqual(2);
  expect(alone).toBeLessThanOrEqual(4);
  const others: EventStream[] = [];
  for (const { cookie } of people) {
    for (let count = 0; count < 20; count += 1) others.push(await EventStream.open({ cookie }, crowd));
  }
  expect(await inThree()).toBeLessThanOrEqual(4);
  // And it is a question about each of them.
  await crowd.admin('DELETE', `/tenants/acme/people/${leaving.id}`);
  const ends = others.slice(20, 40);
  await vi.waitFor(() => expect(ends.every(({ ended }) => ended)).toBe(true), 3 * HEARTBEAT * 1_000);
  expect([...others.slice(0, 20), ...others.slice(40)].some(({ ended }) => ended)).toBe(false);
});

/** A statement as a client is given it. */
function textOf(query: unknown): string {
  return typeof query === 'string'
    ? query
    : (z.looseObject({ text: z.string() }).safeParse(query).data?.text ?? '');
}

test('what a tenant has and seldom changes is told to its own pages, by its tenant', async () => {
  const [own, foreign] = [
    await EventStream.open({ cookie: viewer.cookie }),
    await EventStream.open({ cookie: other.cookie }),
  ];
  await service.admin('POST', '/tenants/acme/templates', { ...TEMPLATE, name: 'Told' });
  await own.has('"tenants":["acme"]');
  // What came later is told, so nothing was on its way.
  await service.admin('POST', '/tenants/globex/templates', { ...TEMPLATE, name: 'Told' });
  await foreign.has('"tenants":["globex"]');
  expect([own.text.includes('globex'), foreign.text.includes('acme')]).toEqual([false, false]);
});

test('after the database was away, everything is to be asked for again', async () => {
  const stream = await EventStream.open({ cookie: viewer.cookie });
  const resyncs = () => stream.text.split('event: resync').length - 1;
  expect(resyncs()).toBe(1);
  const { rowCount } = await service.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'platen-listening' AND datname = current_database()`,
  );
  expect(rowCount).toBe(1);
  await vi.waitFor(() => expect(resyncs()).toBe(2), 10_000);
  await stream.has(await print());
});

test('a reader that does not read is cut, and the others are not', async () => {
  const stream = await EventStream.open({ cookie: viewer.cookie });
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(`GET /app/events HTTP/1.1\r\nhost: platen\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  socket.pause();
  const [, requestId = 'none'] = /^x-request-id: (\S+)/im.exec(String(head)) ?? [];
  // A stream is logged when it has ended: this one, and not those of the tests before.
  const cut = () => service.log.includes(requestId);
  expect([requestId, cut()]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), false]);
  const many = Array.from({ length: 1_900 }, () => 'p'.repeat(150)).map((name, index) => `${name}${index}`);
  await service.pool.query(
    `INSERT INTO platen.agent_printers (agent_id, printer_id, name, uri, state, reasons, formats)
     SELECT 'agent-one', id, id, 'socket://x', 'idle', '{}', '[]' FROM unnest($1::text[]) AS id`,
    [many],
  );
  await vi.waitFor(
    async () => {
      await service.pool.query(
        `SELECT pg_notify('platen_changes', json_build_object('printers', json_agg(id))::text)
         FROM unnest($1::text[]) WITH ORDINALITY AS u(id, n) GROUP BY n % 60`,
        [many],
      );
      expect(cut()).toBe(true);
    },
    { timeout: 60_000, interval: 300 },
  );
  await stream.has(await print());
  socket.destroy();
});

test('open streams do not hold up a stop', async () => {
  const short = await ServiceHarness.start();
  await short.tenant('acme');
  const stream = await EventStream.open({ authorization: `Bearer ${ADMIN_TOKEN}` }, short);
  const began = performance.now();
  await short.stop();
  expect(performance.now() - began).toBeLessThan(5_000);
  await vi.waitFor(() => expect(stream.ended).toBe(true), SOON);
});
