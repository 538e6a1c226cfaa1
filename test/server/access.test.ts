/**
 * Every route under `/app` × every role × its own and another tenant × without a session: what may be done is done, and
 * everything else is refused before anything happens. The routes are those that the service itself has.
 */

import Fastify from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { NEED_WORDS, type Need, ROLE_MAY, ROLES } from '../../src/contract/people.ts';
import { type AppRoute, guardApp } from '../../src/server/people/access.ts';
import { SessionCookie } from '../../src/server/people/session-cookie.ts';
import { Sessions } from '../../src/server/people/sessions.ts';
import { type Answer, codeOf, jobIdOf, PRINTER } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';

const OWN = 'acme';
const OTHER = 'globex';
const MARK = 'globex-secret';
const OWN_PRINTER = 'serial-0000000000aa';
const OTHER_PRINTER = 'serial-0000000000bb';
const SAFE = ['GET', 'HEAD'];
const BODILESS = [...SAFE, 'DELETE'];
/** With which the request would be done, if it were about something of one's own. */
const BODIES: Readonly<Record<string, object>> = {
  'PUT /app/tenants/:id/templates/:templateId': {
    version: '1',
    template: { name: 'taken', width: 50, height: 25, elements: [] },
  },
  'PUT /app/tenants/:id/templates/:templateId/draft': {
    version: '1',
    template: { name: 'taken', width: 50, height: 25, elements: [] },
  },
  'PUT /app/tenants/:id/templates/:templateId/name': { name: 'taken' },
  'PUT /app/tenants/:id/people/:personId': { role: 'admin' },
};
/** Parts of a path that are no thing's name. */
const MISSING: Readonly<Record<string, string>> = { number: '1', which: 'old' };
/** What refuses a caller, and nothing else. */
const REFUSALS = /^(?:permission-missing|tenant-forbidden|tenant-not-found|session-ended|origin-foreign)$/;

type Who = (typeof ROLES)[number] | 'keeper';
const WHO: readonly Who[] = [...ROLES, 'keeper'];

const service = useService();
let routes: readonly AppRoute[];
let jobs: Record<string, string>;
let templates: Record<string, string>;
/** What the other tenant has, by the name that paths have for it. */
let things: Record<string, string>;
const people = new Map<Who, SignedIn>();

beforeAll(async () => {
  for (const tenant of [OWN, OTHER, 'default']) await service.tenant(tenant);
  await service.agent([{}]);
  await service.agent([{ id: OWN_PRINTER, name: 'Own' }], { agentId: 'agent-acme', tenantId: OWN });
  await service.agent([{ id: OTHER_PRINTER, name: MARK }], { agentId: 'agent-globex', tenantId: OTHER });
  const made = async (tenant: string, name: string) => {
    const template = await service.template(tenant, {
      name,
      width: 50,
      height: 25,
      fields: [{ name: 'sku' }],
      elements: [{ type: 'text', x: 1, y: 1, text: '{{sku}}', size: 4 }],
    });
    const body = { idT: template, printerId: PRINTER, data: [{ sku: name }] };
    const job = jobIdOf(await service.admin('POST', `/tenants/${tenant}/jobs`, body));
    const account = await service.admin('POST', `/tenants/${tenant}/integrations`, { name });
    const invited = await service.admin('POST', `/tenants/${tenant}/people`, {
      login: `${name}@example.com`,
    });
    const hook = await service.admin('POST', `/tenants/${tenant}/webhooks`, {
      url: `https://receiver.example/${name}`,
    });
    const { id: webhookId } = z.object({ id: z.string() }).parse(hook.body);
    const { apiKey } = z.object({ apiKey: z.string() }).parse(account.body);
    const { person } = z.object({ person: z.object({ id: z.string() }) }).parse(invited.body);
    return { template, job, ids: { templateId: template, apiKey, personId: person.id, webhookId } };
  };
  const [own, other] = [await made(OWN, 'own'), await made(OTHER, MARK)];
  jobs = { [OWN]: own.job, [OTHER]: other.job };
  templates = { [OWN]: own.template, [OTHER]: other.template };
  things = other.ids;
  for (const role of ROLES) people.set(role, await SignedIn.as(service, OWN, role));
  people.set('keeper', await SignedIn.asKeeper(service));
  routes = service.server.appRoutes.filter(({ method }) => method !== 'HEAD');
});

function personOf(who: Who): SignedIn {
  const person = people.get(who);
  if (person === undefined) throw new Error(`nobody is ${who}`);
  return person;
}

/** The route's address, about something of this tenant. */
function addressOf({ url, about }: AppRoute, tenant: string): string {
  const values: Record<string, string | undefined> = {
    id:
      about === 'tenant'
        ? tenant
        : about === 'job'
          ? jobs[tenant]
          : tenant === OWN
            ? OWN_PRINTER
            : OTHER_PRINTER,
    templateId: templates[tenant],
    printerId: tenant === OWN ? OWN_PRINTER : OTHER_PRINTER,
    label: '0',
    number: '1',
  };
  const path = url.replaceAll(/:(\w+)(?:\([^)]*\))?/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? 'nothing'),
  );
  return about === 'query' || about === 'scope' ? `${path}?tenant=${tenant}` : path;
}

const may = (who: Who, need: Need) =>
  who === 'keeper' ? ROLE_MAY.admin.includes(need) || need === 'deployment' : ROLE_MAY[who].includes(need);
const named = ({ method, url }: AppRoute) => `${method} ${url}`;

async function ask(who: Who, route: AppRoute, tenant: string): Promise<Answer> {
  const body = SAFE.includes(route.method) || route.method === 'DELETE' ? undefined : {};
  return personOf(who).call(addressOf(route, tenant), { method: route.method, body });
}

/** A stream does not end by itself; `events.long.test.ts` has them. */
const ends = ({ url }: AppRoute) => url !== '/app/events';
const needing = () =>
  routes.flatMap((route) =>
    route.needs === 'session' || route.needs === 'nothing' ? [] : [{ route, need: route.needs }],
  );

test('there are routes of every kind', () => {
  expect(routes.length).toBeGreaterThan(40);
  expect(new Set(needing().map(({ need }) => need))).toEqual(
    new Set(NEED_WORDS.filter((need) => routes.some(({ needs }) => needs === need))),
  );
  expect(new Set(routes.map(({ about }) => about))).toEqual(
    new Set(['tenant', 'query', 'scope', 'job', 'caller']),
  );
});

test('roles grow: who may more may all that the one before may', () => {
  for (const [at, each] of ROLES.entries()) {
    const before = ROLES[at - 1];
    if (before !== undefined) expect(ROLE_MAY[each]).toEqual(expect.arrayContaining([...ROLE_MAY[before]]));
    expect(ROLE_MAY[each]).not.toContain('deployment');
  }
});

test('without a session nothing but a sign-in is heard', async () => {
  const found = await Promise.all(
    routes
      .filter(({ needs }) => needs !== 'nothing')
      .map(async (route) => {
        const path = addressOf(route, OWN);
        const { status } = await service.call(path, { method: route.method });
        const cookie = 'platen-session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
        const headers = { cookie, 'x-platen-console': '1' };
        const wrong = await service.call(path, { method: route.method, headers });
        return [named(route), status, wrong.status];
      }),
  );
  expect(found.filter(([, none, wrong]) => none !== 401 || wrong !== 401)).toEqual([]);
});

test('what changes something is refused without the header of the console’s pages', async () => {
  const { cookie } = personOf('admin');
  const unsafe = routes.filter(({ method }) => !SAFE.includes(method));
  expect(unsafe.length).toBeGreaterThan(20);
  for (const route of unsafe) {
    const answer = await service.call(addressOf(route, OWN), {
      method: route.method,
      headers: { cookie, 'sec-fetch-site': 'same-origin', origin: service.url },
    });
    expect([named(route), codeOf(answer)]).toEqual([named(route), 'origin-foreign']);
  }
});

test('a query that names two tenants is the caller’s fault', async () => {
  for (const path of ['jobs', 'printers', 'agents', 'events', 'audit']) {
    const answer = await service.admin('GET', `/${path}?tenant=${OWN}&tenant=${OTHER}`);
    expect([path, answer.status, codeOf(answer)]).toEqual([path, 400, 'payload-invalid']);
  }
});

describe.each(WHO)('%s', (who) => {
  const own = who === 'keeper' ? 'default' : OWN;

  test('may not do what the role does not have', async () => {
    const refused = needing().filter(({ need }) => !may(who, need));
    for (const { route } of refused) {
      const { status, body } = await ask(who, route, own);
      expect([named(route), status, body]).toMatchObject([named(route), 403, { code: 'permission-missing' }]);
    }
    expect(refused.length > 0 || who === 'keeper').toBe(true);
  });

  test('sees and changes nothing of another tenant', async () => {
    const entries = async () => (await service.admin('GET', `/audit?tenant=${OTHER}&limit=1000`)).text;
    const before = await entries();
    for (const { route, need } of needing().filter(
      ({ route: { about }, need }) =>
        may(who, need) && need !== 'deployment' && !(who === 'keeper' && about === 'scope'),
    )) {
      if (!ends(route)) continue;
      const answer = await ask(who, route, OTHER);
      expect([named(route), answer.text]).toEqual([named(route), expect.not.stringContaining(MARK)]);
      const namesNothing = route.about === 'caller' && !route.url.includes(':');
      if (namesNothing) continue;
      expect([named(route), need, answer.status]).toEqual([
        named(route),
        need,
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
      ]);
      const expected = {
        ...{ tenant: 'tenant-not-found', job: 'job-not-found' },
        ...{ query: 'tenant-forbidden', scope: 'tenant-forbidden' },
      };
      if (route.about !== 'caller')
        expect([named(route), codeOf(answer)]).toEqual([named(route), expected[route.about]]);
    }
    expect(await entries()).toBe(before);
  });

  test('finds nothing of another tenant under its own name either', async () => {
    const parameter = /:(\w+)(?:\([^)]*\))?/g;
    const ofOther = async () => {
      const lists = ['templates', 'integrations', 'people', 'webhooks'].map(
        (list) => `/tenants/${OTHER}/${list}`,
      );
      return (await Promise.all(lists.map((path) => service.admin('GET', path))))
        .map(({ text }) => text)
        .join();
    };
    const before = await ofOther();
    const within = needing().filter(
      ({ route: { about, url }, need }) =>
        may(who, need) && about === 'tenant' && [...url.matchAll(parameter)].length > 1,
    );
    expect(within.length).toBeGreaterThan(0);
    for (const { route } of within) {
      const url = route.url.replaceAll(parameter, (_all, name: string) => {
        const thing = name === 'id' ? own : (things[name] ?? MISSING[name]);
        // A route about something new has to say here which one is the other tenant's.
        return encodeURIComponent(thing ?? `nothing known of ${name} in ${route.url}`);
      });
      expect(decodeURIComponent(url)).not.toContain('nothing known');
      const body = BODIES[named(route)] ?? (BODILESS.includes(route.method) ? undefined : {});
      const answer = await personOf(who).call(url, { method: route.method, body });
      expect([route.method, url, answer.text]).toEqual([
        route.method,
        url,
        expect.not.stringContaining(MARK),
      ]);
      // A list without anything in it, or a count of nothing.
      const empty = route.method === 'GET' && /^\[\]$|"jobs":0,/.test(answer.text);
      expect([route.method, url, empty || answer.status]).toEqual([
        route.method,
        url,
        expect.toSatisfy((said: number | true) => said === true || said === 404),
      ]);
    }
    expect(await ofOther()).toBe(before);
  });

  test('may do all that the role has, in its own tenant', async () => {
    for (const { route } of needing().filter((one) => may(who, one.need))) {
      // The next test's routes must still be there, and people who are asked as well.
      if (!ends(route)) continue;
      // What erases a tenant erases another one: the next routes need this one.
      const gone = named(route) === 'DELETE /app/tenants/:id' ? await service.tenant('gone') : own;
      const answer = await ask(who, route, gone);
      expect([named(route), answer.status]).toEqual([
        named(route),
        expect.toSatisfy((status: number) => status !== 401 && status !== 500),
      ]);
      expect([named(route), codeOf(answer) ?? 'none']).toEqual([
        named(route),
        expect.not.stringMatching(REFUSALS),
      ]);
      expect([named(route), answer.text]).toEqual([named(route), expect.not.stringContaining(MARK)]);
    }
  });
});

test('what tenants share is the deployment’s: a tenant’s people hold no shared printer, and clear their own jobs there', async () => {
  const path = `/app/printers/${PRINTER}`;
  const asked = [
    ['POST', '/hold'],
    ['POST', '/resume'],
    ['POST', '/hide'],
    ['PUT', '/name'],
    ['PUT', '/about'],
    ['PUT', '/settings'],
    ['DELETE', ''],
  ] as const;
  for (const [method, action] of asked) {
    const body =
      method === 'DELETE'
        ? undefined
        : action === '/name'
          ? { name: 'mine' }
          : action === '/about'
            ? { place: '', group: '', note: '' }
            : {};
    const answer = await personOf('admin').call(path + action, { method, body });
    expect([action, codeOf(answer)]).toEqual([action, 'permission-missing']);
  }
  const cleared = await personOf('operator').call(`${path}/clear`, {
    method: 'POST',
    body: { dryRun: true },
  });
  expect([cleared.status, cleared.text]).toEqual([
    200,
    expect.not.stringContaining(jobs[OTHER] ?? 'nothing'),
  ]);
  expect((await personOf('keeper').call(`${path}/resume`, { method: 'POST', body: {} })).status).toBe(200);
});

test('a tenant’s administrator can do nothing to the keeper of the installation', async () => {
  const colleague = await SignedIn.as(service, 'default', 'admin', 'colleague@example.com');
  const list = (await colleague.call('/app/tenants/default/people')).body;
  const keeper = z
    .array(z.object({ id: z.string(), deployment: z.boolean() }))
    .parse(list)
    .find((one) => one.deployment);
  const path = `/app/tenants/default/people/${keeper?.id}`;
  const tries = [
    await colleague.call(path, { method: 'DELETE' }),
    await colleague.call(path, { method: 'PUT', body: { role: 'viewer' } }),
    await colleague.call(`${path}/invitation`, { method: 'POST' }),
    await colleague.call('/app/links', { body: { tenant: 'default', login: 'admin' } }),
  ];
  expect(tries.map(codeOf)).toEqual(tries.map(() => 'permission-missing'));
  const self = await colleague.call(`/app/tenants/default/people/${colleague.id}`, { method: 'DELETE' });
  expect(codeOf(self)).toBe('person-yourself');
});

test('the roles of the database are those of the contract', async () => {
  const { rows } = await service.pool.query(
    `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'people_role'`,
  );
  const [{ text }] = z.tuple([z.object({ text: z.string() })]).parse(rows);
  expect([...text.matchAll(/'(\w+)'::text/g)].map(([, word]) => word)).toEqual([...ROLES]);
});

test('a route that does not say what it needs does not start', async () => {
  const app = Fastify();
  const sessions = new Sessions(service.pool);
  const cookie = new SessionCookie(undefined);
  guardApp(app, { adminToken: undefined, pool: service.pool, sessions, cookie, changed: () => {} });
  expect(() => app.get('/app/forgotten', async () => 'open')).toThrow(
    'GET /app/forgotten does not say what it needs',
  );
  expect(() => app.get('/app/half', { config: { needs: 'jobs:read' } }, async () => 'open')).toThrow(
    '/app/half',
  );
  await app.close();
});
