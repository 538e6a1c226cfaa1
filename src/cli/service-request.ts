/**
 * Sends requests to the service. It does not use `fetch`, since loading that takes a third of the time of
 * a short command; as with `fetch`, NODE_USE_ENV_PROXY makes it use the proxy of the environment.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { explain } from './explain.ts';
import { CommandFailure } from './failure.ts';
import { NoAnswer, refusal } from './refusal.ts';

interface ServiceRequest {
  method: string;
  /** Absent: no body is sent. */
  body?: string | undefined;
  /** What the body is; JSON without it. */
  type?: string | undefined;
  token?: string | undefined;
  tenant?: string | undefined;
  /** For a request that is one job however often it is sent. */
  idempotencyKey?: string | undefined;
  signal: AbortSignal;
}

interface ServiceAnswer {
  status: number;
  /** A redirection is not followed, so that its target does not get the token. */
  headers: IncomingHttpHeaders;
  text: string;
}

/** Longest answer, bytes. A thousand jobs have 4 MB at most; a longer answer is not the service's. */
const MOST = 64 * 1_048_576;
const TIMEOUT_MS = 30_000;

/** @throws the signal's reason; the system's error for a failed connection; RangeError for a longer answer */
export async function askService(
  url: string,
  { method, body, type = 'application/json', token, tenant, idempotencyKey, signal }: ServiceRequest,
): Promise<ServiceAnswer> {
  // An import of these modules reads all of their exports, which loads `fetch` too.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(tenant !== undefined && { 'x-tenant': tenant }),
    ...(body !== undefined && { 'content-type': type }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  try {
    return await new Promise((resolve, reject) => {
      const asking = request(url, { method, headers, signal }, (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          length += chunk.length;
          if (length > MOST) asking.destroy(new RangeError(`its answer is longer than ${MOST} bytes`));
        });
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      asking.on('error', reject);
      asking.end(body);
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

export interface ExchangeOptions extends Omit<ServiceRequest, 'signal'> {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/**
 * Asks the service at `base` for what the schema describes.
 * @throws the signal's reason; NoAnswer; ServiceRefusal; CommandFailure for an answer that is none of the service's
 */
export async function exchange<T>(
  schema: z.ZodType<T>,
  base: string,
  path: string,
  { signal, timeoutMs = TIMEOUT_MS, ...request }: ExchangeOptions,
): Promise<{ status: number; headers: IncomingHttpHeaders; answer: T }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const answered = await askService(base + path, {
    ...request,
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new NoAnswer(`The service at ${base} does not answer: ${explain(error)}`);
  });
  const { status, headers } = answered;
  if (status >= 300 && status < 400) {
    throw new CommandFailure(
      `${base} is not the service's address: it leads to ${headers.location ?? 'nowhere'}`,
    );
  }
  const parsed = parseJson(answered.text);
  if (status < 200 || status > 299) throw refusal(status, parsed);
  const answer = schema.safeParse(parsed);
  if (answer.success) return { status, headers, answer: answer.data };
  throw new CommandFailure(
    `${request.method} ${path} at ${base} answered something this command does not understand ` +
      `(is the service of another version?): ${z.prettifyError(answer.error)}`,
  );
}

function parseJson(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
