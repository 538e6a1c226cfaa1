/** The external interface as an OpenAPI 3.1 document, made from the very schemas that check the requests. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiObject, type ZodOpenApiOperationObject } from 'zod-openapi';
import { type Permission, validationResult } from '../contract/admin.ts';
import { type JobView, jobView } from '../contract/job.ts';
import { printRequestWithin } from '../contract/print-request.ts';
import { tenantId } from '../contract/tenant-id.ts';
import type { ServerConfig } from './config.ts';
import { idempotencyKey } from './jobs/accept/idempotency.ts';
import { tokenOperation } from './oauth/token-operation.ts';
import { type InterfaceCode, problemResponses } from './problem-examples.ts';

/** The security scheme's name. */
const SCHEME = 'token';
const JOB_ID = '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f';
const REQUEST_EXAMPLE = {
  idT: '0198c5bf-2f53-7d11-8a3b-64a8a2f0c9e1',
  printerId: 'serial-4f1c9a2b7d3e',
  numberCopies: 2,
  data: [{ sscc: '003401234500000000', city: 'Göteborg' }],
};

const VALIDATION_EXAMPLE = {
  valid: true,
  labels: 2,
  route: {
    printerId: 'serial-4f1c9a2b7d3e',
    printer: 'Dispatch 1',
    agentId: 'agent-warehouse',
    format: { id: 'zpl-203-101x152', name: '4×6 in, 203 dpi' },
  },
  warnings: [
    {
      code: 'field-missing',
      message: 'the field is missing; nothing is printed',
      record: 0,
      field: 'street',
    },
  ],
  warningCount: 1,
};

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

const CALLER: readonly InterfaceCode[] = [
  'request-malformed',
  'method-not-allowed',
  'request-late',
  'headers-too-large',
  'token-missing',
  'token-invalid',
  'tenant-missing',
  'tenant-invalid',
  'tenant-forbidden',
  'permission-missing',
  'too-many-requests',
];
const PAYLOAD: readonly InterfaceCode[] = [
  'content-type-unsupported',
  'body-missing',
  'json-invalid',
  'body-too-large',
  'payload-invalid',
  'labels-limit',
  'template-not-found',
  'printer-unknown',
  'printer-ambiguous',
  'printer-unassigned',
  'format-unknown',
  'format-ambiguous',
  'format-incompatible',
  'media-mismatch',
  'data-unprintable',
  'quota-exceeded',
  'overloaded',
  'internal',
];
const KEY: readonly InterfaceCode[] = [
  'idempotency-key-missing',
  'idempotency-key-invalid',
  'idempotency-key-reused',
  'too-many-waiting',
  'enqueue-failed',
];

const PERMISSION_MEANS: Record<Permission, string> = {
  'jobs:enqueue': 'Validate and enqueue jobs.',
  'jobs:read': "Read jobs' states.",
};

type SecurityScheme = NonNullable<NonNullable<ZodOpenApiObject['components']>['securitySchemes']>[string];

/** What an operation needs of its caller. */
function needs(permission: Permission): Pick<ZodOpenApiOperationObject, 'security'> {
  return { security: [{ [SCHEME]: [permission] }] };
}

const tenantHeader = tenantId.meta({
  description: "Tenant ID of the integration's configuration.",
  example: 'default',
});

/**
 * Adds what zod's translation leaves out: that `printerId` or `printer` is required. A `default` moves into
 * the description: generators take a field with a default for one that is always there, and have callers send
 * it.
 */
function describePrintRequest(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  jsonSchema.anyOf = [{ required: ['printerId'] }, { required: ['printer'] }];
  for (const property of Object.values(jsonSchema.properties ?? {})) {
    if (typeof property === 'boolean' || property.default === undefined) continue;
    property.description = `${property.description ?? ''} Default: \`${property.default}\`.`.trim();
    delete property.default;
  }
}

/** Where an external server issues the tokens, its address is not known: only its keys are. */
function securityScheme(config: ServerConfig, publicUrl: string): SecurityScheme {
  if (config.externalAuth !== undefined) return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
  return {
    type: 'oauth2',
    flows: {
      clientCredentials: {
        tokenUrl: `${publicUrl}/oauth/token`,
        scopes: PERMISSION_MEANS,
      },
    },
  };
}

/** zod writes down that an integer is one that a double holds. */
function withoutBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

/** The document that `/openapi.json` serves. */
export function openApiDocument(config: ServerConfig, publicUrl: string): object {
  const printRequest = printRequestWithin(config.limits).meta({
    id: 'PrintRequest',
    override: ({ jsonSchema }) => describePrintRequest(jsonSchema),
  });
  const body = {
    required: true,
    content: { 'application/json': { schema: printRequest, example: REQUEST_EXAMPLE } },
  } as const;
  const created = {
    content: {
      'application/json': {
        schema: z.union([z.array(z.string()).length(1), z.string()]),
        examples: {
          'with data': { value: [JOB_ID] },
          'template only': { value: JOB_ID },
        },
      },
    },
  };
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Platen: label print interface',
        version: '2.0.0',
        description:
          'Get an access token, validate a print job, enqueue it. Every error is a problem document (RFC 9457) whose ' +
          '`code` is stable.',
        contact: { name: 'Whoever runs this service', url: publicUrl },
        license: { name: 'All rights reserved', url: `${publicUrl}/docs/` },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: 'Token', description: 'What all other requests need.' },
        { name: 'Jobs', description: 'Labels to be printed.' },
      ],
      components: {
        securitySchemes: {
          [SCHEME]: securityScheme(config, publicUrl),
        },
      },
      paths: {
        ...(config.externalAuth === undefined ? { '/oauth/token': { post: tokenOperation(config) } } : {}),
        '/v2/jobs': {
          post: {
            operationId: 'enqueueJob',
            summary: 'Enqueue a job',
            description:
              'The job is stored before the answer. A retry with the same `Idempotency-Key` gets the first answer again.',
            ...needs('jobs:enqueue'),
            tags: ['Jobs'],
            requestParams: {
              header: z.object({
                'x-tenant': tenantHeader,
                'Idempotency-Key': idempotencyKey.meta({
                  description:
                    'One stable key per business event, kept for 24 h; reused only for identical retries.',
                  example: 'order-4711-label',
                }),
              }),
            },
            requestBody: body,
            responses: {
              '201': {
                description: 'The job was queued. An array when `data` was supplied, else one ID.',
                headers: z.object({
                  'Platen-Warnings': z.string().optional().meta({
                    description:
                      'How many warnings of each code there are, as a dictionary of RFC 9651; `validate` lists them.',
                    example: 'field-missing=3, size-mismatch=1',
                  }),
                }),
                ...created,
              },
              '200': {
                description:
                  'An identical retry; the answer of the first request, and nothing was queued again.',
                headers: z.object({ 'Idempotency-Replayed': z.literal('true') }),
                ...created,
              },
              ...problemResponses([...CALLER, ...KEY, ...PAYLOAD]),
            },
          },
        },
        '/v2/jobs/validate': {
          post: {
            operationId: 'validateJob',
            summary: 'Validate without printing',
            description:
              'The same checks and errors as enqueueing. Creates nothing, prints nothing, takes no allowance.',
            tags: ['Jobs'],
            ...needs('jobs:enqueue'),
            requestParams: { header: z.object({ 'x-tenant': tenantHeader }) },
            requestBody: body,
            responses: {
              '200': {
                description: 'The job could be enqueued.',
                content: {
                  'application/json': {
                    schema: validationResult.meta({ id: 'ValidationResult' }),
                    example: VALIDATION_EXAMPLE,
                  },
                },
              },
              ...problemResponses([...CALLER, ...PAYLOAD]),
            },
          },
        },
        ...(config.publicJobStatus
          ? {
              '/v2/jobs/{id}': {
                get: {
                  operationId: 'readJob',
                  summary: "Read a job's state",
                  description:
                    'What this deployment exposes beside the interface; needs the permission `jobs:read`. A job of ' +
                    'another tenant is 404.',
                  tags: ['Jobs'],
                  ...needs('jobs:read'),
                  requestParams: {
                    header: z.object({ 'x-tenant': tenantHeader }),
                    path: z.object({ id: z.string().meta({ example: JOB_ID }) }),
                  },
                  responses: {
                    '200': {
                      description: 'The job.',
                      content: {
                        'application/json': { schema: jobView.meta({ id: 'Job' }), example: JOB_EXAMPLE },
                      },
                    },
                    ...problemResponses([...CALLER, 'job-not-found', 'internal']),
                  },
                },
              },
            }
          : {}),
      },
    },
    { override: withoutBounds },
  );
}
