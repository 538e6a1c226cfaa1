/**
 * The internal interface under `/app`, for the command line and the console (`contract/admin.ts`): tenants,
 * integrations, templates, printers and jobs. Who may use which route: `people/access.ts`. It may change without notice.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  type IntegrationCreated,
  integrationCreate,
  type Permission,
  printerCommandsSet,
  quotaSet,
  templateRename,
  templateReplace,
  tenantCreate,
} from '../../contract/admin.ts';
import type { CheckPool } from '../../rendering/check-pool.ts';
import type { Jobs } from '../jobs/accept/enqueue.ts';
import { parseKey } from '../jobs/accept/idempotency.ts';
import { answer, idParam } from '../jobs/routes.ts';
import type { Integrations } from '../oauth/integrations.ts';
import { accessOf, accountOf } from '../people/visitor.ts';
import { listAgents } from '../printers/agents.ts';
import { ProblemError, parseBody } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { templatePreview } from '../templates/preview.ts';
import type { Templates } from '../templates/templates.ts';
import type { Tenants } from '../tenants/tenants.ts';

export type AdminParts = {
  pool: Pool;
  tenants: Tenants;
  templates: Templates;
  checks: CheckPool;
  jobs: Jobs;
  /** Undefined where the accounts are an external server's. */
  integrations: Integrations | undefined;
  createIntegration: (
    tenantId: string,
    options: { name: string; scope: readonly Permission[] },
  ) => Promise<IntegrationCreated>;
};

const apiKeyParam = idParam.extend({ apiKey: z.string() });
const templateParam = idParam.extend({ templateId: z.string() });

export async function adminRoutes(app: FastifyInstance, parts: AdminParts): Promise<void> {
  const { tenants, templates, jobs } = parts;
  app.get('/app/tenants', { config: { needs: 'jobs:read', about: 'caller' } }, async (request) => {
    const { tenant } = accessOf(request);
    return tenant === undefined ? tenants.list() : [await tenants.get(tenant)];
  });
  app.post(
    '/app/tenants',
    { config: { needs: 'deployment', about: 'caller', audit: 'tenant.create' } },
    async (request, reply) => {
      const tenant = await tenants.create(parseBody(tenantCreate, request.body));
      request.deed = { tenant: tenant.id, object: tenant.id };
      return reply.code(201).send(tenant);
    },
  );
  app.get('/app/tenants/:id', { config: { needs: 'jobs:read', about: 'tenant' } }, async (request) =>
    tenants.get(idParam.parse(request.params).id),
  );
  app.put(
    '/app/tenants/:id/quota',
    { config: { needs: 'deployment', about: 'tenant', audit: 'tenant.set-quota' } },
    async (request) => {
      const { id } = idParam.parse(request.params);
      const { labels } = parseBody(quotaSet, request.body);
      request.deed.details = { labels };
      return tenants.setQuota(id, labels);
    },
  );
  app.put(
    '/app/tenants/:id/printer-commands',
    { config: { needs: 'deployment', about: 'tenant', audit: 'tenant.set-printer-commands' } },
    async (request) => {
      const { id } = idParam.parse(request.params);
      const { allowed } = parseBody(printerCommandsSet, request.body);
      request.deed.details = { allowed };
      return tenants.setPrinterCommands(id, allowed);
    },
  );

  const integrations = (): Integrations => {
    if (parts.integrations !== undefined) return parts.integrations;
    throw new ProblemError(
      'authorization-external',
      'make service accounts at the external authorization server',
    );
  };
  app.get(
    '/app/tenants/:id/integrations',
    { config: { needs: 'integrations', about: 'tenant' } },
    async (request) => {
      const tenant = await tenants.get(idParam.parse(request.params).id);
      return integrations().list(tenant.id);
    },
  );
  app.post(
    '/app/tenants/:id/integrations',
    { config: { needs: 'integrations', about: 'tenant', audit: 'integration.create' } },
    async (request, reply) => {
      const options = parseBody(integrationCreate, request.body);
      const created = await parts.createIntegration(idParam.parse(request.params).id, options);
      request.deed = { object: created.apiKey, details: { name: options.name, scope: created.scope } };
      return reply.code(201).header('cache-control', 'no-store').send(created);
    },
  );
  app.delete(
    '/app/tenants/:id/integrations/:apiKey',
    { config: { needs: 'integrations', about: 'tenant', audit: 'integration.revoke' } },
    async (request) => {
      const { id, apiKey } = apiKeyParam.parse(request.params);
      return integrations().revoke(id, apiKey);
    },
  );

  app.get(
    '/app/tenants/:id/templates',
    { config: { needs: 'jobs:read', about: 'tenant' } },
    async (request) => {
      const tenant = await tenants.get(idParam.parse(request.params).id);
      return templates.list(tenant.id);
    },
  );
  app.post(
    '/app/tenants/:id/templates',
    { config: { needs: 'templates:edit', about: 'tenant', audit: 'template.import' } },
    async (request, reply) => {
      const imported = await templates.import(idParam.parse(request.params).id, request.body);
      const { id, name } = imported.view;
      request.deed = { object: id, details: { name, created: imported.created } };
      return reply.code(imported.created ? 201 : 200).send(imported.view);
    },
  );
  app.post(
    '/app/tenants/:id/templates/preview',
    { config: { needs: 'labels:read', about: 'tenant', audit: null } },
    async (request) => templatePreview(parts, idParam.parse(request.params).id, request.body),
  );
  app.get(
    '/app/tenants/:id/templates/:templateId',
    { config: { needs: 'jobs:read', about: 'tenant' } },
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      return templates.show(id, templateId);
    },
  );
  app.put(
    '/app/tenants/:id/templates/:templateId',
    { config: { needs: 'templates:edit', about: 'tenant' } },
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      return templates.replace(id, templateId, parseBody(templateReplace, request.body));
    },
  );
  app.put(
    '/app/tenants/:id/templates/:templateId/name',
    { config: { needs: 'templates:edit', about: 'tenant', audit: 'template.rename' } },
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      return templates.rename(id, templateId, parseBody(templateRename, request.body).name);
    },
  );
  app.delete(
    '/app/tenants/:id/templates/:templateId',
    { config: { needs: 'templates:edit', about: 'tenant', audit: 'template.delete' } },
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      return templates.delete(id, templateId);
    },
  );

  app.get('/app/agents', { config: { needs: 'jobs:read', about: 'query' } }, async (request) =>
    listAgents(parts.pool, accessOf(request).tenant),
  );

  app.post(
    '/app/tenants/:id/jobs',
    { config: { needs: 'jobs:act', about: 'tenant', audit: 'job.print' } },
    async (request, reply) => {
      const tenant = await tenants.get(idParam.parse(request.params).id);
      const header = request.headers['idempotency-key'];
      const key = header === undefined ? undefined : parseKey(header);
      const accepted = await jobs.enqueue({
        tenantId: tenant.id,
        account: accountOf(accessOf(request)),
        ownAccount: false,
        key,
        body: request.body,
      });
      request.deed = { object: accepted.jobId, ...(accepted.replayed && { written: true }) };
      return answer(request, reply, accepted);
    },
  );
  app.post(
    '/app/tenants/:id/jobs/validate',
    { config: { needs: 'jobs:act', about: 'tenant', audit: null } },
    async (request) => {
      const tenant = await tenants.get(idParam.parse(request.params).id);
      return jobs.validate(tenant.id, request.body);
    },
  );
}
