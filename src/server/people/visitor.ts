/** Who calls a route under `/app`: a machine with the admin token, or a person with a session. */
import type { FastifyRequest } from 'fastify';
import { NEEDS, type Need, ROLE_MAY, type Role } from '../../contract/people.ts';
import { ProblemError } from '../problems.ts';

export type PersonVisitor = {
  kind: 'person';
  id: string;
  sessionId: string;
  tenant: string;
  login: string;
  name: string;
  role: Role;
  /** The person may also do what concerns all tenants. */
  deployment: boolean;
};
export type Visitor = { kind: 'machine' } | PersonVisitor;

export type Access = {
  visitor: Visitor;
  /** The one tenant that the request may see; undefined: a machine that sees all of them. */
  tenant: string | undefined;
};

declare module 'fastify' {
  interface FastifyRequest {
    access: Access | null;
  }
}

/** @throws Error in the handler of a route that needs nothing: such a route does not know its caller */
export function accessOf(request: FastifyRequest): Access {
  if (request.access === null) throw new Error('a handler ran without its caller');
  return request.access;
}

/** The caller as a person. @throws ProblemError `session-ended` if the caller is a machine */
export function personIn(request: FastifyRequest): PersonVisitor {
  const { visitor } = accessOf(request);
  if (visitor.kind === 'machine') throw new ProblemError('session-ended', 'sign in as a person');
  return visitor;
}

/** The account under which the caller's jobs are sent. */
export function accountOf({ visitor }: Access): string {
  return visitor.kind === 'machine' ? 'admin' : visitor.login;
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
