/**
 * Every error that the HTTP interface answers with, from one table, as RFC 9457 problem details. `code` is stable
 * and what a program tells errors apart by; `title` belongs to the code; `detail` says what it was this time.
 *
 * The token endpoint is the exception: RFC 6749 §5.2 lays down its own errors (`oauth/token-endpoint.ts`).
 */
import { z } from 'zod';
import { defineFaults, type FaultKind, wordsOf } from '../contract/define-faults.ts';
import { InexactNumber } from './json-body.ts';

export const PROBLEMS = {
  'token-missing': { status: 401, title: 'The request carries no bearer token' },
  'token-invalid': { status: 401, title: 'The bearer token is expired or invalid' },
  'tenant-missing': { status: 400, title: 'The header x-tenant is missing' },
  'tenant-invalid': { status: 400, title: 'The header x-tenant is not a tenant ID' },
  'tenant-forbidden': {
    status: 403,
    title: 'The service account does not belong to this tenant',
  },
  'permission-missing': { status: 403, title: 'The service account lacks a permission' },
  'idempotency-key-missing': {
    status: 400,
    title: 'The header Idempotency-Key is missing',
  },
  'idempotency-key-invalid': {
    status: 400,
    title: 'The header Idempotency-Key is malformed',
  },
  'idempotency-key-reused': {
    status: 400,
    title: 'The Idempotency-Key was used for another payload',
  },
  'content-type-unsupported': { status: 400, title: 'The body is not application/json' },
  'body-missing': { status: 400, title: 'The request has no body' },
  'json-invalid': { status: 400, title: 'The body is not valid JSON' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'payload-invalid': {
    status: 400,
    title: 'The payload is missing data or has invalid data',
  },
  'labels-limit': { status: 400, title: 'The job has too many labels' },
  'request-malformed': { status: 400, title: 'The request could not be read' },
  'template-not-found': {
    status: 404,
    title: 'The template does not exist in the tenant',
  },
  'printer-unknown': { status: 400, title: 'The printer is not known' },
  'printer-ambiguous': { status: 400, title: 'Several printers have this name' },
  'printer-unassigned': { status: 400, title: 'No agent is assigned to the printer' },
  'format-unknown': { status: 400, title: 'The printer has no such format' },
  'format-ambiguous': {
    status: 400,
    title: 'Several formats of the printer have this name',
  },
  'format-incompatible': {
    status: 400,
    title: 'The template cannot be printed in this format',
  },
  'data-unprintable': { status: 400, title: 'A value cannot be printed' },
  'quota-exceeded': { status: 403, title: 'The print quota blocks the request' },
  'enqueue-failed': { status: 500, title: 'The job could not be enqueued', retrySafe: true },
  // The interface knows no other status for it than 500.
  overloaded: { status: 500, title: 'The service has too much in hand', retrySafe: true },
  'job-not-found': { status: 404, title: 'The job does not exist' },
  'job-not-queued': { status: 409, title: 'The job can no longer be canceled' },
  'job-not-held': { status: 409, title: 'The job is neither held nor failed' },
  'labels-uncertain': { status: 409, title: 'Nobody knows which labels are out' },
  'template-exists': { status: 409, title: 'Another template has this name' },
  'tenant-exists': { status: 409, title: 'The tenant exists already' },
  'tenant-not-found': { status: 404, title: 'The tenant does not exist' },
  'integration-not-found': { status: 404, title: 'The integration does not exist' },
  'authorization-external': {
    status: 409,
    title: 'Service accounts are kept by an external authorization server',
  },
  'not-found': { status: 404, title: 'There is no such resource' },
  'method-not-allowed': { status: 405, title: 'The resource does not take this method' },
  'unauthorized-admin': { status: 401, title: 'The admin token is missing or wrong' },
  'not-ready': { status: 503, title: 'The service is not ready', retrySafe: true },
  internal: { status: 500, title: 'The service failed in an unforeseen way', retrySafe: true },
} as const satisfies Record<string, FaultKind & { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
export const PROBLEM_CODES = wordsOf(PROBLEMS);

export const PROBLEM_TYPE = 'application/problem+json';
/** Most faults that one answer lists. */
export const MAX_FAULTS = 100;
/** Longest part of a value that an answer repeats, characters. */
const SHOWN = 60;

export const fault = z.object({
  pointer: z.string().meta({ description: 'JSON pointer (RFC 6901) into the body.' }),
  detail: z.string(),
  value: z.string().optional().meta({ description: 'The value found, as JSON, shortened.' }),
});
export type Fault = z.infer<typeof fault>;

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(PROBLEM_CODES),
    retrySafe: z
      .boolean()
      .meta({ description: 'Sending the same request again may succeed and is harmless.' }),
    requestId: z.string(),
    errors: z
      .array(fault)
      .optional()
      .meta({ description: `The faults, at most ${MAX_FAULTS}.` }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });
export type Problem = z.infer<typeof problem>;

type Extra = { errors?: readonly Fault[]; headers?: Readonly<Record<string, string>>; cause?: unknown };

/** Thrown anywhere in the service; `app.ts` turns it into the answer. */
export class ProblemError extends defineFaults('ProblemError', PROBLEMS) {
  readonly errors: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, { errors, headers = {}, ...cause }: Extra = {}) {
    super(code, detail, cause);
    this.errors = errors;
    this.headers = headers;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** The body of the answer. */
  body(requestId: string): Problem {
    const { status, title } = PROBLEMS[this.code];
    return {
      type: `urn:platen:problem:${this.code}`,
      title,
      status,
      detail: this.message,
      code: this.code,
      retrySafe: this.retrySafe,
      requestId,
      ...(this.errors === undefined ? {} : { errors: this.errors.slice(0, MAX_FAULTS) }),
    };
  }
}

/** RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A value as JSON, shortened: enough to find it by. */
export function shorten(value: unknown): string {
  // Cut long strings first: a value may be megabytes.
  const json = JSON.stringify(typeof value === 'string' ? value.slice(0, SHOWN + 1) : value) ?? 'nothing';
  return json.length > SHOWN ? `${json.slice(0, SHOWN)}…` : json;
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/**
 * The faults of a body, one for each place. An unknown field is a fault of its own, so that a misspelt one is
 * named by its own pointer.
 */
export function faultsOf(issues: readonly z.core.$ZodIssue[], body: unknown): Fault[] {
  const faults: Fault[] = [];
  for (const issue of issues) {
    if (faults.length >= MAX_FAULTS) break;
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, MAX_FAULTS)) {
        faults.push({ pointer: jsonPointer([...issue.path, key]), detail: `unknown field ${shorten(key)}` });
      }
    } else {
      const value = valueAt(body, issue.path);
      faults.push({
        pointer: jsonPointer(issue.path),
        detail: value instanceof InexactNumber ? value.detail : issue.message,
        ...(value === undefined || typeof value === 'object' ? {} : { value: shorten(value) }),
      });
    }
  }
  return faults;
}

/** @throws ProblemError `payload-invalid` with the faults; else returns the parsed body. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  if (body === undefined) throw new ProblemError('body-missing', 'the request needs a JSON body');
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw payloadInvalid(faultsOf(result.error.issues, body), result.error.issues.length);
}

/** The refusal of a body. `count`: the faults there are, where they are more than those given. */
export function payloadInvalid(errors: readonly Fault[], count = errors.length): ProblemError {
  const [first] = errors;
  const where = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `;
  return new ProblemError(
    'payload-invalid',
    `${where}${first?.detail ?? 'invalid'}${count > 1 ? `, and ${count - 1} more` : ''}`,
    { errors },
  );
}
