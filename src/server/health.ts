/** `GET /healthz`: the process answers. `GET /readyz`: it can do its work, so a load balancer may send it requests. */
import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problems.ts';

export function healthRoutes(
  app: FastifyInstance,
  parts: { checkDatabase: () => Promise<void>; queueConnected: () => boolean },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    try {
      await parts.checkDatabase();
    } catch (error) {
      throw new ProblemError('not-ready', 'the database does not answer', { cause: error });
    }
    if (!parts.queueConnected()) throw new ProblemError('not-ready', 'the queue cannot be reached');
    return { status: 'ready' };
  });
}
