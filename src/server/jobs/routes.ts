/** The external interface: `POST /v2/jobs`, `POST /v2/jobs/validate`, and `GET /v2/jobs/{id}` unless it is turned off. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import { idParam } from '../id-param.ts';
import type { AccountAge, Caller } from '../oauth/caller.ts';
import { ProblemError } from '../problems.ts';
import type { RequestRate } from '../request-rate.ts';
import type { Pool } from '../store/pool.ts';
import { parseKey } from './accept/idempotency.ts';
import type { Accepted, PrintRequests } from './accept/print-requests.ts';
import { warningsHeader } from './accept/warnings.ts';
import { shownJob } from './shown/job-row.ts';

type Parts = {
  identify: (request: FastifyRequest, needed: Permission, age: AccountAge) => Promise<Caller>;
  printRequests: PrintRequests;
  pool: Pool;
  rate: RequestRate;
  publicJobStatus: boolean;
};

export function jobRoutes(app: FastifyInstance, parts: Parts): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  /** Runs before the body is read: the body of a caller who may not do this is not read at all. */
  const allow =
    (needed: Permission, age: AccountAge = 'now') =>
    async (request: FastifyRequest) => {
      const caller = await parts.identify(request, needed, age);
      await parts.rate.count(caller.tenantId);
      callers.set(request, caller);
    };
  const callerOf = (request: FastifyRequest): Caller => {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error('a handler ran without its caller');
    return caller;
  };
  /** Runs before the body is read, too: a request without the header is refused without it. */
  const needKey = async (request: FastifyRequest) => {
    parseKey(request.headers['idempotency-key']);
  };

  app.post('/v2/jobs', { onRequest: [allow('jobs:enqueue', 'lately'), needKey] }, async (request, reply) => {
    const key = parseKey(request.headers['idempotency-key']);
    try {
      return answer(
        request,
        reply,
        await parts.printRequests.enqueue({ ...callerOf(request), key, body: request.body }),
      );
    } catch (error) {
      // `lately` may have let a revoked account in. It is told that it was revoked, not what else is wrong.
      if (error instanceof ProblemError && error.status < 500)
        await parts.identify(request, 'jobs:enqueue', 'now');
      throw error;
    }
  });

  app.post('/v2/jobs/validate', { onRequest: allow('jobs:enqueue') }, async (request) =>
    parts.printRequests.validate(callerOf(request).tenantId, request.body),
  );

  if (parts.publicJobStatus) {
    // GET on `validate` is 405, not a job that does not exist.
    app.get('/v2/jobs/:id(^(?!validate$).+$)', { onRequest: allow('jobs:read') }, async (request) =>
      shownJob(parts.pool, idParam.parse(request.params).id, callerOf(request).tenantId),
    );
  }
}

/** 201 for a new job, with what it is warned of; 200 and `Idempotency-Replayed` for the answer that the key got before. */
export function answer(request: FastifyRequest, reply: FastifyReply, accepted: Accepted): FastifyReply {
  request.facts.jobs = [accepted.jobId];
  if (accepted.replayed) reply.header('idempotency-replayed', 'true');
  else if (accepted.warnings.size > 0) reply.header('platen-warnings', warningsHeader(accepted.warnings));
  // A bare string would be sent as text; the interface says JSON.
  return reply
    .code(accepted.replayed ? 200 : 201)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(accepted.answer));
}
