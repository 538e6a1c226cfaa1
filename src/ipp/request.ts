/** An IPP request as it comes by HTTP (RFC 8010 §4): read up to its document, and answered whatever it says. */
import { decodeIpp, type IppLimits } from '../../drivers/ipp/decode.ts';
import { IppCodecError, type IppMessage } from '../../drivers/ipp/message.ts';
import { BodyError, type IppBody } from './body.ts';
import type { IppDocumentSource } from './document.ts';
import { reply } from './exchange.ts';

const LIMITS: IppLimits = { bytes: 64 * 1024, values: 5_000, depth: 8 };
export const MAX_ATTRIBUTE_BYTES = LIMITS.bytes;

interface Answering {
  /** Waits until it is this request's turn. */
  inTurn(): Promise<void>;
  answer(message: IppMessage, document: IppDocumentSource): Promise<IppMessage>;
  /** Whether the connection was cut meanwhile. */
  isCut(): boolean;
  /** Called with an error that is nobody's fault but ours; the client is told of an internal error. */
  failed(error: unknown): void;
}

/** The answer; `known`: the request, where it could be read. @throws BodyError */
export async function answered(
  body: IppBody,
  { inTurn, answer, isCut, failed }: Answering,
): Promise<{ message: IppMessage; known?: IppMessage }> {
  const head = await body.attributes();
  await inTurn();
  if (isCut()) throw new BodyError('its connection was cut');
  let known: IppMessage;
  try {
    known = decodeIpp(head, LIMITS);
  } catch (error) {
    if (!(error instanceof IppCodecError)) throw error;
    return { message: reply(unreadable(head), 'client-error-bad-request', error.message) };
  }
  const document = { read: (take: (bytes: number) => void) => body.document(take) };
  try {
    return { message: await answer(known, document), known };
  } catch (error) {
    if (error instanceof BodyError) throw error;
    failed(error);
    return { message: reply(known, 'server-error-internal-error', ''), known };
  }
}

/** Version and request ID of a message that cannot be read further. */
function unreadable(head: Buffer): Pick<IppMessage, 'version' | 'requestId'> {
  return {
    version: { major: head[0] ?? 2, minor: head[1] ?? 0 },
    requestId: head.length >= 8 ? head.readInt32BE(4) : 0,
  };
}

/** The host, and its port, that a header `Host` names, where it can stand in a URI. */
export function hostIn(header = ''): string | undefined {
  return /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(header) ? header : undefined;
}

/** Whether a `Content-Type` says that it is IPP. */
export function isIpp(contentType = ''): boolean {
  return /^application\/ipp\s*(;|$)/i.test(contentType);
}
