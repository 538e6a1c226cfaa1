/** The trace of a job as a collector gets it: one, from the request to the last label, with the agent's part. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { jobReport } from '../../src/contract/report.ts';
import { createLogger } from '../../src/log.ts';
import { Reports } from '../../src/server/jobs/outcome/reports.ts';
import { toldAndNoted } from '../../src/server/metrics.ts';
import { placeOf } from '../../src/server/traces/trace-parent.ts';
import { Traces } from '../../src/server/traces/traces.ts';
import { jobIdOf, PRINTER } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const anyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^\d+$/) }),
  z.strictObject({
    arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }),
  }),
]);
const attributes = z.array(z.strictObject({ key: z.string(), value: anyValue }));
const nanoseconds = z.string().regex(/^\d{19}$/);
/** As opentelemetry-proto has it, with the JSON names; IDs are in hex there. */
const span = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string(),
  kind: z.int(),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  events: z.array(z.strictObject({ timeUnixNano: nanoseconds, name: z.string(), attributes })).optional(),
  status: z.strictObject({ code: z.int(), message: z.string() }).optional(),
});
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(span) }),
      ),
    }),
  ),
});
type Told = z.output<typeof span> & { service: unknown };

const got: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
/** What is answered next; 200 when it is empty. */
const answers: number[] = [];
const collector = createServer(async (incoming, response) => {
  let body = '';
  for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
  const status = answers.shift() ?? 200;
  got.push({ path: incoming.url ?? '', headers: incoming.headers, body });
  response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('{}');
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
afterAll(() => void collector.close());

const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/otlp`;
const HEADERS = 'authorization=Basic%20abc,x-team=labels';
const service = useService({
  redis: false,
  config: { traces: { endpoint: `${endpoint}/`, headers: HEADERS, service: 'labels' } },
});
const acme = useTenant(service);
beforeEach(async () => {
  got.length = 0;
  answers.length = 0;
  await service.pool.query('DELETE FROM platen.job_traces');
});

const SILENT = createLogger({ level: 'silent' });
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SECRET = 'Erika Mustermann';

const spans = (): Told[] =>
  got
    .flatMap(({ body }) => request.parse(JSON.parse(body)).resourceSpans)
    .flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap((scope) =>
        scope.spans.map((one) => ({ ...one, service: resource.attributes[0]?.value })),
      ),
    );
const told = (count: number) =>
  vi.waitFor(() => expect(spans().length).toBeGreaterThanOrEqual(count), { timeout: 60_000, interval: 50 });
const noted = (where: string) =>
  vi.waitFor(
    async () =>
      expect((await service.pool.query(`SELECT FROM platen.job_traces WHERE ${where}`)).rowCount).toBe(1),
    { timeout: 60_000, interval: 50 },
  );
/** An instance that hears the reports, beside the one that accepts the jobs. */
let hearing: Traces;
let reports: Reports;
const instance = (name = 'labels') =>
  new Traces(endpoint, { headers: HEADERS, service: name }, service.pool, SILENT);
beforeAll(() => {
  hearing = instance();
  reports = new Reports(
    service.pool,
    SILENT,
    toldAndNoted(() => undefined, hearing),
  );
});
afterAll(() => hearing.stop());
const report = async (jobId: string, seq: number, at: Date, more: object) => {
  const said = jobReport.parse({
    ...{ kind: 'job', jobId, agentId: 'agent-one', printerId: PRINTER, at: at.toISOString() },
    ...{ delivery: 1, seq, labels: { sent: 0, printed: 0 }, reasons: [], ...more },
  });
  expect(await reports.apply([{ report: said, ageMs: 0 }])).toEqual([]);
};
const newJob = async (headers: Record<string, string>) =>
  jobIdOf(await acme.enqueue({ data: [{ sku: '1', name: SECRET }], numberCopies: 2 }, { headers }));
const printed = async (headers: Record<string, string>) => {
  const job = await newJob(headers);
  if (headers['traceparent']?.endsWith('-00') !== true) await noted(`job_id = '${job}'`);
  const labels = { sent: 2, printed: 2 };
  await report(job, 1, new Date(), { status: 'printed', labels });
  return job;
};
const named = (name: string) => spans().filter((one) => one.name === name);
const valueOfKey = (one: Told | undefined, key: string) =>
  one?.attributes.find((each) => each.key === key)?.value;

test('one trace from the request to the last label, in the trace of the caller', async () => {
  const job = await newJob({ traceparent: `00-${TRACE}-${CALLER}-01` });
  await noted(`job_id = '${job}'`);
  const began = Date.now();
  await report(job, 1, new Date(began), { status: 'printing' });
  await report(job, 2, new Date(began + 1), { status: 'printing', reasons: ['media-empty'] });
  await report(job, 3, new Date(began + 2), { status: 'printing', labels: { sent: 2, printed: 1 } });
  await report(job, 4, new Date(), { status: 'printed', labels: { sent: 2, printed: 2 } });
  await told(4);
  expect(got.map(({ path }) => path)).toEqual(['/otlp/v1/traces']);
  expect(got[0]?.headers).toMatchObject({ authorization: 'Basic abc', 'x-team': 'labels' });
  expect(got[0]?.headers['content-type']).toBe('application/json');

  const [post, whole, wait, print] = ['POST /v2/jobs', 'job printed', 'wait', 'print'].map(
    (name) => named(name)[0],
  );
  expect(new Set(spans().map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(post).toMatchObject({ parentSpanId: CALLER, kind: 2, service: { stringValue: 'labels' } });
  expect(whole?.parentSpanId).toBe(post?.spanId);
  expect([wait?.parentSpanId, print?.parentSpanId]).toEqual([whole?.spanId, whole?.spanId]);
  expect(print).toMatchObject({ kind: 5, service: { stringValue: 'labels-agent' } });
  expect(print?.events?.map(({ name }) => name)).toEqual(['labels sent']);
  expect(wait?.endTimeUnixNano).toBe(print?.startTimeUnixNano);
  expect(whole?.events?.map(({ name }) => name)).toEqual(['printing', 'waits', 'waits', 'printed']);
  expect(whole?.events?.[1]?.attributes).toContainEqual({
    key: 'platen.reasons',
    value: { arrayValue: { values: [{ stringValue: 'media-empty' }] } },
  });
  expect(valueOfKey(whole, 'platen.job.id')).toEqual({ stringValue: job });
  expect(valueOfKey(whole, 'platen.labels.printed')).toEqual({ intValue: '2' });
  for (const { startTimeUnixNano, endTimeUnixNano } of spans())
    expect(BigInt(startTimeUnixNano)).toBeLessThanOrEqual(BigInt(endTimeUnixNano));
  expect(got[0]?.body).not.toContain(SECRET);
  await vi.waitFor(async () =>
    expect((await service.pool.query('SELECT FROM platen.job_traces')).rowCount).toBe(0),
  );
});

test('a job whose caller does not record is not told; one without a caller begins a trace', async () => {
  await printed({ traceparent: `00-${TRACE}-${CALLER}-00` });
  const job = await printed({});
  await told(4);
  expect(new Set(spans().map((one) => one.traceId)).size).toBe(1);
  expect(named('POST /v2/jobs').map((one) => [one.parentSpanId, valueOfKey(one, 'platen.job.id')])).toEqual([
    [undefined, { stringValue: job }],
  ]);
});

test('a job that no agent had, and one that failed, say how they ended', async () => {
  const canceled = await newJob({});
  await noted(`job_id = '${canceled}'`);
  await service.admin('POST', `/jobs/${canceled}/cancel`);
  const failed = await newJob({});
  await noted(`job_id = '${failed}'`);
  await report(failed, 1, new Date(0), {
    ...{ status: 'failed', labels: { sent: 0, printed: 0 } },
    error: { code: 'printer-refused', message: `The printer refused ${SECRET}` },
  });
  const earlier = "UPDATE platen.jobs SET updated_at = updated_at - interval '2 minutes' WHERE id = $1";
  await service.pool.query(earlier, [canceled]);
  // The look for those of whose end no agent spoke comes once a minute, and when an instance starts.
  const other = instance('other');
  await told(7);
  await other.stop();
  expect(named('job canceled')).toHaveLength(1);
  expect(named('job failed')[0]?.status).toEqual({ code: 2, message: 'printer-refused' });
  // An agent's clock that is decades behind is not believed.
  const day = BigInt(Date.now() - 86_400_000) * 1_000_000n;
  for (const one of named('print')) expect(BigInt(one.startTimeUnixNano)).toBeGreaterThan(day);
  expect(got.every(({ body }) => !body.includes(SECRET))).toBe(true);
});

test('what the endpoint does not take is told again as the same spans, by any instance', async () => {
  answers.push(503);
  await printed({ traceparent: `00-${TRACE}-${CALLER}-01` });
  await vi.waitFor(() => expect(got).toHaveLength(1), { timeout: 60_000, interval: 50 });
  await noted('tries = 1');
  // Either of the two instances has told it, and says so.
  const said = async () => [(await service.call('/readyz')).body, { status: 'ready', ...hearing.health() }];
  await expect
    .poll(said, { timeout: 30_000 })
    .toContainEqual({ status: 'ready', traces: { failed: 'it answered 503' } });
  await service.pool.query('UPDATE platen.job_traces SET due_at = now()');
  await told(8);
  const [first, second] = got.map(({ body }) => JSON.parse(body));
  expect(second).toEqual(first);
});

test('a redirect is not followed, and what the endpoint refuses for good is not told again', async () => {
  answers.push(302);
  await printed({});
  await vi.waitFor(
    async () => {
      expect(got.map(({ path }) => path)).toEqual(['/otlp/v1/traces']);
      expect((await service.pool.query('SELECT FROM platen.job_traces')).rowCount).toBe(0);
    },
    { timeout: 60_000, interval: 50 },
  );
});

test('what is no traceparent by W3C begins a trace of its own', () => {
  const right = `00-${TRACE}-${CALLER}-01`;
  expect(placeOf(right)).toMatchObject({ trace: TRACE, parent: CALLER });
  expect(placeOf(`cc-${TRACE}-${CALLER}-01-what-is-later`)).toMatchObject({ trace: TRACE, parent: CALLER });
  for (const wrong of [
    ...[undefined, ['a', 'b'], '', `${right}-more`, `ff-${TRACE}-${CALLER}-01`, right.toUpperCase()],
    ...[`00-${'0'.repeat(32)}-${CALLER}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`, `cc-${TRACE}-${CALLER}-011`],
    `cc-${TRACE}-${CALLER}-01-${'x'.repeat(10_000)}`,
  ])
    expect(placeOf(wrong)).toMatchObject({ parent: null, trace: expect.not.stringMatching(TRACE) });
});
