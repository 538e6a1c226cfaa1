/**
 * The cookie of a session, and the check that a request with this cookie comes from the console's own pages. The browser sends
 * the cookie only with requests of the same site (`SameSite=Strict`), but a site can have several origins. So a request that
 * changes something needs a header that no form can set, and no request may say that it comes from another origin.
 */
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_HEADER } from '../../contract/people.ts';
import { ProblemError } from '../problems.ts';
import { LIFETIME_HOURS } from './sessions.ts';

const TOKEN = /^[\w-]{20,200}$/;
export const SAFE_METHODS = ['GET', 'HEAD'];

export class SessionCookie {
  readonly #publicUrl: string | undefined;

  /** @param publicUrl as configured; if it is https, a proxy in front of the service speaks TLS */
  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl;
  }

  /** The session's token, as the request brings it. */
  read(app: FastifyInstance, request: FastifyRequest): string | undefined {
    const { cookie } = request.headers;
    if (cookie === undefined) return undefined;
    const token = app.parseCookie(cookie)[this.#name(request)];
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }

  set(request: FastifyRequest, reply: FastifyReply, token: string): void {
    reply.setCookie(this.#name(request), token, { ...this.#options(request), maxAge: LIFETIME_HOURS * 3600 });
  }

  clear(request: FastifyRequest, reply: FastifyReply): void {
    reply.setCookie(this.#name(request), '', { ...this.#options(request), maxAge: 0 });
  }

  /** The cookie of an attempt to sign in at the provider, as the request brings it back. */
  readAttempt(app: FastifyInstance, request: FastifyRequest): string | undefined {
    const { cookie } = request.headers;
    return cookie === undefined ? undefined : app.parseCookie(cookie)[this.#name(request, 'attempt')];
  }

  /** `Lax`: the provider's page leads back here, so the cookie must come with a request from another site. */
  setAttempt(request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void {
    const options = { ...this.#options(request), sameSite: 'lax', maxAge: seconds } as const;
    reply.setCookie(this.#name(request, 'attempt'), value, options);
  }

  /** @throws ProblemError `origin-foreign` for a request that another page may have made */
  checkOrigin(request: FastifyRequest): void {
    const site = request.headers['sec-fetch-site'];
    // Older browsers and programs do not send the header; a page cannot have a browser send a wrong one.
    if (site !== undefined && site !== 'same-origin' && !(site === 'none' && isSafe(request))) {
      throw foreign('it comes from another site');
    }
    if (isSafe(request)) return;
    if (request.headers[CONSOLE_HEADER] === undefined) throw foreign(`expected the header ${CONSOLE_HEADER}`);
    const { origin } = request.headers;
    if (origin !== undefined && !this.#isOwn(origin, request)) throw foreign('its Origin is another');
  }

  /** With `__Host-` the browser makes sure that nobody but this host has set it (RFC 6265bis §4.1.3.2). */
  #name(request: FastifyRequest, what: 'session' | 'attempt' = 'session'): string {
    return `${this.#isSecure(request) ? '__Host-' : ''}platen-${what}`;
  }

  #options(request: FastifyRequest): CookieSerializeOptions {
    return { path: '/', httpOnly: true, sameSite: 'strict', secure: this.#isSecure(request) };
  }

  #isSecure(request: FastifyRequest): boolean {
    return request.protocol === 'https' || this.#publicUrl?.startsWith('https:') === true;
  }

  #isOwn(origin: string, request: FastifyRequest): boolean {
    const named = URL.parse(origin);
    // Browsers write an origin in only one way (RFC 6454 §6.1). An origin written in another way is not from a browser.
    if (named?.origin !== origin) return false;
    if (this.#publicUrl !== undefined && origin === new URL(this.#publicUrl).origin) return true;
    const schemes = this.#isSecure(request) ? ['https:'] : ['https:', 'http:'];
    return named.host === request.host && schemes.includes(named.protocol);
  }
}

function isSafe(request: FastifyRequest): boolean {
  return SAFE_METHODS.includes(request.method);
}

function foreign(why: string): ProblemError {
  return new ProblemError('origin-foreign', `a request with a session must come from the console: ${why}`);
}
