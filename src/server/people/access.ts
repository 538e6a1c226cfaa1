/**
 * Access control for `/app`, as one rule in one place: every route declares what it needs and what it is
 * about. Before the body is read, the caller is identified, has the permission, and is kept to the tenants
 * that the caller may access. What a request has changed is in the audit before the answer goes out.
 */
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeedWord } from '../../contract/deeds.ts';
import type { Changed, Need } from '../../contract/people.ts';
import { tenantId } from '../../contract/tenant-id.ts';
import { idParam } from '../id-param.ts';
import { jobNotFound, oneJob } from '../one-job.ts';
import { ProblemError, parseBody } from '../problems.ts';
import type { Pool, Queryable } from '../store/pool.ts';
import { tenantNotFound } from '../tenant-not-found.ts';
import { adminToken } from './admin-token.ts';
import { type Deed, whoIs, writeEntry } from './audit.ts';
import { SAFE_METHODS, type SessionCookie } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';
import { type Access, accessOf, demand, mayDo, type PersonVisitor, type Visitor } from './visitor.ts';

/** How a request names its tenant. If the path names it, another tenant or its job seems not to exist. */
const ABOUT = {
  tenant: '`:id` is a tenant',
  query: '`?tenant=` may name one, and is always its own for a person',
  scope: 'as `query`, but a person who may do what concerns all tenants may name any, or none',
  job: '`:id` is a job',
  caller: 'nothing in it names one: the handler keeps to `accessOf(request).tenant`',
} as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `session`: any person with a session; `nothing`: anybody, as for signing in. */
    needs?: Need | 'session' | 'nothing';
    about?: keyof typeof ABOUT;
    /** The deed's name in the audit, for a route that is no GET; null: the route changes nothing. */
    audit?: DeedWord | null;
    /** Another site leads the browser here. Only with `nothing`, and only for requests that bring their own proof. */
    fromElsewhere?: true;
  }
  interface FastifyRequest {
    /** What the handler has changed, if `:id` does not say it; empty if the handler told the feed itself. */
    changed: Changed | null;
    deed: Deed & { written?: true };
  }
}

type Parts = {
  adminToken: string | undefined;
  pool: Pool;
  sessions: Sessions;
  cookie: SessionCookie;
  /** Called with what a request has changed. */
  changed: (what: Changed) => void;
};

const jobTenant = z.object({ tenant_id: z.string() });
const tenantOnly = z.looseObject({ tenant: z.string().optional() });

/** A route under `/app`, as it declares itself. */
export type AppRoute = { method: string; url: string } & Required<
  Pick<FastifyContextConfig, 'needs' | 'about'>
>;

/**
 * Makes every route under `/app` declare what it needs and what it is about, and enforces both.
 * @returns the routes; each is added when it is registered
 */
export function guardApp(app: FastifyInstance, parts: Parts): readonly AppRoute[] {
  const routes: AppRoute[] = [];
  const isAdmin = adminToken(parts.adminToken);
  app.decorateRequest('access', null);
  app.decorateRequest('deed');
  app.decorateRequest('changed', null);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (url !== '/app' && !url.startsWith('/app/')) return;
    const { needs, about, audit } = config ?? {};
    if (needs === undefined || about === undefined) {
      throw new Error(`the route ${String(method)} ${url} does not say what it needs and what it is about`);
    }
    if (
      needs !== 'nothing' &&
      audit === undefined &&
      [method].flat().some((one) => !SAFE_METHODS.includes(one))
    ) {
      throw new Error(`the route ${String(method)} ${url} does not say what it does, for the audit`);
    }
    routes.push({ method: String(method), url, needs, about });
  });
  app.addHook('onRequest', async (request) => {
    const { needs, about, fromElsewhere } = request.routeOptions.config;
    if (needs === undefined || about === undefined) return;
    request.deed = {};
    if (needs === 'nothing') {
      if (fromElsewhere === undefined) parts.cookie.checkOrigin(request);
      return;
    }
    const visitor = await visitorOf(app, request, parts, isAdmin);
    if (needs === 'session') {
      if (visitor.kind === 'machine') throw new ProblemError('session-ended', 'sign in as a person');
    } else {
      demand(visitor, needs);
    }
    // A route that needs `deployment` may concern any tenant.
    const any = needs === 'deployment' || (about === 'scope' && mayDo(visitor, 'deployment'));
    const own = visitor.kind === 'person' && !any ? visitor.tenant : undefined;
    request.access = { visitor, tenant: await tenantOf(request, own, about, parts.pool) };
    // A machine's request may name anything as its tenant; only a valid ID is logged.
    const named = tenantId.safeParse(request.access.tenant);
    if (named.success) request.facts.tenant = named.data;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { audit } = request.routeOptions.config;
    if (request.access === null || !audit || SAFE_METHODS.includes(request.method)) return payload;
    if (reply.statusCode >= 300) return payload;
    if (request.deed.written === undefined) await writeDeed(parts.pool, request);
    parts.changed(changedBy(request));
    return payload;
  });
  return routes;
}

/**
 * Writes the deed of the request's route into the audit, in the caller's transaction, for handlers that have
 * one. All other handlers leave that to the hook, and only say in `request.deed` what the deed was done to.
 */
export async function writeDeed(db: Queryable, request: FastifyRequest, deed: Deed = {}): Promise<void> {
  const { visitor, tenant } = accessOf(request);
  const { audit, url } = request.routeOptions.config;
  if (!audit) throw new Error(`the route ${url} does nothing that is in the audit`);
  await writeEntry(
    db,
    { request, who: whoIs(visitor), tenant, what: audit },
    { object: objectOf(request), tenant: tenant ?? null, ...request.deed, ...deed },
  );
  request.deed.written = true;
}

/** `writeDeed` as a callback, for a transaction that other code runs. */
export function written(request: FastifyRequest, deed: Deed = {}): (db: Queryable) => Promise<void> {
  return (db) => writeDeed(db, request, deed);
}

/**
 * What the request has changed. If neither handler nor route says it, it may be anything; people press few buttons, so that
 * costs little.
 */
function changedBy(request: FastifyRequest): Changed {
  const { url = '', config } = request.routeOptions;
  if (request.changed !== null) return request.changed;
  if (config.about === 'job') return { jobs: [idParam.parse(request.params).id] };
  if (config.about === 'tenant') return { tenants: [idParam.parse(request.params).id] };
  return { all: /^\/app\/(?:jobs|printers|agents)\b/.test(url) };
}

/** The last of the route's parameters that is no tenant. */
function objectOf(request: FastifyRequest): string {
  const params = z.record(z.string(), z.string()).parse(request.params);
  const { about } = request.routeOptions.config;
  const [last] = Object.entries(params)
    .filter(([name]) => !(about === 'tenant' && name === 'id'))
    .map(([, value]) => value)
    .slice(-1);
  return last ?? '';
}

/** @throws ProblemError `unauthorized-admin`, `session-ended`, `origin-foreign` */
async function visitorOf(
  app: FastifyInstance,
  request: FastifyRequest,
  { sessions, cookie }: Parts,
  isAdmin: (request: FastifyRequest) => void,
): Promise<Visitor> {
  const token = request.headers.authorization === undefined ? cookie.read(app, request) : undefined;
  if (token === undefined) {
    isAdmin(request);
    request.facts.account = 'admin';
    return { kind: 'machine' };
  }
  cookie.checkOrigin(request);
  const session = await sessions.find(token);
  if (session === undefined) throw new ProblemError('session-ended', 'sign in again');
  const { id, login, name, role, deployment } = session.person;
  request.facts.account = id;
  return {
    kind: 'person',
    id,
    sessionId: session.id,
    tenant: session.tenant.id,
    login,
    name,
    role,
    deployment,
  } satisfies PersonVisitor;
}

/**
 * @param own the only tenant that the caller may access; undefined: the caller may access all
 * @throws ProblemError `tenant-not-found`, `tenant-forbidden`, `job-not-found`, `payload-invalid`
 */
async function tenantOf(
  request: FastifyRequest,
  own: string | undefined,
  about: keyof typeof ABOUT,
  pool: Pool,
): Promise<Access['tenant']> {
  if (about === 'tenant') {
    const { id } = idParam.parse(request.params);
    if (own === undefined || own === id) return id;
    throw tenantNotFound(id);
  }
  if (about === 'query' || about === 'scope') {
    const { tenant } = parseBody(tenantOnly, request.query);
    if (own === undefined) return tenant;
    if (tenant === undefined || tenant === own) return own;
    throw new ProblemError('tenant-forbidden', `you have no access to tenant "${tenant}"`);
  }
  if (about === 'job') {
    const { id } = idParam.parse(request.params);
    const job = await oneJob(pool, jobTenant, 'SELECT tenant_id FROM platen.jobs WHERE id = $1', id);
    if (own === undefined || own === job.tenant_id) return job.tenant_id;
    throw jobNotFound();
  }
  return own;
}
