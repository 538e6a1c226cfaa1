/** A person at the console, as their browser: keeps the cookie, sends the headers of console pages. */
import { CONSOLE_HEADER, invitationCreated, type Role, signInLink } from '../../../src/contract/people.ts';
import type { Answer, CallOptions, ServiceHarness } from './harness.ts';

/** The token in a link's fragment. */
export function tokenIn(url: string): string {
  return new URLSearchParams(new URL(url).hash.slice(1)).values().next().value ?? '';
}

export const PASSWORD = 'correct horse battery';

export class SignedIn {
  readonly #service: ServiceHarness;
  /** As the browser sends it: `name=value`. */
  cookie: string;
  readonly id: string;

  private constructor(service: ServiceHarness, id: string, cookie: string) {
    this.#service = service;
    this.id = id;
    this.cookie = cookie;
  }

  /** Invites a person with the admin token, and signs in with `PASSWORD`. */
  static async as(
    service: ServiceHarness,
    tenant: string,
    role: Role,
    login = `${role}@example.com`,
  ): Promise<SignedIn> {
    const invited = await service.admin('POST', `/tenants/${tenant}/people`, { login, role });
    const { url, person } = invitationCreated.parse(invited.body);
    const answer = await service.call('/app/invitations/accept', {
      body: { token: tokenIn(url), password: PASSWORD },
      headers: { [CONSOLE_HEADER]: '1' },
    });
    return new SignedIn(service, person.id, cookieOf(answer));
  }

  /** Signs in by the link that `platen console` prints. */
  static async asKeeper(service: ServiceHarness): Promise<SignedIn> {
    const { url } = signInLink.parse((await service.admin('POST', '/links', {})).body);
    const answer = await service.call('/app/session/link', {
      body: { token: tokenIn(url) },
      headers: { [CONSOLE_HEADER]: '1' },
    });
    return new SignedIn(service, 'keeper', cookieOf(answer));
  }

  /** A request of a page of the console. */
  call(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.#service.call(path, {
      ...options,
      headers: {
        cookie: this.cookie,
        [CONSOLE_HEADER]: '1',
        'sec-fetch-site': 'same-origin',
        ...options.headers,
      },
    });
  }
}

/** The cookie that an answer sets, as it is sent back; empty: none. */
export function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}
