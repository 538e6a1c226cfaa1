/**
 * Single sign-on: the console asks where to go, the provider leads the browser back, and this leads it on to the console,
 * signed in or told why not. It never leads anywhere else, and what is secret of an attempt is in a cookie of its browser
 * alone, so that nobody can have another browser finish it.
 */
import type { FastifyInstance } from 'fastify';
import { type ProviderRefusal, providerBegin, providerBegun, type WaysIn } from '../../contract/people.ts';
import type { SingleSignOn } from '../config.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
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
  // Its library is loaded where there is a provider.
  const { Attempt, Provider, ProviderRefused } = await import('./provider.ts');
  const provider = new Provider(config);

  app.post('/app/session/provider', { config: ANYBODY, bodyLimit: 1024 }, async (request, reply) => {
    const { again } = parseBody(providerBegin, request.body ?? {});
    const elsewhere = name.elsewhere(request);
    if (elsewhere !== undefined) {
      throw new ProblemError('origin-foreign', `single sign-on works at ${elsewhere}/console/`);
    }
    const attempt = Attempt.new();
    const url = await provider.begin(attempt, name.origin(request) + CALLBACK, again);
    // The cookie of a session does not come with a request from another site: which one is to end goes with the attempt.
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
    const counted = `provider/${request.ip}`;
    if ((await failures.count(counted, request.ip)) > 0) return leave('too-often');
    try {
      const [, query = ''] = request.url.split(/\?(.*)/s);
      const url = new URL(`${name.origin(request)}${CALLBACK}?${query}`);
      // Without it nothing is to be asked of the provider: another page may have led here.
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
    await failures.forgive(counted, request.ip);
    return leave();
  });
}
