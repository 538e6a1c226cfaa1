/** The internal interface's service accounts, and what they and people have printed. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  integrationCreate,
  integrationRotate,
  type JobSender,
  SECRETS,
  usageQuery,
} from '../../contract/admin.ts';
import type { DeedWord } from '../../contract/deeds.ts';
import { idParam } from '../id-param.ts';
import { writeDeed, written } from '../people/access.ts';
import { parseBody } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import type { Tenants } from '../tenants/tenants.ts';
import { usageOf } from '../tenants/usage.ts';
import type { Credentials } from './credentials.ts';

type Parts = { pool: Pool; tenants: Tenants; credentials: Credentials };

const apiKeyParam = idParam.extend({ apiKey: z.string() });
const secretParam = apiKeyParam.extend({ which: z.enum(SECRETS) });

export async function integrationRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { tenants, credentials } = parts;
  const read = { needs: 'integrations', about: 'tenant' } as const;
  const act = (audit: DeedWord) => ({ config: { ...read, audit } }) as const;

  app.get('/app/tenants/:id/integrations', { config: read }, async (request) => {
    const tenant = await tenants.get(idParam.parse(request.params).id);
    return credentials.integrations.list(tenant.id);
  });
  app.post('/app/tenants/:id/integrations', act('integration.create'), async (request, reply) => {
    const options = parseBody(integrationCreate, request.body);
    const { id } = idParam.parse(request.params);
    const created = await credentials.create(id, options, (db, { apiKey, name, scope, test }) =>
      writeDeed(db, request, { object: apiKey, details: { name, scope, ...(test && { test }) } }),
    );
    return reply.code(201).send(created);
  });
  app.delete('/app/tenants/:id/integrations/:apiKey', act('integration.revoke'), async (request) => {
    const { id, apiKey } = apiKeyParam.parse(request.params);
    return credentials.integrations.revoke(id, apiKey, written(request));
  });

  app.post(
    '/app/tenants/:id/integrations/:apiKey/secrets',
    act('integration.rotate'),
    async (request, reply) => {
      const { id, apiKey } = apiKeyParam.parse(request.params);
      const { oldForHours } = parseBody(integrationRotate, request.body ?? {});
      const details = { oldForHours: oldForHours ?? null };
      const rotated = await credentials.rotate(
        id,
        apiKey,
        oldForHours,
        written(request, { object: apiKey, details }),
      );
      return reply.code(201).send(rotated);
    },
  );
  app.delete(
    '/app/tenants/:id/integrations/:apiKey/secrets/:which',
    act('integration.remove-secret'),
    async (request) => {
      const { id, apiKey, which } = parseBody(secretParam, request.params);
      const deed = { object: apiKey, details: { secret: which } };
      return credentials.integrations.removeSecret(id, apiKey, which, written(request, deed));
    },
  );

  app.get(
    '/app/tenants/:id/senders',
    { config: { needs: 'jobs:read', about: 'tenant' } },
    async (request): Promise<JobSender[]> => {
      const tenant = await tenants.get(idParam.parse(request.params).id);
      const all = await credentials.integrations.list(tenant.id);
      return all.map(({ apiKey, name, test }) => ({ apiKey, name, test }));
    },
  );
  app.get('/app/tenants/:id/usage', { config: { needs: 'jobs:read', about: 'tenant' } }, async (request) => {
    const { days } = parseBody(usageQuery, request.query);
    const tenant = await tenants.get(idParam.parse(request.params).id);
    return usageOf(parts.pool, tenant.id, days);
  });
}
