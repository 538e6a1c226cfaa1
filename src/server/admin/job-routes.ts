/** The internal interface's jobs: what is seen of them (`jobs/shown/`), and what a person does to them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { jobCancel, jobResume } from '../../contract/job-actions.ts';
import { recordsQuery } from '../../contract/job-details.ts';
import { jobCountFilter, jobFilter } from '../../contract/job-search.ts';
import { pictureQuery } from '../../contract/label-picture.ts';
import type { CheckPool } from '../../rendering/check-pool.ts';
import type { Cancellations } from '../jobs/outcome/cancellations.ts';
import type { JobDecisions } from '../jobs/outcome/decisions.ts';
import { idParam } from '../jobs/routes.ts';
import { jobDetailsOf, jobRecordsOf } from '../jobs/shown/job-details.ts';
import type { JobList } from '../jobs/shown/job-list.ts';
import { jobLabelPicture } from '../jobs/shown/label-pictures.ts';
import { accessOf, accountOf } from '../people/visitor.ts';
import { parseBody } from '../problems.ts';
import type { Pool } from '../store/pool.ts';

export type AppJobParts = {
  pool: Pool;
  checks: CheckPool;
  list: JobList;
  decisions: JobDecisions;
  cancellations: Cancellations;
};

const labelParam = idParam.extend({ label: z.coerce.number().int() });

export async function appJobRoutes(app: FastifyInstance, parts: AppJobParts): Promise<void> {
  const { pool, checks, list, decisions, cancellations } = parts;
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

  app.get('/app/jobs/:id/labels/:label(^\\d{1,7}).png', readLabels, async (request, reply) => {
    const { id, label } = labelParam.parse(request.params);
    const { width } = parseBody(pictureQuery, request.query);
    const png = await jobLabelPicture({ pool, checks }, id, label, width);
    return reply.type('image/png').send(Buffer.from(png));
  });

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
