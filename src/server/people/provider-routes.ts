/**
 * Single sign-on: the console asks where to go, the provider leads the browser back to the callback, and that
 * redirects to the console, signed in or with the reason why not, and never anywhere else. The secret of an
 * attempt is in a cookie of its browser alone, so that nobody can have another browser finish the attempt.
 */
import type { FastifyInstance } from 'fastify';
import { type ProviderRefusal, providerBegin, providerBegun, type WaysIn } from '../../contract/people.ts';
import type { SingleSignOn } from '../config.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { callerAddress } from '../network.ts';
import { ProblemError, parseBody } from '../problems.ts';
import type { People } from './people.ts';
import type { PublicName } from './public-name.ts';
import type { SessionCookie } from './session-cookie.ts';
import { ANYBODY, type SignIns } from './sign-ins.ts';

type Parts = {
  config: SingleSignOn | undefined;
  people: People;
  cookie: SessionCookie;
  failures: FailedAttempts;
  signIns: SignIns;
  name: PublicName;
};

const CALLBACK = '/app/session/provider/callback';
/** A whole office may sign in at one moment, as its shift begins. */
const COUNTED = { nobody: 'provider' } as const;
/** s that somebody may take at the provider. */
const PATIENCE = 600;

export async function providerRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { config, people, cookie, failures, signIns, name } = parts;

  app.get('/app/sign-in', { config: ANYBODY }, async (request): Promise<WaysIn> => {
    return {
      provider: config === undefined ? null : { name: config.name, tenant: config.tenant },
      passkeys: name.relyingParty(request) !== undefined,
    };
  });
  if (config === undefined) return;
  // The library is loaded only where a provider is configured.
  const { Attempt, IdentityProvider, ProviderRefused } = await import('./provider.ts');
  const provider = new IdentityProvider(config);

  app.post('/app/session/provider', { config: ANYBODY, bodyLimit: 1024 }, async (request, reply) => {
    const { again } = parseBody(providerBegin, request.body ?? {});
    const elsewhere = name.elsewhere(request);
    if (elsewhere !== undefined) {
      throw new ProblemError('origin-foreign', `single sign-on works at ${elsewhere}/console/`);
    }
    const attempt = Attempt.new();
    const url = await provider.begin(attempt, name.origin(request) + CALLBACK, again);
    // The session's cookie does not come with a request from another site, so the attempt's cookie names the
    // session that is to end.
    const before = signIns.before(app, request)?.toString('base64url') ?? '';
    cookie.setAttempt(request, reply, `${attempt.seed}.${before}`, PATIENCE);
    return providerBegun.parse({ url });
  });

  app.get(CALLBACK, { config: { ...ANYBODY, fromElsewhere: true } }, async (request, reply) => {
    const brought = cookie.readAttempt(app, request);
    cookie.setAttempt(request, reply, '', 0);
    const leave = (refusal?: ProviderRefusal) =>
      reply.redirect(`/console/${refusal === undefined ? '' : `#refused=${refusal}`}`, 303);
    const [seed, hash = ''] = brought?.split('.') ?? [];
    const attempt = Attempt.of(seed);
    if (attempt === undefined) return leave('expired');
    const address = callerAddress(request);
    if ((await failures.count(COUNTED, address)) > 0) return leave('too-often');
    try {
      const [, query = ''] = request.url.split(/\?(.*)/s);
      const url = new URL(`${name.origin(request)}${CALLBACK}?${query}`);
      // With another state the provider is asked nothing: another page may have led the browser here.
      if (url.searchParams.get('state') !== attempt.state) return leave('expired');
      const who = await provider.finish(attempt, url);
      await signIns.begin(
        app,
        request,
        reply,
        'session.sign-in-by-provider',
        async (db) => {
          const person = await people.atProvider(db, config.tenant, who);
          if (person === undefined) throw new ProviderRefused('not-invited', 'nobody of this login');
          return person;
        },
        {
          ...(hash !== '' && { before: Buffer.from(hash, 'base64url') }),
          ...(who.role !== undefined && { details: { role: who.role } }),
        },
      );
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error;
      request.log.warn({ refusal: error.refusal, why: error.message }, 'no single sign-on');
      return leave(error.refusal);
    }
    await failures.forgive(COUNTED, address);
    return leave();
  });
}
