/** `GET /healthz`: the process answers. `GET /readyz`: it can do its work, so a load balancer may send it requests. */
import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problems.ts';

/** How long database and queue have to answer, ms: less than a load balancer waits. */
const LIMIT = 2_000;

export function healthRoutes(
  app: FastifyInstance,
  parts: { checkDatabase: () => Promise<void>; checkQueue: () => Promise<void> },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    await Promise.all([
      answers(parts.checkDatabase, 'the database does not answer'),
      answers(parts.checkQueue, 'the queue cannot be reached'),
    ]);
    return { status: 'ready' };
  });
}

/** @throws ProblemError `not-ready` */
async function answers(check: () => Promise<void>, otherwise: string): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${LIMIT} ms`)), LIMIT);
  try {
    await Promise.race([check(), late.promise]);
  } catch (cause) {
    throw new ProblemError('not-ready', otherwise, { cause });
  } finally {
    clearTimeout(timer);
  }
}
