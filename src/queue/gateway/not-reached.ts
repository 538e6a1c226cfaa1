/** Tells people why an agent does not reach its service, from the errors of Node, OpenSSL, `ws` and a network's proxies. */
import { goodbyeWords } from '../../contract/gateway.ts';
import { reasonOf } from '../queue-error.ts';

const PAGE = 'is there a page to sign in before it?';

/** By the code of the error (Node's, or OpenSSL's for a certificate). */
const BY_CODE: Readonly<Record<string, string>> = {
  // A network in which nobody has signed in yet answers with a page of its own instead of TLS.
  EPROTO: `what answers there speaks no TLS: ${PAGE}`,
  CERT_HAS_EXPIRED: 'by its clock the certificate has expired: is the clock right?',
  CERT_NOT_YET_VALID: 'by its clock the certificate is not valid yet: is the clock right?',
};
/** The machine does not trust whoever has signed the certificate. */
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
    // Behind the semicolon is Node's hint, which is meant for programmers.
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
  if (/Server sent (?:no|an invalid) subprotocol/.test(error.message)) return goodbyeWords('too-old');
  return BY_CODE[code] ?? reason;
}

/**
 * Whether the status comes from a network in which one has to sign in first (511, RFC 6585, 6), or from something that is no
 * Platen at all.
 */
function isPage(status: number): boolean {
  return (status >= 200 && status < 400) || status === 511;
}
