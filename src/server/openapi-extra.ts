/** What a deployment exposes beside the interface, in `/openapi.json` (`extra-routes.ts`). */
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import {
  type IntegratorPrinter,
  type IntegratorTemplate,
  integratorCancel,
  integratorJobsQuery,
  integratorPrinters,
  integratorTemplates,
  labelsRequest,
  pageQuery,
} from '../contract/integrator-view.ts';
import { type JobView, jobView } from '../contract/job.ts';
import { jobPage } from '../contract/job-search.ts';
import { idempotencyKey } from './jobs/accept/idempotency.ts';
import { CALLER, JOB_ID, needs, REQUEST_EXAMPLE, tenantHeader } from './openapi-parts.ts';
import { problemResponses } from './problem-examples.ts';

const JOB_EXAMPLE = {
  id: JOB_ID,
  tenant: 'default',
  status: 'printed',
  labels: { total: 2, sent: 2, printed: 2 },
  reasons: [],
  error: null,
  uncertain: null,
  printer: { id: 'serial-4f1c9a2b7d3e', name: 'Dispatch 1' },
  template: { id: REQUEST_EXAMPLE.idT, name: 'Shipping label' },
  format: 'zpl-203-101x152',
  orientation: 'portrait',
  copies: 2,
  records: 1,
  createdAt: '2026-01-08T09:30:00.000Z',
  updatedAt: '2026-01-08T09:30:01.000Z',
} satisfies JobView;

const TEMPLATE_EXAMPLE = {
  id: REQUEST_EXAMPLE.idT,
  name: 'Shipping label',
  language: 'platen',
  size: { width: 101.6, height: 152.4 },
  fields: [
    { name: 'sscc', printedAs: ['gs1-128'], ifMissing: null, sample: '003401234500000000' },
    { name: 'city', printedAs: ['text'], ifMissing: null, sample: 'Göteborg' },
  ],
  updatedAt: '2026-01-08T09:30:00.000Z',
} satisfies IntegratorTemplate;

const PRINTER_EXAMPLE = {
  id: REQUEST_EXAMPLE.printerId,
  name: 'Dispatch 1',
  status: 'stopped',
  reasons: ['media-empty'],
  formats: [
    {
      id: 'zpl-203-101x152',
      name: '4×6 in, 203 dpi',
      language: 'zpl',
      dpi: 203,
      width: 101.6,
      height: 152.4,
    },
  ],
} satisfies IntegratorPrinter;

const BESIDE = { tags: ['Beside'] };
const header = z.object({ 'x-tenant': tenantHeader });
const path = z.object({ id: z.string().meta({ example: JOB_ID }) });
const job = jobView.meta({ id: 'Job' });

/** The description is said of the answer, and an example shows it. */
function found(description: string, schema: z.ZodType, example: unknown) {
  return { '200': { description, content: { 'application/json': { schema, example } } } };
}

export const LIST_JOBS: ZodOpenApiOperationObject = {
  operationId: 'listJobs',
  summary: 'List jobs',
  description:
    'The newest first. All filters must fit; `Idempotency-Key` finds the job that this key made in the last 24 h.',
  ...BESIDE,
  ...needs('jobs:read'),
  requestParams: {
    header: header.extend({
      'Idempotency-Key': idempotencyKey.optional().meta({ example: 'order-4711-label' }),
    }),
    query: integratorJobsQuery,
  },
  responses: {
    ...found('A page of jobs.', jobPage.extend({ jobs: z.array(job) }).meta({ id: 'Jobs' }), {
      jobs: [JOB_EXAMPLE],
      next: null,
    }),
    ...problemResponses([...CALLER, 'payload-invalid', 'idempotency-key-invalid', 'internal']),
  },
};

export const EXTRA_PATHS: ZodOpenApiPathsObject = {
  '/v2/jobs/{id}': {
    get: {
      operationId: 'readJob',
      summary: "Read a job's state",
      description: 'A job of another tenant is 404.',
      ...BESIDE,
      ...needs('jobs:read'),
      requestParams: { header, path },
      responses: {
        ...found('The job.', job, JOB_EXAMPLE),
        ...problemResponses([...CALLER, 'job-not-found', 'internal']),
      },
    },
  },
  '/v2/jobs/{id}/cancel': {
    post: {
      operationId: 'cancelJob',
      summary: 'Cancel a job',
      description:
        'What waits is `canceled` at once. A job that an agent has is asked to stop: it has the reason `cancel-requested` ' +
        'until the agent has answered, and may be `printed` by then.',
      ...BESIDE,
      ...needs('jobs:cancel'),
      requestParams: { header, path },
      requestBody: {
        content: { 'application/json': { schema: integratorCancel, example: { why: 'Ordered twice' } } },
      },
      responses: {
        ...found('The job as it is now.', job, { ...JOB_EXAMPLE, status: 'canceled' }),
        ...problemResponses([
          ...CALLER,
          'content-type-unsupported',
          'json-invalid',
          'body-too-large',
          'payload-invalid',
          'job-not-found',
          'job-not-queued',
          'internal',
        ]),
      },
    },
  },
  '/v2/labels': {
    post: {
      operationId: 'renderLabel',
      summary: 'Draw a label without printing it',
      description:
        'Makes no job and takes no allowance. `label` chooses one of the records; values are checked as for a job.',
      ...BESIDE,
      ...needs('labels:render'),
      requestParams: { header },
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: labelsRequest.meta({ id: 'LabelsRequest' }),
            example: { idT: REQUEST_EXAMPLE.idT, data: REQUEST_EXAMPLE.data, dpi: 203 },
          },
        },
      },
      responses: {
        '200': {
          description: 'The label: as a picture, one pixel for each dot.',
          headers: z.object({
            'X-Total-Count': z
              .int()
              .min(0)
              .meta({ description: 'How many labels the request has.', example: 1 }),
          }),
          content: {
            'image/png': { schema: { type: 'string', format: 'binary' } },
            'application/pdf': { schema: { type: 'string', format: 'binary' } },
            'application/vnd.zebra-zpl': { schema: { type: 'string' } },
          },
        },
        ...problemResponses([
          ...CALLER,
          'content-type-unsupported',
          'body-missing',
          'json-invalid',
          'body-too-large',
          'payload-invalid',
          'template-not-found',
          'labels-limit',
          'format-incompatible',
          'data-unprintable',
          'label-undrawable',
          'overloaded',
          'not-ready',
          'internal',
        ]),
      },
    },
  },
  '/v2/templates': {
    get: {
      operationId: 'listTemplates',
      summary: 'List templates',
      description: 'By ID. What a job may name as `idT`, and the fields of its records.',
      ...BESIDE,
      ...needs('templates:read'),
      requestParams: { header, query: pageQuery },
      responses: {
        ...found('A page of templates.', integratorTemplates.meta({ id: 'Templates' }), {
          templates: [TEMPLATE_EXAMPLE],
          next: null,
        }),
        ...problemResponses([...CALLER, 'payload-invalid', 'internal']),
      },
    },
  },
  '/v2/printers': {
    get: {
      operationId: 'listPrinters',
      summary: 'List printers',
      description: 'By ID. The printers that a job of the tenant can go to.',
      ...BESIDE,
      ...needs('printers:read'),
      requestParams: { header, query: pageQuery },
      responses: {
        ...found('A page of printers.', integratorPrinters.meta({ id: 'Printers' }), {
          printers: [PRINTER_EXAMPLE],
          next: null,
        }),
        ...problemResponses([...CALLER, 'payload-invalid', 'internal']),
      },
    },
  },
};
