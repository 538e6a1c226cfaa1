/**
 * Which certificates an ipps: connection trusts. Printers make their own certificates, which no authority has signed. So there
 * are three ways. The operator names an authority (`ca`). Or the operator names the printer's one certificate
 * (`fingerprint256`), which is compared before a single byte is sent. Or the first certificate that is shown is the only one
 * that is accepted from then on (`firstUse`); whoever uses this has to ask the device which printer it is, before anything is
 * printed. With none of these, the system's authorities decide.
 */
import type { X509Certificate } from 'node:crypto';
import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { TransportError } from '../connection.ts';

export interface IppTls {
  /** PEM. */
  ca?: string | string[];
  /** SHA-256 of the certificate, hexadecimal; colons and case do not matter. */
  fingerprint256?: string;
  firstUse?: FirstUse;
}

/** `FirstUse.shown` for a certificate that one of the system's authorities has signed for this host. */
export const BY_AUTHORITY = 'authority';

/** The certificate that was shown first. A connection that shows another one is refused before a byte is sent. */
export class FirstUse {
  /** The certificate's SHA-256, or `BY_AUTHORITY`. Null: none was shown yet. */
  shown: string | null = null;
}

/** @param connectMs longest time to connect and agree on keys */
export function tlsAgent(
  { ca, fingerprint256, firstUse }: IppTls,
  options: AgentOptions,
  connectMs: number,
): Agent {
  if (fingerprint256 !== undefined) {
    const pinned = plain(fingerprint256);
    return new PinnedAgent((shown) => shown === pinned, options, connectMs);
  }
  if (firstUse !== undefined && ca === undefined) {
    const known = (shown: string, authorized: boolean) => {
      const what = authorized ? BY_AUTHORITY : shown;
      firstUse.shown ??= what;
      return firstUse.shown === what;
    };
    return new PinnedAgent(known, options, connectMs);
  }
  return new Agent({ ...options, ...(ca !== undefined && { ca }) });
}

/** @param authorized whether the system's authorities vouch for the certificate */
type IsKnown = (shown: string, authorized: boolean) => boolean;

class PinnedAgent extends Agent {
  readonly #isKnown: IsKnown;
  readonly #connectMs: number;

  constructor(isKnown: IsKnown, options: AgentOptions, connectMs: number) {
    super(options);
    this.#isKnown = isKnown;
    this.#connectMs = connectMs;
  }

  /** Hands the socket out only after its certificate has been accepted. */
  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { host, port, servername } = options as RequestOptions & { servername?: string };
    const socket = connect({
      ...(host != null && { host }),
      port: Number(port),
      ...(servername !== undefined && servername !== '' && { servername }),
      // `#isKnown` decides instead of the authorities.
      rejectUnauthorized: false,
    });
    const failed = (error: Error) => callback?.(error, socket);
    socket.once('error', failed);
    const late = () => socket.destroy(new TransportError('connect-timeout', `${this.#connectMs} ms`));
    socket.setTimeout(this.#connectMs, late);
    socket.once('secureConnect', () => {
      socket.setTimeout(0).off('timeout', late);
      const shown = fingerprintOf(socket.getPeerX509Certificate());
      if (!this.#isKnown(shown, socket.authorized)) {
        socket.destroy(new TransportError('certificate-unknown', `it shows ${shown}`));
        return;
      }
      socket.off('error', failed);
      callback?.(null, socket);
    });
    return undefined;
  }
}

/** `ab12…`: what `fingerprint256` of `IppTls` takes. */
function fingerprintOf(certificate: X509Certificate | undefined): string {
  return certificate ? plain(certificate.fingerprint256) : 'none';
}

function plain(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}
