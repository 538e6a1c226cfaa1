/** The problems of the external interface, each as it may come: what `/openapi.json` shows of them. */
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { wordsOf } from '../contract/define-faults.ts';
import { because } from '../contract/reason.ts';
import { keyReused } from './jobs/accept/idempotency.ts';
import {
  faultAt,
  PROBLEM_TYPE,
  PROBLEMS,
  type ProblemCode,
  ProblemError,
  payloadInvalid,
  problem,
  refusedBecause,
} from './problems.ts';
import { quotaExceeded } from './tenants/tenants.ts';

const retryAfter = (seconds: number) => ({ headers: { 'retry-after': String(seconds) } });

/** A refusal at one field, which its `errors` point at. */
function refusedAt(
  code: ProblemCode,
  pointer: string,
  reason: ReturnType<typeof because>,
  value?: unknown,
): ProblemError {
  return refusedBecause(code, reason, { errors: [faultAt(pointer, reason, value)] });
}

export const PROBLEM_EXAMPLES = {
  'token-missing': new ProblemError('token-missing', 'expected the header "Authorization: Bearer <token>"'),
  'token-invalid': new ProblemError('token-invalid', 'the token has expired'),
  'tenant-missing': new ProblemError(
    'tenant-missing',
    'expected the header x-tenant with the tenant ID of the integration',
  ),
  'tenant-invalid': new ProblemError('tenant-invalid', 'x-tenant: expected 1 to 63 of a-z, 0-9 and "-"'),
  'tenant-forbidden': new ProblemError(
    'tenant-forbidden',
    'the service account has no access to tenant "globex"',
  ),
  'permission-missing': new ProblemError(
    'permission-missing',
    'the service account lacks the permission jobs:read',
  ),
  'too-many-requests': new ProblemError(
    'too-many-requests',
    'the tenant has sent more than 1000 requests in a second',
    retryAfter(1),
  ),
  'idempotency-key-missing': new ProblemError(
    'idempotency-key-missing',
    'expected the header Idempotency-Key: one key per business event',
  ),
  'idempotency-key-invalid': new ProblemError(
    'idempotency-key-invalid',
    'Idempotency-Key: expected 1 to 255 visible ASCII characters',
  ),
  'idempotency-key-reused': keyReused(),
  'content-type-unsupported': new ProblemError(
    'content-type-unsupported',
    'expected the header "Content-Type: application/json"',
  ),
  'body-missing': new ProblemError('body-missing', 'the request needs a JSON body'),
  'json-invalid': new ProblemError('json-invalid', 'the body is not valid JSON (at character 118)'),
  'body-too-large': refusedBecause('body-too-large', because('body-bytes', { most: 5_242_880 })),
  'payload-invalid': payloadInvalid([
    faultAt('/numberCopies', because('whole-number', { least: 1, most: 100_000 }), 0),
  ]),
  'labels-limit': refusedAt(
    'labels-limit',
    '/numberCopies',
    because('labels-many', { records: 200, copies: 1_000, labels: 200_000, most: 100_000 }),
    1_000,
  ),
  'template-not-found': new ProblemError('template-not-found', 'the tenant has no template "shelf-label-2"'),
  'printer-unknown': refusedAt(
    'printer-unknown',
    '/printer',
    because('printer-no-name-of', { choices: '"Dispatch 1" (serial-4f1c9a2b7d3e)' }),
    'Dispatch',
  ),
  'printer-ambiguous': refusedAt(
    'printer-ambiguous',
    '/printer',
    because('printer-names', { choices: 'serial-4f1c9a2b7d3e, serial-9b0d2c7e1f5a' }),
    'Dispatch 1',
  ),
  'printer-unassigned': refusedAt(
    'printer-unassigned',
    '/printerId',
    because('printer-no-agent', { printer: 'serial-4f1c9a2b7d3e' }),
    'serial-4f1c9a2b7d3e',
  ),
  'printer-not-virtual': refusedAt(
    'printer-not-virtual',
    '/printerId',
    because('printer-real', {}),
    'serial-4f1c9a2b7d3e',
  ),
  'format-unknown': refusedAt(
    'format-unknown',
    '/format',
    because('format-none', { printer: 'serial-4f1c9a2b7d3e', choices: '"4×6 in, 203 dpi"' }),
    'A4',
  ),
  'format-ambiguous': refusedAt(
    'format-ambiguous',
    '/format',
    because('format-names', { choices: 'zpl-203-101.6x152.4, pdf-101.6x152.4' }),
    '4×6 in',
  ),
  'format-incompatible': refusedAt('format-incompatible', '/format', because('format-zpl', {}), 'A4'),
  'media-mismatch': refusedAt(
    'media-mismatch',
    '/format',
    because('label-turned-mismatch', { width: 101.6, height: 152.4, mediaWidth: 50, mediaHeight: 25 }),
    '50 × 25 mm, 203 dpi',
  ),
  'data-unprintable': new ProblemError(
    'data-unprintable',
    'record 1, elements/0: the check digit is wrong: expected 1',
    { errors: [faultAt('/data/0/ean', because('check-digit-wrong', { expected: 1 }))] },
  ),
  'quota-exceeded': quotaExceeded({ labels: 10_000, used: 9_999 }, 2),
  'too-many-waiting': refusedBecause(
    'too-many-waiting',
    because('waiting-jobs', { count: 100_000, most: 100_000 }),
    retryAfter(30),
  ),
  'enqueue-failed': new ProblemError(
    'enqueue-failed',
    'the job was not queued; send it again with the same Idempotency-Key',
  ),
  overloaded: new ProblemError(
    'overloaded',
    'too many large requests are in hand; send it again',
    retryAfter(5),
  ),
  internal: new ProblemError('internal', 'the request could not be completed; send it again'),
  'job-not-found': new ProblemError('job-not-found', 'there is no job with this ID'),
  'label-undrawable': refusedBecause('label-undrawable', because('draws-long', { seconds: 10 })),
  'not-ready': new ProblemError('not-ready', 'other labels are being drawn: ask again'),
  'job-not-queued': new ProblemError('job-not-queued', 'the job is printed'),
  'request-malformed': new ProblemError('request-malformed', 'the URL cannot be read'),
  'method-not-allowed': new ProblemError('method-not-allowed', 'this address takes POST', {
    headers: { allow: 'POST' },
  }),
  'request-late': new ProblemError('request-late', 'the request did not come in whole in time'),
  'headers-too-large': new ProblemError(
    'headers-too-large',
    'the address and the headers have more than 16 KiB',
  ),
} satisfies Partial<Record<ProblemCode, ProblemError>>;

/** The codes that the external interface answers with; all others are those of internal routes. */
export type InterfaceCode = keyof typeof PROBLEM_EXAMPLES;

const REQUEST_ID = 'c0a8012e-7d3f-4a55-9a31-2f1d8a0c7e11';

/** The problem document, with the codes of the external interface only. */
const interfaceProblem = problem
  .extend({ code: z.enum(wordsOf(PROBLEM_EXAMPLES)) })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });

/** Headers of a status' answers, by their names in an example. */
export const HEADERS = {
  allow: z.object({
    Allow: z.string().meta({ description: 'The methods of this address.', example: 'POST' }),
  }),
  'retry-after': z.object({
    'Retry-After': z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Seconds after which to try again.', example: 1 }),
  }),
};

/** One response for each status, with an example for each code. */
export function problemResponses(codes: readonly InterfaceCode[]): ZodOpenApiOperationObject['responses'] {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const responses: ZodOpenApiOperationObject['responses'] = {};
  for (const [status, list] of [...byStatus].sort(([a], [b]) => a - b)) {
    const examples = list.map((code) => [code, { value: PROBLEM_EXAMPLES[code].body(REQUEST_ID) }]);
    const sent = Object.entries(HEADERS).find(([name]) =>
      list.some((code) => name in PROBLEM_EXAMPLES[code].headers),
    );
    responses[`${Math.trunc(status / 100) === 5 ? 5 : 4}${String(status).slice(1)}`] = {
      description: list.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join('\n\n'),
      ...(sent !== undefined && { headers: sent[1] }),
      content: { [PROBLEM_TYPE]: { schema: interfaceProblem, examples: Object.fromEntries(examples) } },
    };
  }
  return responses;
}
