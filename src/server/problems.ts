/**
 * Every error that the HTTP interface answers with, from one table, as RFC 9457 problem details. `code` is
 * stable, for programs; `title` belongs to the code; `detail` says what was wrong this time.
 *
 * The token endpoint is the exception: RFC 6749 §5.2 lays down its own errors (`oauth/token-endpoint.ts`).
 */
import { z } from 'zod';
import { defineFaults, wordsOf } from '../contract/define-faults.ts';
import { because, type Reason, reason, reasonIn, reasonText } from '../contract/reason.ts';
import { reasonOfIssue } from './issue-reason.ts';
import { InexactNumber } from './json-body.ts';

/** The parts of an answer that its code determines. `retrySafe`: see `FaultKind`. */
function kind(status: number, title: string, retrySafe?: true) {
  return { status, title, ...(retrySafe && { retrySafe }) };
}

export const PROBLEMS = {
  'token-missing': kind(401, 'The request carries no bearer token'),
  'token-invalid': kind(401, 'The bearer token is expired or invalid'),
  'tenant-missing': kind(400, 'The header x-tenant is missing'),
  'tenant-invalid': kind(400, 'The header x-tenant is not a tenant ID'),
  'tenant-forbidden': kind(403, 'The service account does not belong to this tenant'),
  'permission-missing': kind(403, 'The service account lacks a permission'),
  'idempotency-key-missing': kind(400, 'The header Idempotency-Key is missing'),
  'idempotency-key-invalid': kind(400, 'The header Idempotency-Key is malformed'),
  'idempotency-key-reused': kind(400, 'The Idempotency-Key was used for another payload'),
  'content-type-unsupported': kind(400, 'The body is not application/json'),
  'body-missing': kind(400, 'The request has no body'),
  'json-invalid': kind(400, 'The body is not valid JSON'),
  'body-too-large': kind(413, 'The body is too large'),
  'payload-invalid': kind(400, 'The payload is missing data or has invalid data'),
  'labels-limit': kind(400, 'The job has too many labels'),
  'request-malformed': kind(400, 'The request could not be read'),
  'request-late': kind(408, 'The request did not come in in time', true),
  'headers-too-large': kind(431, 'The headers are too large'),
  'template-not-found': kind(404, 'The template does not exist in the tenant'),
  'printer-unknown': kind(400, 'The printer is not known'),
  'printer-ambiguous': kind(400, 'Several printers have this name'),
  'printer-unassigned': kind(400, 'No agent is assigned to the printer'),
  'printer-not-virtual': kind(400, 'A test prints on virtual printers only'),
  'format-unknown': kind(400, 'The printer has no such format'),
  'format-ambiguous': kind(400, 'Several formats of the printer have this name'),
  'format-incompatible': kind(400, 'The template cannot be printed in this format'),
  'media-mismatch': kind(400, 'The label does not fit the media in the printer'),
  'data-unprintable': kind(400, 'A value cannot be printed'),
  'quota-exceeded': kind(403, 'The print quota blocks the request'),
  'too-many-requests': kind(429, 'The tenant sends too many requests', true),
  'too-many-waiting': kind(429, 'Too many jobs of the tenant wait to be printed', true),
  'enqueue-failed': kind(500, 'The job could not be enqueued', true),
  // The interface defines no other status than 500 for this.
  overloaded: kind(500, 'The service has too much in hand', true),
  'job-not-found': kind(404, 'The job does not exist'),
  'job-not-queued': kind(409, 'The job can no longer be canceled'),
  'job-not-held': kind(409, 'The job is neither held nor failed'),
  'job-not-over': kind(409, 'The job has not ended'),
  'job-not-movable': kind(409, 'The job cannot go to another printer as it is'),
  'label-not-found': kind(404, 'The job has no such label'),
  'label-data-gone': kind(404, 'The label data is not kept any more'),
  'label-undrawable': kind(422, 'The label cannot be drawn'),
  'labels-uncertain': kind(409, 'Nobody knows which labels are out'),
  'printer-not-found': kind(404, 'The printer does not exist'),
  'printer-in-use': kind(409, 'An agent still has the printer'),
  'printer-not-added': kind(409, 'The printer cannot be added'),
  'agent-not-found': kind(404, 'There is no such agent'),
  'agent-in-use': kind(409, 'The agent may come again'),
  'agent-not-waiting': kind(409, 'The agent does not wait to be let in'),
  'agent-known': kind(409, 'Another agent has this ID'),
  'agents-limit': kind(409, 'The tenant has too many agents'),
  'invitation-spent': kind(410, 'The code works no longer'),
  'enrolment-refused': kind(403, 'The proof of the key is wrong'),
  'enrolment-too-often': kind(429, 'Too many wrong codes', true),
  'gateway-off': kind(409, 'Agents at other sites cannot join this service'),
  'ipp-off': kind(409, 'This service offers no printers by IPP'),
  'template-changed': kind(409, 'The template has been saved by somebody else'),
  'file-unknown': kind(409, 'A file in the template goes by a name that is not known'),
  'templates-limit': kind(409, 'The tenant has too many templates, or too large ones'),
  'template-exists': kind(409, 'Another template has this name'),
  'tenant-exists': kind(409, 'The tenant exists already'),
  'tenant-busy': kind(409, 'Something of the tenant is under way'),
  'tenant-not-found': kind(404, 'The tenant does not exist'),
  'integration-not-found': kind(404, 'The integration does not exist'),
  'secrets-limit': kind(409, 'A service account has one or two secrets'),
  'webhook-not-found': kind(404, 'The webhook does not exist'),
  'webhooks-limit': kind(409, 'The tenant has too many webhooks'),
  'mail-unavailable': kind(409, 'The deployment sends no mail'),
  'authorization-external': kind(409, 'Service accounts are kept by an external authorization server'),
  'session-ended': kind(401, 'The session has ended'),
  'sign-in-refused': kind(401, 'Nobody signs in with this'),
  'sign-in-too-often': kind(429, 'Too many attempts to sign in', true),
  'provider-away': kind(503, 'The provider of single sign-on does not answer', true),
  'password-wrong': kind(403, 'The current password is wrong'),
  'passkey-refused': kind(403, 'The passkey does not fit'),
  'passkeys-unavailable': kind(409, 'There are no passkeys at this address'),
  'passkeys-limit': kind(409, 'The person has too many passkeys'),
  'passkey-not-found': kind(404, 'The person has no such passkey'),
  'link-spent': kind(410, 'The link works no longer'),
  'origin-foreign': kind(403, 'The request does not come from the console'),
  'person-not-found': kind(404, 'The person does not exist in the tenant'),
  'person-exists': kind(409, 'Another person has this login'),
  'person-yourself': kind(409, 'Nobody takes their own role away'),
  'too-many-streams': kind(429, 'Too many streams of events are open', true),
  'people-limit': kind(409, 'The tenant has too many people'),
  'not-found': kind(404, 'There is no such resource'),
  'method-not-allowed': kind(405, 'The resource does not take this method'),
  'unauthorized-admin': kind(401, 'The admin token is missing or wrong'),
  'not-ready': kind(503, 'The service is not ready', true),
  internal: kind(500, 'The service failed in an unforeseen way', true),
};

export type ProblemCode = keyof typeof PROBLEMS;
export const PROBLEM_CODES = wordsOf(PROBLEMS);

export const PROBLEM_TYPE = 'application/problem+json';
/** Most faults that one answer lists. */
export const MAX_FAULTS = 100;
/** Longest part of a value that an answer repeats, characters. */
const SHOWN = 60;

const fault = z.object({
  pointer: z.string().meta({ description: 'JSON pointer (RFC 6901) into the body.' }),
  detail: z.string(),
  value: z.string().optional().meta({ description: 'The value found, as JSON, shortened.' }),
  reason: reason.meta({ description: 'What the detail says, as a code and what is filled in.' }),
});
export type Fault = z.infer<typeof fault>;

export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  code: z.enum(PROBLEM_CODES),
  retrySafe: z.boolean().meta({ description: 'Sending the same request again may succeed and is harmless.' }),
  requestId: z.string(),
  reason: reason.optional().meta({ description: 'What the detail says, as a code and what is filled in.' }),
  errors: z
    .array(fault)
    .optional()
    .meta({ description: `The faults, at most ${MAX_FAULTS}.` }),
});
type Problem = z.infer<typeof problem>;

type Extra = {
  errors?: readonly Fault[];
  reason?: Reason;
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
};

/**
 * Codes that do not say by themselves what is wrong this time, or what to do: a page in another language
 * needs the reason or the faults as well.
 */
type Open =
  | 'payload-invalid'
  | 'data-unprintable'
  | 'media-mismatch'
  | 'body-too-large'
  | 'labels-limit'
  | 'printer-unknown'
  | 'printer-unassigned'
  | 'printer-not-virtual'
  | 'printer-in-use'
  | 'agent-in-use'
  | 'printer-not-added'
  | 'format-unknown'
  | 'format-ambiguous'
  | 'format-incompatible'
  | 'quota-exceeded'
  | 'too-many-waiting'
  | 'job-not-over'
  | 'job-not-movable'
  | 'label-not-found'
  | 'label-undrawable'
  | 'templates-limit'
  | 'secrets-limit'
  | 'people-limit'
  | 'passkeys-limit'
  | 'passkeys-unavailable'
  | 'provider-away'
  | 'sign-in-too-often';
type Told = Extra & ({ reason: Reason } | { errors: readonly Fault[] });

/** Thrown anywhere in the service; `app.ts` turns it into the answer. */
export class ProblemError extends defineFaults('ProblemError', PROBLEMS) {
  readonly errors: readonly Fault[] | undefined;
  /** What the detail says, for a page in another language. */
  readonly reason: Reason | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: Exclude<ProblemCode, Open>, detail: string, extra?: Extra);
  constructor(code: ProblemCode, detail: string, extra: Told);
  constructor(code: ProblemCode, detail: string, { errors, reason, headers = {}, ...cause }: Extra = {}) {
    super(code, detail, cause);
    this.errors = errors;
    this.reason = reason;
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
      ...reasonIn(this.reason),
      ...(this.errors === undefined ? {} : { errors: this.errors.slice(0, MAX_FAULTS) }),
    };
  }
}

/** A problem whose detail is the reason's sentence in the table of reasons. */
export function refusedBecause(
  code: ProblemCode,
  reason: Reason,
  extra: Omit<Extra, 'reason'> = {},
): ProblemError {
  return new ProblemError(code, reasonText(reason), { ...extra, reason });
}

/** A fault at one place of a body. @param found the value there, if it helps to find the place */
export function faultAt(pointer: string, reason: Reason, found?: unknown): Fault {
  const value = found === undefined ? {} : { value: shorten(found) };
  return { pointer, detail: reasonText(reason), ...value, reason };
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

/** The value at a path of a body; undefined where there is none. */
export function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
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
        const said = because('member-unknown', { member: shorten(key) });
        faults.push({ pointer: jsonPointer([...issue.path, key]), detail: reasonText(said), reason: said });
      }
    } else {
      const value = valueAt(body, issue.path);
      const said = value instanceof InexactNumber ? value.reason : reasonOfIssue(issue, value);
      faults.push({
        pointer: jsonPointer(issue.path),
        detail: reasonText(said),
        ...(value === undefined || typeof value === 'object' ? {} : { value: shorten(value) }),
        reason: said,
      });
    }
  }
  return faults;
}

/** Returns the parsed body. @throws ProblemError `body-missing`; `payload-invalid` with the faults */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  if (body === undefined) throw new ProblemError('body-missing', 'the request needs a JSON body');
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw payloadInvalid(faultsOf(result.error.issues, body), result.error.issues.length);
}

/** The refusal of a body. @param count how many faults there are, if more than those in `errors` */
export function payloadInvalid(errors: readonly Fault[], count = errors.length): ProblemError {
  const [first] = errors;
  const where = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `;
  return new ProblemError(
    'payload-invalid',
    `${where}${first?.detail ?? 'invalid'}${count > 1 ? `, and ${count - 1} more` : ''}`,
    { errors },
  );
}
