/** The people of a tenant, links that sign somebody in, and the audit. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  auditFilter,
  type InvitationCreated,
  type PersonView,
  personChange,
  personInvite,
  type SignInLink,
  signInLinkCreate,
} from '../../contract/people.ts';
import { idParam } from '../id-param.ts';
import { ProblemError, parseBody } from '../problems.ts';
import type { Also, Pool } from '../store/pool.ts';
import type { Tenants } from '../tenants/tenants.ts';
import { writeDeed } from './access.ts';
import { auditPageOf } from './audit.ts';
import type { Link, People } from './people.ts';
import { accessOf, demand } from './visitor.ts';

type Parts = { pool: Pool; people: People; tenants: Tenants; publicUrl: () => string };

const personParam = idParam.extend({ personId: z.string() });

export async function peopleRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { people, publicUrl } = parts;
  const config = { needs: 'people', about: 'tenant' } as const;
  const written =
    (request: FastifyRequest, details = {}): Also<PersonView> =>
    (db, { id, tenant, login }) =>
      writeDeed(db, request, { tenant, object: id, details: { login, ...details } });
  const invitation = ({ person, token, expiresAt }: Link): InvitationCreated => ({
    person,
    url: `${publicUrl()}/console/#invitation=${token}`,
    expiresAt,
  });
  /** A person with `deployment` is changed only by a caller who has it, too; nobody changes themselves. */
  const changeable = async (request: FastifyRequest): Promise<z.infer<typeof personParam>> => {
    const { id, personId } = personParam.parse(request.params);
    const { visitor } = accessOf(request);
    const person = await people.get(id, personId);
    if (person.deployment) demand(visitor, 'deployment');
    if (visitor.kind === 'person' && visitor.id === personId) {
      throw new ProblemError('person-yourself', 'ask another administrator');
    }
    return { id, personId };
  };

  app.get('/app/tenants/:id/people', { config }, async (request) => {
    const tenant = await parts.tenants.get(idParam.parse(request.params).id);
    return people.list(tenant.id);
  });
  app.post(
    '/app/tenants/:id/people',
    { config: { ...config, audit: 'person.invite' } },
    async (request, reply) => {
      const { login, name = login, role } = parseBody(personInvite, request.body);
      const { id } = idParam.parse(request.params);
      const link = await people.invite(id, { login, name, role }, written(request, { role }));
      return reply.code(201).send(invitation(link));
    },
  );
  app.post(
    '/app/tenants/:id/people/:personId/invitation',
    { config: { ...config, audit: 'person.invite-again' } },
    async (request, reply) => {
      const { id, personId } = await changeable(request);
      return reply.code(201).send(invitation(await people.inviteAgain(id, personId, written(request))));
    },
  );
  app.put(
    '/app/tenants/:id/people/:personId',
    { config: { ...config, audit: 'person.set-role' } },
    async (request) => {
      const { role } = parseBody(personChange, request.body);
      const { id, personId } = await changeable(request);
      return people.setRole(id, personId, role, written(request, { role }));
    },
  );
  app.delete(
    '/app/tenants/:id/people/:personId',
    { config: { ...config, audit: 'person.revoke' } },
    async (request) => {
      const { id, personId } = await changeable(request);
      return people.revoke(id, personId, written(request));
    },
  );

  app.post(
    '/app/links',
    { config: { needs: 'deployment', about: 'caller', audit: 'session.make-link' } },
    async (request, reply) => {
      const { tenant, login } = parseBody(signInLinkCreate, request.body ?? {});
      const { token, expiresAt } = await people.signInLink(tenant, login, written(request));
      const link: SignInLink = { url: `${publicUrl()}/console/#sign-in=${token}`, expiresAt };
      return reply.code(201).send(link);
    },
  );

  app.get('/app/audit', { config: { needs: 'people', about: 'query' } }, async (request) => {
    const filter = parseBody(auditFilter, request.query);
    return auditPageOf(parts.pool, accessOf(request).tenant, filter);
  });
}
