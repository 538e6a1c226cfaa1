/**
 * Who may do what under `/app`, as one rule in one place: every route says what it needs and what it is about, and before
 * its body is read the caller is known, may do that, and has nothing to do with another tenant's.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { NEEDS, type Need, ROLE_MAY, type Role } from '../../contract/people.ts';
import { jobId } from '../../contract/queued-job.ts';
import { tenantId } from '../../contract/tenant-id.ts';
import { ProblemError } from '../problems.ts';
import { type Pool, rowOf } from '../store/pool.ts';
import { adminToken } from './admin-token.ts';

/** Whoever has the admin token, or a person with a session. */
export type Visitor =
  | { kind: 'machine' }
  | {
      kind: 'person';
      id: string;
      sessionId: string;
      tenant: string;
      login: string;
      name: string;
      role: Role;
      /** May also do what concerns all tenants. */
      deployment: boolean;
    };

/** What the request names its tenant by; what it does not own is as if it did not exist. */
export const ABOUT = {
  tenant: '`:id` is a tenant',
  query: '`?tenant=` may name one, and is always its own for a person',
  job: '`:id` is a job',
  caller: 'nothing in it names one: the handler keeps to `accessOf(request).tenant`',
} as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `session`: any person's; `nothing`: anybody, as with a sign-in. */
    needs?: Need | 'session' | 'nothing';
    about?: keyof typeof ABOUT;
  }
  interface FastifyRequest {
    access: Access | null;
  }
}

export type Access = {
  visitor: Visitor;
  /** The one tenant that the request may see; undefined: a machine that sees all of them. */
  tenant: string | undefined;
};

type Parts = {
  adminToken: string | undefined;
  pool: Pool;
};

const idOnly = z.object({ id: z.string() });
const tenantOnly = z.looseObject({ tenant: z.string().optional() });

/** @throws Error in a handler whose route needs nothing */
export function accessOf(request: FastifyRequest): Access {
  if (request.access === null) throw new Error('a handler ran without its caller');
  return request.access;
}

export function mayDo(visitor: Visitor, need: Need): boolean {
  if (visitor.kind === 'machine') return true;
  return ROLE_MAY[visitor.role].includes(need) || (need === 'deployment' && visitor.deployment);
}

/** @throws ProblemError `permission-missing` */
export function demand(visitor: Visitor, need: Need): void {
  if (mayDo(visitor, need)) return;
  throw new ProblemError('permission-missing', `your role does not let you ${NEEDS[need]}`);
}

/** Has every route under `/app` that is registered from now on declare itself, and keeps to what they declare. */
export function guardApp(app: FastifyInstance, parts: Parts): void {
  const isAdmin = adminToken(parts.adminToken);
  app.decorateRequest('access', null);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (url !== '/app' && !url.startsWith('/app/')) return;
    if (config?.needs === undefined || config.about === undefined) {
      throw new Error(`the route ${String(method)} ${url} does not say what it needs and what it is about`);
    }
  });
  app.addHook('onRequest', async (request) => {
    const { needs, about } = request.routeOptions.config;
    if (needs === undefined || about === undefined || needs === 'nothing') return;
    isAdmin(request);
    const visitor: Visitor = { kind: 'machine' };
    request.facts.account = 'admin';
    if (needs !== 'session') demand(visitor, needs);
    request.access = { visitor, tenant: await tenantOf(request, visitor, about, parts.pool) };
    // In a machine's request it may be anything.
    const named = tenantId.safeParse(request.access.tenant);
    if (named.success) request.facts.tenant = named.data;
  });
}

/** @throws ProblemError `tenant-not-found`, `tenant-forbidden`, `job-not-found` */
async function tenantOf(
  request: FastifyRequest,
  visitor: Visitor,
  about: keyof typeof ABOUT,
  pool: Pool,
): Promise<string | undefined> {
  const own = visitor.kind === 'person' ? visitor.tenant : undefined;
  if (about === 'tenant') {
    const { id } = idOnly.parse(request.params);
    if (own === undefined || own === id) return id;
    throw new ProblemError('tenant-not-found', `there is no tenant "${id}"`);
  }
  if (about === 'query') {
    const { tenant } = tenantOnly.parse(request.query ?? {});
    if (own === undefined) return tenant;
    if (tenant === undefined || tenant === own) return own;
    throw new ProblemError('tenant-forbidden', `you have no access to tenant "${tenant}"`);
  }
  if (about === 'job' && own !== undefined) {
    const { id } = idOnly.parse(request.params);
    const sql = 'SELECT id FROM platen.jobs WHERE id = $1 AND tenant_id = $2';
    const found = jobId.safeParse(id).success ? await rowOf(pool, idOnly, sql, [id, own]) : undefined;
    if (found === undefined) throw new ProblemError('job-not-found', 'there is no job with this ID');
  }
  return own;
}
