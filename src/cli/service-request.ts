/**
 * One request to the service. Not by `fetch`, since loading it takes a third of the time of a short command; as there,
 * NODE_USE_ENV_PROXY has it take the proxy of the environment.
 */

export interface ServiceRequest {
  method: string;
  /** What is not there is not sent. */
  body?: string;
  token: string;
  signal: AbortSignal;
}

export interface ServiceAnswer {
  status: number;
  /** Where a redirection leads; the token is not taken there. */
  location: string | undefined;
  text: string;
}

/** A thousand jobs have 4 MB at most; what has no end is not the service's, bytes. */
const MOST = 64 * 1_048_576;

/** @throws the signal's reason; what the system says of a connection that fails; RangeError for an answer that is too long */
export async function askService(
  url: string,
  { method, body, token, signal }: ServiceRequest,
): Promise<ServiceAnswer> {
  // An import of these modules reads all that they export, which loads `fetch` too.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
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
          resolve({ status: response.statusCode ?? 0, location: response.headers.location, text });
        });
      });
      asking.on('error', reject);
      asking.end(body);
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
