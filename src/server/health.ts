/** `GET /healthz`: the process answers. `GET /readyz`: it can do its work, so a load balancer may send it requests. */
import type { FastifyInstance } from 'fastify';
import type { ServiceHealth } from '../contract/readiness.ts';
import { ProblemError } from './problems.ts';

/** How long database and queue have to answer, ms: less than a load balancer waits. */
const LIMIT = 2_000;

type Parts = {
  isStopping: () => boolean;
  checkDatabase: () => Promise<void>;
  checkQueue: () => Promise<void>;
  /** The health of what does not decide whether the service is ready. */
  also: () => Promise<ServiceHealth>;
};

export function healthRoutes(app: FastifyInstance, parts: Parts): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    if (parts.isStopping()) throw new ProblemError('not-ready', 'this instance is about to stop');
    const [also] = await Promise.all([
      answers(parts.also, '').catch(() => undefined),
      answers(parts.checkDatabase, 'the database does not answer'),
      answers(parts.checkQueue, 'the queue cannot be reached'),
    ]);
    return { status: 'ready', ...also };
  });
}

/** @throws ProblemError `not-ready` */
async function answers<T>(check: () => Promise<T>, otherwise: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${LIMIT} ms`)), LIMIT);
  try {
    return await Promise.race([check(), late.promise]);
  } catch (cause) {
    throw new ProblemError('not-ready', otherwise, { cause });
  } finally {
    clearTimeout(timer);
  }
}
