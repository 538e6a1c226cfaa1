/** The internal interface's jobs: what is seen of them (`jobs/shown/`), and what a person does to them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { jobCancel, jobResume } from '../../contract/job-actions.ts';
import { recordsQuery } from '../../contract/job-details.ts';
import { jobCountFilter, jobFilter } from '../../contract/job-search.ts';
import type { Cancellations } from '../jobs/outcome/cancellations.ts';
import type { JobDecisions } from '../jobs/outcome/decisions.ts';
import { idParam } from '../jobs/routes.ts';
import { jobDetailsOf, jobRecordsOf } from '../jobs/shown/job-details.ts';
import type { JobList } from '../jobs/shown/job-list.ts';
import { accessOf, accountOf } from '../people/visitor.ts';
import { parseBody } from '../problems.ts';
import type { Pool } from '../store/pool.ts';

export type AppJobParts = {
  pool: Pool;
  list: JobList;
  decisions: JobDecisions;
  cancellations: Cancellations;
};

export async function appJobRoutes(app: FastifyInstance, parts: AppJobParts): Promise<void> {
  const { pool, list, decisions, cancellations } = parts;
  const read = { config: { needs: 'jobs:read', about: 'query' } } as const;
  const readOne = { config: { needs: 'jobs:read', about: 'job' } } as const;
  const readLabels = { config: { needs: 'labels:read', about: 'job' } } as const;
  const act = (audit: string) => ({ config: { needs: 'jobs:act', about: 'job', audit } }) as const;
  const idOf = (request: FastifyRequest): string => idParam.parse(request.params).id;

  app.get('/app/jobs', read, async (request) =>
    list.page({ ...parseBody(jobFilter, request.query), tenant: accessOf(request).tenant }),
  );
  app.get('/app/jobs/counts', read, async (request) =>
    list.counts({ ...parseBody(jobCountFilter, request.query), tenant: accessOf(request).tenant }),
  );
  app.get('/app/jobs/:id', readOne, async (request) => jobDetailsOf(pool, idOf(request)));
  app.get('/app/jobs/:id/records', readLabels, async (request) =>
    jobRecordsOf(pool, idOf(request), parseBody(recordsQuery, request.query)),
  );

  app.post('/app/jobs/:id/cancel', act('job.cancel'), async (request) => {
    const { force, why } = parseBody(jobCancel, request.body ?? {});
    return cancellations.cancel(idOf(request), force, { who: whoOf(request), why });
  });
  app.post('/app/jobs/:id/resume', act('job.resume'), async (request) => {
    const { from, why } = parseBody(jobResume, request.body);
    return decisions.resume(idOf(request), from, { who: whoOf(request), why });
  });
}

/** Who decides, as a job's history names them. */
function whoOf(request: FastifyRequest): string {
  return accountOf(accessOf(request));
}
