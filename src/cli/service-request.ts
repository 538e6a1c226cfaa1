/**
 * Sends one request to the service. It does not use `fetch`, since loading that takes a third of the time of
 * a short command; as with `fetch`, NODE_USE_ENV_PROXY makes it use the proxy of the environment.
 */
import type { IncomingHttpHeaders } from 'node:http';

interface ServiceRequest {
  method: string;
  /** Absent: no body is sent. */
  body?: string;
  token: string;
  /** For a request that is one job however often it is sent. */
  idempotencyKey?: string;
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

/** @throws the signal's reason; the system's error for a failed connection; RangeError for a longer answer */
export async function askService(
  url: string,
  { method, body, token, idempotencyKey, signal }: ServiceRequest,
): Promise<ServiceAnswer> {
  // An import of these modules reads all of their exports, which loads `fetch` too.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
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
