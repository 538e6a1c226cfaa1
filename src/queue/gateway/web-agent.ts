/** How an agent reaches its service: through the proxy that the environment names, and trusting whom the machine trusts. */
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { checkServerIdentity, getCACertificates } from 'node:tls';
import { QueueError } from '../queue-error.ts';

/** What an agent has been told of the way to its service. */
export interface WebAgentOptions {
  /** SHA-256 of the service's public key (its SPKI), in base64url. The certificate must be valid all the same. */
  pin?: string | undefined;
  /** The site's proxy. A proxy that the environment names comes first. */
  proxy?: Proxy | undefined;
}

interface Proxy {
  /** May carry a password. */
  https: string;
  /** Hosts that are reached without the proxy, as in `NO_PROXY`. */
  not?: string | undefined;
}

/** The proxy that an environment names for https. */
export function proxyOf({
  https_proxy,
  HTTPS_PROXY = https_proxy,
  no_proxy,
  NO_PROXY = no_proxy,
}: NodeJS.ProcessEnv): Proxy | undefined {
  if (!HTTPS_PROXY) return undefined;
  return { https: HTTPS_PROXY, ...(NO_PROXY && { not: NO_PROXY }) };
}

/**
 * For one connection at a time.
 * @param origin `https://…`, or `http://` on this machine
 * @param env the agent's environment, if the agent is another process
 * @throws QueueError `refused` for plain HTTP to another machine
 */
export function webAgent(
  origin: string,
  { pin, proxy }: WebAgentOptions,
  env: NodeJS.ProcessEnv = process.env,
): HttpAgent | HttpsAgent {
  const { protocol, hostname } = new URL(origin);
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !isLoopback) {
    throw new QueueError('refused', `${origin}: expected an https address; http is for this machine alone`);
  }
  if (protocol === 'http:') return new HttpAgent();
  return new HttpsAgent({
    proxyEnv: { ...(proxy && { HTTPS_PROXY: proxy.https, NO_PROXY: proxy.not }), ...env },
    ca: [...getCACertificates('default'), ...getCACertificates('system'), ...extraOf(env)],
    checkServerIdentity: (host, certificate) => {
      const wrong = checkServerIdentity(host, certificate);
      if (wrong !== undefined || pin === undefined) return wrong;
      // `certificate.pubkey` is the SPKI only if the key is an RSA key.
      const key = new X509Certificate(certificate.raw).publicKey.export({ type: 'spki', format: 'der' });
      const found = createHash('sha256').update(key).digest('base64url');
      return found === pin
        ? undefined
        : new Error(`${host} shows another key than the one of the invitation: somebody reads what is sent`);
    },
  });
}

/** The certificates of the file, unless it is the one that Node itself has read when this process started. */
function extraOf({ NODE_EXTRA_CA_CERTS: file }: NodeJS.ProcessEnv): string[] {
  if (!file || file === process.env['NODE_EXTRA_CA_CERTS']) return [];
  try {
    return (
      readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    );
  } catch {
    return [];
  }
}
