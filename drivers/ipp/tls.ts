/**
 * Whom an ipps: connection trusts. Printers make their own certificates, which no authority has signed: either
 * the operator's authority is given (`ca`), or the one certificate that the printer is known by (`fingerprint256`,
 * compared before a single byte is sent). With neither, the system's authorities decide.
 */
import type { X509Certificate } from 'node:crypto';
import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { TransportError } from '../transports/transport.ts';

export interface IppTls {
  /** PEM. */
  ca?: string | string[];
  /** SHA-256 of the certificate, hexadecimal; colons and case do not matter. */
  fingerprint256?: string;
}

/** @param connectMs longest time to connect and agree on keys */
export function tlsAgent({ ca, fingerprint256 }: IppTls, options: AgentOptions, connectMs: number): Agent {
  if (fingerprint256 !== undefined) return new PinnedAgent(fingerprint256, options, connectMs);
  return new Agent({ ...options, ...(ca !== undefined && { ca }) });
}

class PinnedAgent extends Agent {
  readonly #pinned: string;
  readonly #connectMs: number;

  constructor(fingerprint256: string, options: AgentOptions, connectMs: number) {
    super(options);
    this.#pinned = plain(fingerprint256);
    this.#connectMs = connectMs;
  }

  /** Gives the socket out only once its certificate is the pinned one. */
  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { host, port, servername } = options as RequestOptions & { servername?: string };
    const socket = connect({
      ...(host != null && { host }),
      port: Number(port),
      ...(servername !== undefined && servername !== '' && { servername }),
      // The pin takes the place of the authorities.
      rejectUnauthorized: false,
    });
    const failed = (error: Error) => callback?.(error, socket);
    socket.once('error', failed);
    const late = () => socket.destroy(new TransportError('connect-timeout', `${this.#connectMs} ms`));
    socket.setTimeout(this.#connectMs, late);
    socket.once('secureConnect', () => {
      socket.setTimeout(0).off('timeout', late);
      const presented = fingerprintOf(socket.getPeerX509Certificate());
      if (presented !== this.#pinned) {
        const detail = `it shows the certificate ${presented}, not the one that it is known by`;
        socket.destroy(new TransportError('device-unreachable', detail));
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
