/** Why an agent does not reach its service, in words for people: by what Node, OpenSSL, `ws` and a network's proxies say. */
import { wordsOf } from '../../contract/gateway.ts';
import { reasonOf } from '../queue-error.ts';

const PAGE = 'is there a page to sign in before it?';

/** By the code of the error (Node's, or OpenSSL's for a certificate). */
const BY_CODE: Readonly<Record<string, string>> = {
  // What comes in place of TLS is the page of a network in which nobody has signed in.
  EPROTO: `what answers there speaks no TLS: ${PAGE}`,
  CERT_HAS_EXPIRED: 'by its clock the certificate has expired: is the clock right?',
  CERT_NOT_YET_VALID: 'by its clock the certificate is not valid yet: is the clock right?',
};
/** Nobody whom the machine believes has signed the certificate. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const WEB_SOCKET = /Unexpected server response: (\d+)/;

export function whyNotReached(error: unknown): string {
  const reason = reasonOf(error);
  if (!(error instanceof Error)) return reason;
  if (error.name === 'TimeoutError') return 'it does not answer in time';
  const code = 'code' in error ? String(error.code) : '';
  if (UNTRUSTED.has(code)) {
    // Node's hint, behind the semicolon, is for whoever writes the program.
    const [said] = error.message.split(';');
    return `the machine does not believe who has signed the certificate (${said}): is what is sent inspected on the way?`;
  }
  if (code === 'ERR_PROXY_TUNNEL' && 'statusCode' in error && isPage(Number(error.statusCode))) {
    return `${error.message}: ${PAGE}`;
  }
  const status = Number(WEB_SOCKET.exec(error.message)?.[1]);
  if (isPage(status)) return `a page answers in its place (HTTP ${status}): ${PAGE}`;
  if (status >= 400 && status < 500) {
    return `it answers without a WebSocket (HTTP ${status}): does everything on the way pass WebSockets on?`;
  }
  if (status >= 500) return `it answers HTTP ${status}`;
  if (/Server sent (?:no|an invalid) subprotocol/.test(error.message)) return wordsOf('too-old');
  return BY_CODE[code] ?? reason;
}

/** Of whoever has first to sign in to a network (RFC 6585, 6: 511), or of something that is no Platen at all. */
function isPage(status: number): boolean {
  return (status >= 200 && status < 400) || status === 511;
}
