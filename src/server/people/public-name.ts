/** What browsers know the service by. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../problems.ts';

export class PublicName {
  readonly #publicUrl: string | undefined;

  /** @param publicUrl as configured; without it the service is where the request says that it is */
  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl;
  }

  /** @throws ProblemError `request-malformed` for a request to a host that is none (RFC 9112 §3.2) */
  origin(request: FastifyRequest): string {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    const url = URL.parse(`${request.protocol}://${request.host}`);
    if (url === null || url.href !== `${url.origin}/`)
      throw new ProblemError('request-malformed', 'its Host is none');
    return url.origin;
  }

  /** Where the person should have been, who has come by another name; undefined: it is this one. */
  elsewhere(request: FastifyRequest): string | undefined {
    if (this.#publicUrl === undefined || new URL(this.#publicUrl).host === request.host) return undefined;
    return this.#publicUrl;
  }

  /**
   * Whom passkeys are for (WebAuthn §5.1.3, "relying party identifier"): a domain behind https, or this very machine;
   * undefined where browsers would have none.
   */
  relyingParty(request: FastifyRequest): { id: string; origin: string } | undefined {
    const { hostname, protocol, origin } = new URL(this.origin(request));
    if (hostname === 'localhost') return { id: hostname, origin };
    // What a request says of itself is no name to rely on.
    if (this.#publicUrl === undefined || protocol !== 'https:') return undefined;
    return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? { id: hostname, origin } : undefined;
  }
}
