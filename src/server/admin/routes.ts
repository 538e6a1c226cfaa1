/**
 * The internal interface under `/app`, for the command line and the console (`contract/admin.ts`): tenants,
 * integrations, templates, printers and jobs. Who may use which route: `people/access.ts`. It may change without notice.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  mediaFitSet,
  printerCommandsSet,
  quotaSet,
  templateDraftSave,
  templateRename,
  templateReplace,
  tenantCreate,
} from '../../contract/admin.ts';
import type { DeedWord } from '../../contract/deeds.ts';
import type { Need } from '../../contract/people.ts';
import type { CheckPool } from '../../rendering/check-pool.ts';
import { idParam } from '../id-param.ts';
import { parseKey } from '../jobs/accept/idempotency.ts';
import type { PrintRequests } from '../jobs/accept/print-requests.ts';
import type { Withdrawals } from '../jobs/outcome/withdrawals.ts';
import { answer } from '../jobs/routes.ts';
import type { Credentials } from '../oauth/credentials.ts';
import { integrationRoutes } from '../oauth/integration-routes.ts';
import { writeDeed, written } from '../people/access.ts';
import { accessOf, accountOf } from '../people/visitor.ts';
import { parseBody } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { templatePreview } from '../templates/preview.ts';
import { SentFiles } from '../templates/sent-files.ts';
import { usesOf, versionOf, versionsOf } from '../templates/template-versions.ts';
import type { Templates } from '../templates/templates.ts';
import { TenantErasure } from '../tenants/erasure.ts';
import type { Tenants } from '../tenants/tenants.ts';

type AdminParts = {
  pool: Pool;
  tenants: Tenants;
  /** The lanes are in this database. */
  inLanes: boolean;
  templates: Templates;
  checks: CheckPool;
  printRequests: PrintRequests;
  credentials: Credentials;
  withdrawals: Withdrawals;
};

const templateParam = idParam.extend({ templateId: z.string() });
const versionParam = templateParam.extend({ number: z.coerce.number().int() });

export async function adminRoutes(app: FastifyInstance, parts: AdminParts): Promise<void> {
  await app.register(integrationRoutes, parts);
  const { tenants, templates, printRequests, withdrawals } = parts;
  const erasure = new TenantErasure(parts.pool, parts.inLanes);
  const files = new SentFiles();
  const read = { config: { needs: 'jobs:read', about: 'tenant' } } as const;
  const act = (needs: Need, audit: DeedWord | null) =>
    ({ config: { needs, about: 'tenant', audit } }) as const;
  app.get('/app/tenants', { config: { needs: 'jobs:read', about: 'scope' } }, async (request) => {
    const { tenant } = accessOf(request);
    return tenant === undefined ? tenants.list() : [await tenants.get(tenant)];
  });
  app.post(
    '/app/tenants',
    { config: { needs: 'deployment', about: 'caller', audit: 'tenant.create' } },
    async (request, reply) => {
      const asked = parseBody(tenantCreate, request.body);
      const deed = { tenant: asked.id, object: asked.id };
      const tenant = await tenants.create(asked, written(request, deed));
      return reply.code(201).send(tenant);
    },
  );
  app.get('/app/tenants/:id', read, async (request) => tenants.get(idParam.parse(request.params).id));
  app.put('/app/tenants/:id/quota', act('deployment', 'tenant.set-quota'), async (request) => {
    const { id } = idParam.parse(request.params);
    const { labels } = parseBody(quotaSet, request.body);
    return tenants.setQuota(id, labels, written(request, { details: { labels } }));
  });
  app.put(
    '/app/tenants/:id/printer-commands',
    act('deployment', 'tenant.set-printer-commands'),
    async (request) => {
      const { id } = idParam.parse(request.params);
      const { allowed } = parseBody(printerCommandsSet, request.body);
      const tenant = await tenants.setPrinterCommands(
        id,
        allowed,
        written(request, { details: { allowed } }),
      );
      if (!allowed) {
        await withdrawals.sweep().catch((error: unknown) => {
          request.log.warn({ err: error }, 'jobs that wait with a withdrawn permission are held later');
        });
      }
      return tenant;
    },
  );

  app.put('/app/tenants/:id/media-fit', act('deployment', 'tenant.set-media-fit'), async (request) => {
    const { id } = idParam.parse(request.params);
    const { must } = parseBody(mediaFitSet, request.body);
    return tenants.setMediaMustFit(id, must, written(request, { details: { must } }));
  });

  app.delete('/app/tenants/:id', act('deployment', 'tenant.erase'), async (request) => {
    const { id } = idParam.parse(request.params);
    return erasure.erase(id, written(request, { object: id }));
  });

  app.get('/app/tenants/:id/templates', read, async (request) => {
    const tenant = await tenants.get(idParam.parse(request.params).id);
    return templates.list(tenant.id);
  });
  app.post('/app/tenants/:id/templates', act('templates:edit', 'template.import'), async (request, reply) => {
    const tenant = idParam.parse(request.params).id;
    const who = accountOf(accessOf(request));
    const imported = await templates.import(tenant, request.body, who, (db, { id, name, created }) =>
      writeDeed(db, request, { object: id, details: { name, created } }),
    );
    return reply.code(imported.created ? 201 : 200).send(imported.view);
  });
  app.post(
    '/app/tenants/:id/templates/preview',
    { config: { needs: 'labels:read', about: 'tenant', audit: null } },
    async (request) => templatePreview({ ...parts, files }, idParam.parse(request.params).id, request.body),
  );
  app.get('/app/tenants/:id/templates/:templateId', read, async (request) => {
    const { id, templateId } = templateParam.parse(request.params);
    return templates.show(id, templateId);
  });
  app.get('/app/tenants/:id/templates/:templateId/versions', read, async (request) => {
    const { id, templateId } = templateParam.parse(request.params);
    return versionsOf(parts.pool, id, templateId);
  });
  app.get('/app/tenants/:id/templates/:templateId/versions/:number(^\\d{1,9}$)', read, async (request) => {
    const { id, templateId, number } = versionParam.parse(request.params);
    return versionOf(parts.pool, id, templateId, number);
  });
  app.get('/app/tenants/:id/templates/:templateId/uses', read, async (request) => {
    const { id, templateId } = templateParam.parse(request.params);
    return usesOf(parts.pool, id, templateId);
  });
  app.put(
    '/app/tenants/:id/templates/:templateId',
    act('templates:edit', 'template.save'),
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      const body = parseBody(templateReplace, request.body);
      return templates.replace(id, templateId, body, accountOf(accessOf(request)), written(request));
    },
  );
  app.put(
    '/app/tenants/:id/templates/:templateId/draft',
    act('templates:edit', 'template.save-draft'),
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      const body = parseBody(templateDraftSave, request.body);
      return templates.saveDraft(id, templateId, body, accountOf(accessOf(request)), written(request));
    },
  );
  app.put(
    '/app/tenants/:id/templates/:templateId/name',
    act('templates:edit', 'template.rename'),
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      const { name } = parseBody(templateRename, request.body);
      return templates.rename(id, templateId, name, accountOf(accessOf(request)), written(request));
    },
  );
  app.delete(
    '/app/tenants/:id/templates/:templateId',
    act('templates:edit', 'template.delete'),
    async (request) => {
      const { id, templateId } = templateParam.parse(request.params);
      return templates.delete(id, templateId, written(request));
    },
  );

  app.post('/app/tenants/:id/jobs', act('jobs:act', 'job.print'), async (request, reply) => {
    const tenant = await tenants.get(idParam.parse(request.params).id);
    const header = request.headers['idempotency-key'];
    const key = header === undefined ? undefined : parseKey(header);
    const accepted = await printRequests.enqueue({
      tenantId: tenant.id,
      account: accountOf(accessOf(request)),
      ownAccount: false,
      test: false,
      key,
      body: request.body,
      also: (db, job) => writeDeed(db, request, { object: job }),
    });
    // The entry was written with the new job, or, for a replay, before; `PrintRequests` has told the feed of it.
    request.deed.written = true;
    request.changed = {};
    return answer(request, reply, accepted);
  });
  app.post('/app/tenants/:id/jobs/validate', act('jobs:act', null), async (request) => {
    const tenant = await tenants.get(idParam.parse(request.params).id);
    return printRequests.validate({ tenantId: tenant.id, test: false }, request.body);
  });
}
