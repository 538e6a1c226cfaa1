/** Reads the document at a caller's address, under the rules for the addresses of webhooks. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { httpsAddress } from '../../contract/webhook.ts';
import { DoorError } from '../door-error.ts';
import { checkedPlace, NOT_PUBLIC, reasonOf, type Ways } from '../webhooks/checked-place.ts';
import type { PrintJob } from './print-job.ts';

/** s for all of it. */
const DEADLINE = 30;

/**
 * @param most bytes of the document
 * @returns base64
 * @throws DoorError 400
 */
export async function readUri(
  { content, authentication }: Pick<PrintJob, 'content' | 'authentication'>,
  most: number,
  ways: Ways,
): Promise<string> {
  if (!httpsAddress.safeParse(content).success)
    throw new DoorError(400, 'content is not as expected: an https URL without a user name');
  const late = AbortSignal.timeout(DEADLINE * 1_000);
  const signal = AbortSignal.any([ways.signal, late]);
  try {
    const place = await checkedPlace(content, { ...ways, signal });
    if (place === undefined) throw unread(NOT_PUBLIC);
    const { user, pass } = authentication?.credentials ?? {};
    const sent = request({ ...place, ...(user !== undefined && { auth: `${user}:${pass}` }) });
    sent.end();
    try {
      const [answer]: IncomingMessage[] = await once(sent, 'response', { signal });
      if (answer === undefined) throw unread('it did not answer');
      if (answer.statusCode !== 200) throw unread(`it answered ${answer.statusCode}`);
      return (await bodyOf(answer, most)).toString('base64');
    } finally {
      // What it breaks off is of no interest any more.
      sent.on('error', () => undefined).destroy();
    }
  } catch (error) {
    if (error instanceof DoorError) throw error;
    throw unread(late.aborted ? `it did not answer within ${DEADLINE} s` : reasonOf(error));
  }
}

async function bodyOf(answer: IncomingMessage, most: number): Promise<Buffer> {
  const tooLarge = () => unread(`it has more than ${most} bytes`);
  if (Number(answer.headers['content-length'] ?? 0) > most) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > most) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unread(why: string): DoorError {
  return new DoorError(400, `the document at the address in content was not read: ${why}`);
}
