/** `/metrics` for Prometheus, on a port of its own, since what it tells is for those who run Platen and not for its callers. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import type { Agent } from '../agent/agent.ts';
import { countedQueue } from '../agent/counted-queue.ts';
import { HOST } from '../contract/address.ts';
import type { DeliveryQueue } from '../queue/index.ts';
import { boundConnections } from '../server/connections.ts';
import { explain } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';

/** Connections at once: a few Prometheus servers, and somebody who looks. */
const MOST_CONNECTIONS = 20;
/** ms for a request to arrive, and for a connection to be idle: Prometheus asks every 15 s to 60 s. */
const REQUEST_TIMEOUT = 5_000;
const KEEP_ALIVE = 65_000;

export const metricsPlace = z.strictObject({
  port: z.int().min(0).max(65_535).describe('where Prometheus reads /metrics; 0 picks one'),
  host: z.string().min(1).default(HOST).describe(`address to listen on; ${HOST} without it`),
});
export type MetricsPlace = z.infer<typeof metricsPlace>;

/**
 * Where `/metrics` is to be; undefined: nowhere. The environment wins over the file.
 * @throws CommandFailure naming the variable that is wrong
 */
export function metricsFrom(
  written: MetricsPlace | undefined,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): MetricsPlace | undefined {
  const port = env['PLATEN_METRICS_PORT'] || undefined;
  const host = env['PLATEN_METRICS_HOST'] || undefined;
  if (port === undefined && written === undefined) {
    if (host === undefined) return undefined;
    throw new CommandFailure('PLATEN_METRICS_HOST is of no use without PLATEN_METRICS_PORT.', EXIT.usage);
  }
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)) {
    const shown = port.slice(0, 80);
    throw new CommandFailure(
      `PLATEN_METRICS_PORT=${shown}: expected a whole number from 0 to 65535`,
      EXIT.usage,
    );
  }
  return metricsPlace.parse({
    ...written,
    ...(port !== undefined && { port: Number(port) }),
    ...(host !== undefined && { host }),
  });
}

export interface Metrics {
  registry: Registry;
  /** Its address. */
  url: string;
  /** The queue of an agent, whose jobs are counted. */
  counting(queue: DeliveryQueue): Promise<DeliveryQueue>;
  watch(agent: Agent): Promise<void>;
  stop(): Promise<void>;
}

/** Listens. What is added to the registry later is told with the next scrape. @throws CommandFailure */
export async function serveMetrics(place: MetricsPlace): Promise<Metrics> {
  const { processRegistry } = await import('./process-registry.ts');
  const registry = processRegistry();
  const server = createServer(
    { headersTimeout: REQUEST_TIMEOUT, requestTimeout: REQUEST_TIMEOUT, keepAliveTimeout: KEEP_ALIVE },
    (request, response) => {
      request.resume();
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const [path] = (request.url ?? '').split('?');
      if (path !== '/metrics') response.writeHead(404).end('only /metrics is here\n');
      else if (!isRead) response.writeHead(405, { allow: 'GET, HEAD' }).end();
      else {
        registry.metrics().then(
          (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
      }
    },
  );
  boundConnections(server, MOST_CONNECTIONS);
  const { port } = await listening(server, place);
  return {
    registry,
    url: metricsUrl(place.host, port),
    counting: async (queue) =>
      countedQueue(queue, (await import('../agent/metrics.ts')).jobMetricsFor(registry)),
    watch: async (agent) => (await import('../agent/metrics.ts')).watchAgent(agent, registry),
    async stop() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
      registry.clear();
    },
  };
}

/** As somebody on this machine asks for it. */
export function metricsUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return metricsUrl(HOST, port);
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`;
}

async function listening(server: Server, { host, port }: MetricsPlace): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  server.once('error', reject);
  server.listen({ host, port }, () => {
    const address = server.address();
    if (address === null || typeof address === 'string') reject(new Error('no TCP address'));
    else resolve(address);
  });
  return await promise.catch((error: unknown) => {
    throw new CommandFailure(
      `Cannot listen for Prometheus on ${host}, port ${port} (PLATEN_METRICS_PORT): ${explain(error)}`,
    );
  });
}
