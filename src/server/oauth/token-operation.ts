/** The token endpoint in `/openapi.json`. */
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { PERMISSIONS } from '../../contract/admin.ts';
import type { ServerConfig } from '../config.ts';
import { HEADERS, problemResponses } from '../problem-examples.ts';
import { tokenError, tokenResponse } from './token-endpoint.ts';

/** Errors of the token endpoint, with an example for each code. */
function tokenErrors(
  description: string,
  ...errors: readonly z.infer<typeof tokenError>[]
): ZodOpenApiResponseObject {
  const examples = errors.map((value) => [value.error, { value }]);
  const content = { 'application/json': { schema: tokenError, examples: Object.fromEntries(examples) } };
  return { description, content };
}

export function tokenOperation(config: ServerConfig): ZodOpenApiOperationObject {
  return {
    operationId: 'requestToken',
    summary: 'Get an access token',
    description:
      'OAuth 2.0 client credentials (RFC 6749 §4.4). The credentials go in the form or in an HTTP Basic header, ' +
      'not in both, and never in the URL. After too many failed attempts the answer is 429.',
    tags: ['Token'],
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: z.object({
            grant_type: z.literal('client_credentials'),
            client_id: z.string().optional().meta({ description: 'The API key.' }),
            client_secret: z.string().optional().meta({ description: 'The API secret.' }),
            audience: z.string().optional().meta({ example: config.audience }),
            scope: z
              .string()
              .optional()
              .meta({ description: PERMISSIONS.join(' '), example: 'jobs:enqueue' }),
          }),
        },
      },
    },
    responses: {
      '200': { description: 'The token.', content: { 'application/json': { schema: tokenResponse } } },
      '400': tokenErrors(
        'The request is not one that gets a token.',
        { error: 'invalid_request', error_description: 'grant_type is missing: expected client_credentials' },
        {
          error: 'unsupported_grant_type',
          error_description: 'expected grant_type=client_credentials',
        },
        {
          error: 'invalid_scope',
          error_description: 'the client may have this scope, or a part of it: jobs:enqueue jobs:read',
        },
        { error: 'invalid_target', error_description: `expected audience=${config.audience}` },
      ),
      '401': {
        ...tokenErrors('Key or secret is wrong.', {
          error: 'invalid_client',
          error_description: 'unknown client or wrong secret',
        }),
        headers: z.object({ 'WWW-Authenticate': z.string() }),
      },
      ...problemResponses(['method-not-allowed', 'request-late', 'headers-too-large']),
      '413': tokenErrors('The request is too large.', {
        error: 'invalid_request',
        error_description: 'the request is too large',
      }),
      '429': {
        ...tokenErrors('Too many failed attempts.', {
          error: 'slow_down',
          error_description: 'too many failed attempts; try again in 60 s',
        }),
        headers: HEADERS['retry-after'],
      },
      '500': tokenErrors('Try again.', {
        error: 'server_error',
        error_description: 'the token could not be issued',
      }),
      '503': {
        ...tokenErrors('Try again.', {
          error: 'temporarily_unavailable',
          error_description: 'too many token requests at once',
        }),
        headers: HEADERS['retry-after'],
      },
    },
  };
}
