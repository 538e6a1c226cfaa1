/** `platen up` tells the trace of a job that its agent has printed, after it was killed before a collector was there. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { onServer } from '../kit/servers/backends.ts';
import { Integrator, PlatenUp, temporaryDirectory } from '../kit/service/platen.ts';
import { freePort } from '../kit/wire/listening.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const body = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              ...{ traceId: z.string(), name: z.string(), parentSpanId: z.string() },
              ...{ startTimeUnixNano: z.coerce.bigint(), endTimeUnixNano: z.coerce.bigint() },
            }),
          ),
        }),
      ),
    }),
  ),
});

test('the trace of a printed job arrives whole, though the service was killed meanwhile', async () => {
  await using directory = await temporaryDirectory();
  const backend = await onServer().open({ migrated: true });
  onTestFinished(() => backend.close());
  const port = await freePort();
  const start = () =>
    PlatenUp.start({
      dataDir: directory.path,
      args: ['--virtual', '1'],
      env: {
        DATABASE_URL: backend.databaseUrl ?? '',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      },
    });
  let up = await start();
  onTestFinished(async () => void (await up.stop()));
  await up.printerOnline('virtual-1');
  const { id: idT } = await up.admin.importTemplate('default', {
    ...{ name: 'Traced', width: 50, height: 25 },
    elements: [{ type: 'text', x: 2, y: 2, width: 46, height: 5, text: 'traced', size: 3 }],
  });
  const integrator = await Integrator.make(up);
  const answer = await integrator.request(
    '/v2/jobs',
    { idT, printer: 'virtual-1', numberCopies: 2 },
    { 'idempotency-key': 'traced', traceparent: `00-${TRACE}-${CALLER}-01` },
  );
  expect(answer.status).toBe(201);
  const job = z.string().parse(await answer.json());
  expect((await up.ended(job)).status).toBe('printed');
  // The warning says that the trace is noted, and that nobody was there to take it.
  await expect
    .poll(() => up.output, { timeout: 60_000 })
    .toContain('the endpoint for traces has not taken them');
  await up.kill();

  const got: string[] = [];
  const collector = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    got.push(text);
    response.end('{}');
  }).listen(port, '127.0.0.1');
  await once(collector, 'listening');
  onTestFinished(() => collector.closeAllConnections());
  onTestFinished(() => void collector.close());
  up = await start();
  await expect.poll(() => got.length, { timeout: 150_000 }).toBe(1);
  const spans = body
    .parse(JSON.parse(got[0] ?? ''))
    .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  expect(spans.map(({ name }) => name)).toEqual(['POST /v2/jobs', 'job printed', 'wait', 'print']);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(spans[0]?.parentSpanId).toBe(CALLER);
  const [, whole, , print] = spans;
  expect(print?.startTimeUnixNano).toBeGreaterThanOrEqual(whole?.startTimeUnixNano ?? 0n);
  expect(print?.endTimeUnixNano).toBeLessThanOrEqual(whole?.endTimeUnixNano ?? 0n);
}, 300_000);
