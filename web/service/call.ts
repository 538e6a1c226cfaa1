/** Requests from the pages to the service. Every answer is checked against the contract, and a refusal is thrown as an error. */
import { z } from 'zod';
import { parseJson } from '../../src/contract/parse-json.ts';
import { CONSOLE_HEADER } from '../../src/contract/people.ts';
import { type Reason, readableReason } from '../../src/contract/reason.ts';

// The page's Content-Security-Policy forbids code that is made at run time, which zod would otherwise make.
z.config({ jitless: true });

const TIMEOUT_MS = 30_000;

const fault = z.object({
  pointer: z.string().optional(),
  detail: z.string(),
  // A newer service may send a reason that this page does not know; `detail` says it in English.
  reason: readableReason,
});
export type Fault = z.infer<typeof fault>;

/** The part of a problem document (RFC 9457) that pages show. */
const problem = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string().optional(),
  reason: readableReason,
  errors: z.array(fault).optional(),
});

/** The service refused a request. `code` is the problem's stable code. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly faults: readonly Fault[];
  /** The message as a reason, which the page can translate; undefined: it is not in the table of reasons. */
  readonly reason: Reason | undefined;
  /** What the code means in general, without the details of this case. */
  readonly title: string;

  constructor(status: number, code: string, message: string, more: Partial<Said> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.faults = more.faults ?? [];
    this.reason = more.reason;
    this.title = more.title ?? message;
  }
}
type Said = { faults: readonly Fault[]; reason: Reason | undefined; title: string };

/** There was no answer within `TIMEOUT_MS`, or the service or the network is down. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The answer does not fit the contract, so the service has another version than the page. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion';
}

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Sets what is called when an answer says that the session has ended (401). */
let onSignedOut = () => {};
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback;
}

export type CallOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Idempotency key, the same for every attempt at one thing, so that it is done only once. */
  key?: string;
};

/**
 * @param path under `/app`
 * @throws Refusal, NoAnswer, OtherVersion; the signal's reason once it is aborted
 */
export async function call<T>(schema: z.ZodType<T>, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(path, options);
  if (!response.ok) throw await refusalOf(response);
  const body: unknown = await whole(response.text().then(parseJson).catch(notJson), options.signal);
  const answer = schema.safeParse(body ?? null);
  if (answer.success) return answer.data;
  throw new OtherVersion(`${path}: ${z.prettifyError(answer.error)}`);
}

/** Fetches a picture that the service draws for this request. @throws as `call` */
export async function picture(path: string, options: CallOptions): Promise<Blob> {
  const response = await send(path, options);
  if (!response.ok) throw await refusalOf(response);
  return whole(response.blob(), options.signal);
}

function notJson(error: unknown): undefined {
  if (!(error instanceof SyntaxError)) throw error;
}

/** The body of an answer. @throws NoAnswer if it is cut off or takes too long; the signal's reason once it is aborted */
async function whole<T>(body: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await body;
  } catch (error) {
    signal?.throwIfAborted();
    throw new NoAnswer('the answer was cut', { cause: error });
  }
}

async function send(path: string, { method, body, signal, key }: CallOptions): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(`/app${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {
        accept: 'application/json',
        [CONSOLE_HEADER]: '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new NoAnswer('no answer', { cause: error });
  }
}

async function refusalOf(response: Response): Promise<Refusal> {
  const { status } = response;
  const { data } = problem.safeParse(await response.json().catch(() => undefined));
  if (status === 401) onSignedOut();
  if (data === undefined) return new Refusal(status, 'unknown', `status ${status}`);
  const { code, title, detail = title, reason, errors: faults = [] } = data;
  return new Refusal(status, code, detail, { faults, reason, title });
}

/** A new idempotency key. Browsers have `crypto.randomUUID` only over https, so it is not used. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
