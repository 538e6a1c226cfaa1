/** Where the service listens, and how it ends. */
import type { FastifyInstance } from 'fastify';

/** ms that requests in hand may take after a stop was asked for. */
const CLOSE_TIMEOUT = 10_000;

/** Waits for requests in hand, but no longer than `CLOSE_TIMEOUT`. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

const ANY_ADDRESS = ['0.0.0.0', '::'];

/** The address that it listens on. */
export function urlOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no TCP address');
  const name = ANY_ADDRESS.includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${address.port}`;
}
