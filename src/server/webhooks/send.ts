/** Sends one signed message. */
import { createHmac } from 'node:crypto';
import { type RequestOptions, request } from 'node:https';
import { checkedPlace, NOT_PUBLIC, reasonOf, type Ways } from './checked-place.ts';

/** Without secrets it is not signed: a chat's address is one. */
export type Message = { id: string; url: string; body: string; secrets: readonly string[] };
/** `status` null: there was no answer, and `answer` says why. */
export type Sent = { status: number | null; answer: string; ms: number; retryAfter: number | null };

/** ms for all of a request. */
const DEADLINE = 15_000;
/** Bytes of an answer that are read and kept. */
const ANSWER = 1_024;
const SECRET = 'whsec_';

/** `v1,` and the signature by each secret, with spaces between them (Standard Webhooks). */
export function signatureOf({ id, body, secrets }: Omit<Message, 'url'>, seconds: number): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

/** Never rejects: what went wrong is in `answer`. */
export async function send(message: Message, ways: Ways): Promise<Sent> {
  const began = performance.now();
  const ended = (what: Omit<Sent, 'ms'>): Sent => ({ ...what, ms: Math.round(performance.now() - began) });
  const signal = AbortSignal.any([ways.signal, AbortSignal.timeout(DEADLINE)]);
  try {
    const place = await checkedPlace(message.url, { ...ways, signal });
    if (place === undefined) return ended({ status: null, answer: NOT_PUBLIC, retryAfter: null });
    const seconds = Math.floor(Date.now() / 1000);
    const options: RequestOptions = {
      ...place,
      method: 'POST',
      headers: {
        ...place.headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(message.body),
        ...(message.secrets.length > 0 && {
          'webhook-id': message.id,
          'webhook-timestamp': String(seconds),
          'webhook-signature': signatureOf(message, seconds),
        }),
      },
    };
    return ended(await answerTo(options, message.body));
  } catch (error) {
    const why = signal.aborted ? `no answer within ${DEADLINE / 1000} s` : reasonOf(error);
    return ended({ status: null, answer: why, retryAfter: null });
  }
}

function answerTo(options: RequestOptions, body: string): Promise<Omit<Sent, 'ms'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<Sent, 'ms'>>();
  const sent = request(options, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = () => {
      const answer = Buffer.concat(chunks).subarray(0, ANSWER).toString('utf8').replaceAll('\0', '');
      const wait = /^\d{1,6}$/.exec(response.headers['retry-after'] ?? '')?.[0];
      resolve({
        status: response.statusCode ?? 0,
        answer,
        retryAfter: wait === undefined ? null : Number(wait),
      });
      sent.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ANSWER) done();
    });
    response.once('end', done);
    response.once('error', reject);
  });
  sent.once('error', reject);
  sent.end(body);
  return promise;
}
