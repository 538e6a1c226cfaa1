/** Where `/metrics` is told, and what the port does with strangers. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { metrics } from '../../src/cli/doctor/service.ts';
import type { Subject } from '../../src/cli/doctor/subject.ts';
import { type Metrics, metricsFrom, serveMetrics } from '../../src/cli/metrics.ts';

let served: Metrics | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

test('it is off by default, and on loopback unless an address is given', () => {
  expect(metricsFrom(undefined, {})).toBeUndefined();
  expect(metricsFrom(undefined, { PLATEN_METRICS_PORT: '9464' })).toEqual({ port: 9464, host: '127.0.0.1' });
  const written = { port: 1, host: '10.0.0.1' };
  expect(metricsFrom(written, {})).toEqual(written);
  expect(metricsFrom(written, { PLATEN_METRICS_PORT: '2', PLATEN_METRICS_HOST: '::1' })).toEqual({
    port: 2,
    host: '::1',
  });
});

test.each(['-1', '65536', '1e3', 'yes'])('%s is no port, and the message names the variable', (port) => {
  expect(() => metricsFrom(undefined, { PLATEN_METRICS_PORT: port })).toThrow(
    `PLATEN_METRICS_PORT=${port}: expected a whole number from 0 to 65535`,
  );
});

test('an address without a port says so', () => {
  expect(() => metricsFrom(undefined, { PLATEN_METRICS_HOST: '0.0.0.0' })).toThrow('PLATEN_METRICS_PORT');
});

test('there is one address, and it is only read', async () => {
  served = await serveMetrics({ host: '127.0.0.1', port: 0 });
  const answer = await fetch(served.url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(await answer.text()).toContain('process_resident_memory_bytes ');
  expect((await fetch(new URL('/', served.url))).status).toBe(404);
  const posted = await fetch(served.url, { method: 'POST', body: 'x' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('strangers that only connect do not keep Prometheus out', async () => {
  served = await serveMetrics({ host: '127.0.0.1', port: 0 });
  const { port } = new URL(served.url);
  const idle = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );
  expect((await fetch(served.url)).status).toBe(200);
  for (const socket of idle) socket.destroy();
});

test('a port that is taken is named', async () => {
  served = await serveMetrics({ host: '127.0.0.1', port: 0 });
  const port = Number(new URL(served.url).port);
  await expect(serveMetrics({ host: '127.0.0.1', port })).rejects.toThrow(
    `port ${port} (PLATEN_METRICS_PORT)`,
  );
});

test('the doctor asks for them', async () => {
  const subject = (metricsUrl: string | null): Subject => ({
    ...{ dataDir: '', file: null, installed: null, isAgent: false, places: {}, agent: null, folders: [] },
    ...{ service: null, client: null, status: null, metricsUrl },
  });
  expect(await metrics(subject(null))).toEqual([]);
  served = await serveMetrics({ host: '127.0.0.1', port: 0 });
  const { url } = served;
  expect(await metrics(subject(url))).toMatchObject([{ result: 'ok', detail: `are told at ${url}` }]);
  await served.stop();
  served = undefined;
  expect(await metrics(subject(url))).toMatchObject([{ result: 'failed' }]);
});
