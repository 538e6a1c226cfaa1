/** A real OpenID provider (`oidc-provider`) on loopback, with people of its own and the one page that asks who it is. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import Provider from 'oidc-provider';
import { listening } from '../wire/listening.ts';

/** What the provider says of somebody; `sub` is whatever they sign in as. */
export type Claims = Record<string, unknown>;

export class OpenIdProvider {
  readonly url: string;
  readonly people = new Map<string, Claims>();
  readonly clientId = `platen ${randomUUID()}`;
  readonly clientSecret = `secret ${randomUUID()}`;
  /** Given out instead of its own ID token. */
  otherToken: string | undefined;
  /** Method and path of all requests: `GET /token`. */
  readonly asked: string[] = [];
  readonly #server: Server;
  #provider: Provider | undefined;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** Listens; until `serve` is called it answers 503. */
  static async start(): Promise<OpenIdProvider> {
    const server = createServer();
    const provider = new OpenIdProvider(server, `http://127.0.0.1:${await listening(server)}`);
    server.on('request', (request, response) => {
      provider.asked.push(`${request.method} ${request.url?.split('?')[0]}`);
      if (provider.#provider === undefined) response.writeHead(503).end();
      else void provider.#provider.callback()(request, response);
    });
    return provider;
  }

  /** @param callbacks where the service has browsers led back to */
  serve(callbacks: string[]): void {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const provider = new Provider(this.url, {
      clients: [{ client_id: this.clientId, client_secret: this.clientSecret, redirect_uris: callbacks }],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
      cookies: { keys: [randomUUID()] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      findAccount: async (_ctx, sub) => ({
        accountId: sub,
        claims: async () => ({ sub, ...this.people.get(sub) }),
      }),
      // Consents in the person's place.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/interaction/')) {
        await next();
        if (ctx.path === '/token' && this.otherToken !== undefined) ctx.body.id_token = this.otherToken;
        return;
      }
      const who = new URLSearchParams(ctx.querystring).get('who');
      if (who === null) {
        ctx.type = 'html';
        ctx.body = `<!doctype html><html lang="en"><title>Who is it?</title>
          <form><label>Name <input name="who"></label><button>Sign in</button></form>`;
        return;
      }
      const result =
        who === 'nobody' ? { error: 'access_denied' } : { login: { accountId: who, remember: true } };
      ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
    });
    this.#provider = provider;
  }

  /** Follows a browser's way through the provider. @returns where it is led back to */
  async through(url: string, who: string): Promise<URL> {
    const cookies = new Map<string, string>();
    for (let at = new URL(url), steps = 0; steps < 10; steps += 1) {
      if (at.origin !== this.url) return at;
      if (at.pathname.startsWith('/interaction/')) at.searchParams.set('who', who);
      const response = await fetch(at, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
        signal: AbortSignal.timeout(30_000),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`no way on: ${response.status} ${await response.text()}`);
      at = new URL(location, at);
    }
    throw new Error('the provider leads in circles');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
