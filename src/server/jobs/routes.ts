/** The external interface's routes for jobs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Callers } from '../oauth/callers.ts';
import { ProblemError } from '../problems.ts';
import type { Traces } from '../traces/traces.ts';
import { keptKey, parseKey } from './accept/idempotency.ts';
import type { Accepted, PrintRequests } from './accept/print-requests.ts';
import { warningsHeader } from './accept/warnings.ts';

type Parts = { callers: Callers; printRequests: PrintRequests; traces: Traces | undefined };

/** The external interface: `POST /v2/jobs` and `POST /v2/jobs/validate`. */
export function jobRoutes(app: FastifyInstance, { callers, printRequests, traces }: Parts): void {
  /** Runs before the body is read, too: a request without the header is refused without it. */
  const needKey = async (request: FastifyRequest) => {
    parseKey(request.headers['idempotency-key']);
  };

  app.post(
    '/v2/jobs',
    { onRequest: [callers.allow('jobs:enqueue', 'lately'), needKey] },
    async (request, reply) => {
      const caller = callers.of(request);
      const key = keptKey(parseKey(request.headers['idempotency-key']), caller.test);
      try {
        const accepted = await printRequests.enqueue({ ...caller, key, body: request.body });
        const { jobId, replayed } = accepted;
        if (!replayed) traces?.accepted(jobId, request.headers['traceparent'], reply.elapsedTime);
        return answer(request, reply, accepted);
      } catch (error) {
        // `lately` may have let a revoked account in. It is told that it was revoked, not what else is wrong.
        if (error instanceof ProblemError && error.status < 500)
          await callers.identify(request, 'jobs:enqueue', 'now');
        throw error;
      }
    },
  );

  app.post('/v2/jobs/validate', { onRequest: callers.allow('jobs:enqueue') }, async (request) =>
    printRequests.validate(callers.of(request), request.body),
  );
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
