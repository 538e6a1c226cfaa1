/** The external interface as an OpenAPI document, made from the very schemas that check the requests. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiObject } from 'zod-openapi';
import { validationResult } from '../contract/admin.ts';
import { printRequestWithin } from '../contract/print-request.ts';
import type { ServerConfig } from './config.ts';
import { idempotencyKey } from './jobs/accept/idempotency.ts';
import { LABELARY_PATHS } from './labelary/openapi.ts';
import { tokenOperation } from './oauth/token-operation.ts';
import { EXTRA_PATHS, LIST_JOBS } from './openapi-extra.ts';
import {
  CALLER,
  JOB_ID,
  needs,
  PERMISSION_MEANS,
  REQUEST_EXAMPLE,
  SCHEME,
  tenantHeader,
} from './openapi-parts.ts';
import { type InterfaceCode, problemResponses } from './problem-examples.ts';

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
  'printer-not-virtual',
  'format-unknown',
  'format-ambiguous',
  'format-incompatible',
  'media-mismatch',
  'data-unprintable',
  'quota-exceeded',
  'overloaded',
  'internal',
  'not-ready',
];
const KEY: readonly InterfaceCode[] = [
  'idempotency-key-missing',
  'idempotency-key-invalid',
  'idempotency-key-reused',
  'too-many-waiting',
  'enqueue-failed',
];

type SecurityScheme = NonNullable<NonNullable<ZodOpenApiObject['components']>['securitySchemes']>[string];

/** Adds what zod's translation leaves out: that `printerId` or `printer` is required. */
function describePrintRequest(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  jsonSchema.anyOf = [{ required: ['printerId'] }, { required: ['printer'] }];
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

/**
 * zod writes down that an integer is one that a double holds. A `default` moves into the description: generators take a
 * field with a default for one that is always there, and have callers send it.
 */
function asGeneratorsReadIt({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.default === undefined) return;
  jsonSchema.description = `${jsonSchema.description ?? ''} Default: \`${jsonSchema.default}\`.`.trim();
  delete jsonSchema.default;
}

export type OpenApiVersion = '3.1.0' | '3.0.3';

/** The document that `/openapi.json` serves; in 3.0.3 for generators that read no 3.1. */
export function openApiDocument(
  config: ServerConfig,
  publicUrl: string,
  openapi: OpenApiVersion = '3.1.0',
): object {
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
      openapi,
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
        ...(config.extraRoutes
          ? [{ name: 'Beside', description: 'What this deployment exposes beside the interface.' }]
          : []),
        ...(config.labelary.on
          ? [{ name: 'Labelary', description: 'For programs written for Labelary.' }]
          : []),
      ],
      components: {
        securitySchemes: {
          [SCHEME]: securityScheme(config, publicUrl),
        },
      },
      paths: {
        ...(config.externalAuth === undefined ? { '/oauth/token': { post: tokenOperation(config) } } : {}),
        '/v2/jobs': {
          ...(config.extraRoutes && { get: LIST_JOBS }),
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
        ...(config.extraRoutes && EXTRA_PATHS),
        ...(config.labelary.on && LABELARY_PATHS),
      },
    },
    { override: asGeneratorsReadIt },
  );
}
