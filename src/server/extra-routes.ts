/**
 * What a deployment exposes beside the interface, each with a permission of its own, unless it is turned off: one job's
 * state, the list of jobs, a cancellation, the templates and printers that a job may name, and pictures of labels.
 */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import {
  integratorCancel,
  integratorJobsQuery,
  type integratorPrinters,
  type integratorTemplates,
  pageQuery,
} from '../contract/integrator-view.ts';
import type { JobPage } from '../contract/job-search.ts';
import { idParam } from './id-param.ts';
import { jobOfKey, keptKey, parseKey } from './jobs/accept/idempotency.ts';
import type { RenderedLabels } from './jobs/accept/rendered-labels.ts';
import type { JobQueue } from './jobs/dispatch/queue-port.ts';
import type { Cancellations } from './jobs/outcome/cancellations.ts';
import type { JobList } from './jobs/shown/job-list.ts';
import { shownJob } from './jobs/shown/job-row.ts';
import type { Callers } from './oauth/callers.ts';
import { holdersIn, printerPage } from './printers/printers.ts';
import { parseBody } from './problems.ts';
import type { Pool } from './store/pool.ts';
import { templatePage } from './templates/template-page.ts';

type Parts = {
  callers: Callers;
  pool: Pool;
  list: JobList;
  cancellations: Cancellations;
  labels: RenderedLabels;
  queue: Pick<JobQueue, 'leaseHolders'>;
  /** Called with the job that a caller has canceled. */
  changed: (jobs: string[]) => void;
};

/** GET on `validate` is 405, not a job that does not exist. */
const JOB = '/v2/jobs/:id(^(?!validate$).+$)';

export function extraRoutes(app: FastifyInstance, parts: Parts): void {
  const { callers, pool, list } = parts;

  app.get(JOB, { onRequest: callers.allow('jobs:read') }, async (request) =>
    shownJob(pool, idParam.parse(request.params).id, callers.of(request)),
  );

  app.get('/v2/jobs', { onRequest: callers.allow('jobs:read') }, async (request): Promise<JobPage> => {
    const { tenantId: tenant, test } = callers.of(request);
    const filter = { ...parseBody(integratorJobsQuery, request.query), tenant, test };
    const header = request.headers['idempotency-key'];
    if (header === undefined) return list.page(filter);
    const id = await jobOfKey(pool, tenant, keptKey(parseKey(header), test));
    return id === undefined ? { jobs: [], next: null } : list.page({ ...filter, id });
  });

  app.post(`${JOB}/cancel`, { onRequest: callers.allow('jobs:cancel') }, async (request) => {
    const { id } = idParam.parse(request.params);
    const caller = callers.of(request);
    const { why } = parseBody(integratorCancel, request.body ?? {});
    // Another tenant's job is as if it did not exist; so is a test's for other keys, and theirs for a test key.
    await shownJob(pool, id, caller);
    request.facts.jobs = [id];
    const job = await parts.cancellations.cancel(id, false, { who: caller.account, why });
    parts.changed([id]);
    return job;
  });

  app.get(
    '/v2/templates',
    { onRequest: callers.allow('templates:read') },
    async (request): Promise<z.input<typeof integratorTemplates>> =>
      templatePage(pool, callers.of(request).tenantId, parseBody(pageQuery, request.query)),
  );

  app.post('/v2/labels', { onRequest: callers.allow('labels:render') }, async (request, reply) => {
    const { tenantId } = callers.of(request);
    const { language, file, labels } = await parts.labels.file(tenantId, request.body);
    const [type] = LANGUAGES[language].mediaTypes;
    return reply.type(type).header('x-total-count', labels).send(Buffer.from(file));
  });

  app.get(
    '/v2/printers',
    { onRequest: callers.allow('printers:read') },
    async (request): Promise<z.input<typeof integratorPrinters>> => {
      const asked = parseBody(pageQuery, request.query);
      const holders = holdersIn(parts.queue, request.log);
      const { printers, next } = await printerPage(pool, callers.of(request), asked, holders);
      return {
        printers: printers.map(({ id, name, status, reasons, formats }) => ({
          ...{ id, name, status, reasons },
          formats: formats.map(({ id, name, language, dpi, width, height }) => ({
            ...{ id, name, language, dpi, width, height },
          })),
        })),
        next,
      };
    },
  );
}
