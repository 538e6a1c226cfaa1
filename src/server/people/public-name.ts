/** The service's public name: the origin by which browsers know it. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../problems.ts';

export class PublicName {
  readonly #publicUrl: string | undefined;

  /** @param publicUrl as configured; undefined: the host that a request names is used */
  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl;
  }

  /** @throws ProblemError `request-malformed` for a request with an invalid Host (RFC 9112 §3.2) */
  origin(request: FastifyRequest): string {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    const url = URL.parse(`${request.protocol}://${request.host}`);
    if (url === null || url.href !== `${url.origin}/`)
      throw new ProblemError('request-malformed', 'its Host is none');
    return url.origin;
  }

  /** The configured URL, if the request came to another host; otherwise undefined. */
  elsewhere(request: FastifyRequest): string | undefined {
    if (this.#publicUrl === undefined || new URL(this.#publicUrl).host === request.host) return undefined;
    return this.#publicUrl;
  }

  /**
   * The relying party of passkeys (WebAuthn §5.1.3, "relying party identifier"): a domain behind https, or
   * this very machine; undefined where browsers would accept no passkey.
   */
  relyingParty(request: FastifyRequest): { id: string; origin: string } | undefined {
    const { hostname, protocol, origin } = new URL(this.origin(request));
    if (hostname === 'localhost') return { id: hostname, origin };
    // Without a configured URL there is only the Host that the request names, which is nothing to rely on.
    if (this.#publicUrl === undefined || protocol !== 'https:') return undefined;
    return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? { id: hostname, origin } : undefined;
  }
}
