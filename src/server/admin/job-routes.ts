/** The internal interface's routes for jobs: showing them (`jobs/shown/`), and what a person does to them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeedWord } from '../../contract/deeds.ts';
import type { JobView } from '../../contract/job.ts';
import {
  type JobBulk,
  jobBulk,
  jobCancel,
  jobMove,
  jobResume,
  MOST_AT_ONCE,
  resumeQuery,
} from '../../contract/job-actions.ts';
import { recordsQuery } from '../../contract/job-details.ts';
import { jobCountFilter, jobFilter, valueAsked } from '../../contract/job-search.ts';
import { pictureQuery } from '../../contract/label-picture.ts';
import { because } from '../../contract/reason.ts';
import type { CheckPool } from '../../rendering/check-pool.ts';
import { idParam } from '../id-param.ts';
import { parseKey } from '../jobs/accept/idempotency.ts';
import type { Reprints } from '../jobs/accept/reprints.ts';
import { bulk, deedOf } from '../jobs/outcome/bulk.ts';
import type { Cancellations } from '../jobs/outcome/cancellations.ts';
import type { JobDecisions } from '../jobs/outcome/decisions.ts';
import type { Decision } from '../jobs/outcome/locked-job.ts';
import type { JobMoves } from '../jobs/outcome/moves.ts';
import { jobDetailsOf, jobRecordsOf } from '../jobs/shown/job-details.ts';
import type { JobList } from '../jobs/shown/job-list.ts';
import { jobLabelPicture } from '../jobs/shown/label-pictures.ts';
import { writeDeed } from '../people/access.ts';
import { accessOf, accountOf, demand, mayDo } from '../people/visitor.ts';
import { faultAt, ProblemError, parseBody, payloadInvalid } from '../problems.ts';
import type { Pool } from '../store/pool.ts';

type AppJobParts = {
  pool: Pool;
  checks: CheckPool;
  list: JobList;
  decisions: JobDecisions;
  cancellations: Cancellations;
  moves: JobMoves;
  reprints: Reprints;
};

const labelParam = idParam.extend({ label: z.coerce.number().int() });

export async function appJobRoutes(app: FastifyInstance, parts: AppJobParts): Promise<void> {
  const { pool, checks, list, decisions, cancellations } = parts;
  const read = { config: { needs: 'jobs:read', about: 'query' } } as const;
  const readOne = { config: { needs: 'jobs:read', about: 'job' } } as const;
  const readLabels = { config: { needs: 'labels:read', about: 'job' } } as const;
  const act = (audit: DeedWord) => ({ config: { needs: 'jobs:act', about: 'job', audit } }) as const;
  const idOf = (request: FastifyRequest): string => idParam.parse(request.params).id;

  app.get('/app/jobs', read, async (request) => {
    const { visitor, tenant } = accessOf(request);
    const filter = parseBody(jobFilter, request.query);
    if (filter.value !== undefined) demand(visitor, 'labels:read');
    return list.page({ ...filter, tenant }, mayDo(visitor, 'labels:read'));
  });
  app.get('/app/jobs/counts', read, async (request) => {
    const { visitor, tenant } = accessOf(request);
    const filter = parseBody(jobCountFilter, request.query);
    if (filter.value !== undefined) demand(visitor, 'labels:read');
    return list.counts({ ...filter, tenant });
  });
  // A value is label data, which must not be in an address: its mark is.
  app.post(
    '/app/tenants/:id/jobs/value-mark',
    { config: { needs: 'labels:read', about: 'tenant', audit: null } },
    async (request) => list.markOf(idOf(request), parseBody(valueAsked, request.body).value),
  );
  app.get('/app/jobs/:id', readOne, async (request) => jobDetailsOf(pool, idOf(request)));
  app.get('/app/jobs/:id/records', readLabels, async (request) =>
    jobRecordsOf(pool, idOf(request), parseBody(recordsQuery, request.query)),
  );

  app.get('/app/jobs/:id/labels/:label(^\\d{1,7}).png', readLabels, async (request, reply) => {
    const { id, label } = labelParam.parse(request.params);
    const { width } = parseBody(pictureQuery, request.query);
    const png = await jobLabelPicture({ pool, checks }, id, label, width);
    return reply.type('image/png').send(Buffer.from(png));
  });

  app.post('/app/jobs/:id/cancel', act('job.cancel'), async (request) => {
    const { force, why } = parseBody(jobCancel, request.body ?? {});
    return cancellations.cancel(idOf(request), force, deciding(request, why));
  });
  app.get('/app/jobs/:id/resume', { config: { needs: 'jobs:act', about: 'job' } }, async (request) =>
    decisions.plan(idOf(request), parseBody(resumeQuery, request.query).from),
  );
  app.post('/app/jobs/:id/resume', act('job.resume'), async (request) => {
    const { from, why } = parseBody(jobResume, request.body);
    return decisions.resume(idOf(request), from, deciding(request, why));
  });
  app.post('/app/jobs/:id/move', act('job.move'), async (request) => {
    const { why, ...to } = parseBody(jobMove, request.body);
    return parts.moves.move(idOf(request), { ...to, ...(why && { why }) }, deciding(request, why));
  });
  app.post('/app/jobs/:id/reprint', act('job.reprint'), async (request, reply) => {
    const header = request.headers['idempotency-key'];
    const key = header === undefined ? undefined : parseKey(header);
    const made = await parts.reprints.reprint(idOf(request), request.body ?? {}, {
      account: whoOf(request),
      key,
      also: (db, reprint) => writeDeed(db, request, { details: { reprint } }),
    });
    // The entry in the audit was written with the new job, or, for a replay, with the first request.
    request.deed.written = true;
    request.facts.jobs = [made.jobId];
    if (made.replayed) reply.header('idempotency-replayed', 'true');
    return reply.code(made.replayed ? 200 : 201).send({ id: made.jobId });
  });
  app.post(
    '/app/jobs/bulk',
    { config: { needs: 'jobs:act', about: 'caller', audit: 'jobs.bulk' } },
    async (request) => {
      const body = parseBody(jobBulk, request.body);
      const deed = deedOf(body);
      const jobs = await chosenJobs(list, body, accessOf(request).tenant);
      const result = await bulk(parts, deed, jobs, body.dryRun, {
        ...deciding(request, body.why),
        noted: (db, id) => writeDeed(db, request, { object: id, details: { ...deed } }),
      });
      request.changed = { jobs: body.dryRun ? [] : result.jobs.map(({ id }) => id) };
      // Each job's entry was written with its change; a preview changes nothing.
      request.deed.written = true;
      return result;
    },
  );
}

/** The jobs that `ids` or `filter` chooses, of which just one must be given; none of another tenant. */
async function chosenJobs(list: JobList, body: JobBulk, tenant: string | undefined): Promise<JobView[]> {
  const { ids, filter } = body;
  if ((ids === undefined) === (filter === undefined)) {
    throw payloadInvalid([faultAt('/ids', because('one-of-two', { one: 'ids', other: 'filter' }))]);
  }
  if (ids !== undefined) return list.byIds(ids, tenant);
  if (tenant !== undefined && filter?.tenant !== undefined && filter.tenant !== tenant) {
    throw new ProblemError('tenant-forbidden', `you have no access to tenant "${filter.tenant}"`);
  }
  const found = await list.page({ ...filter, tenant: tenant ?? filter?.tenant, limit: MOST_AT_ONCE + 1 });
  return found.jobs;
}

/** Who decides about the route's job, and why. The decision's transaction writes both into the audit. */
function deciding(request: FastifyRequest, why: string | undefined): Decision {
  return { who: whoOf(request), why, noted: (db) => writeDeed(db, request) };
}

/** The name of the caller in a job's history. */
function whoOf(request: FastifyRequest): string {
  return accountOf(accessOf(request));
}
