/** The internal interface's routes for webhooks. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { alertCreate } from '../../contract/alert.ts';
import type { DeedWord } from '../../contract/deeds.ts';
import { webhookCreate, webhookReplay } from '../../contract/webhook.ts';
import { idParam } from '../id-param.ts';
import { writeDeed, written } from '../people/access.ts';
import { parseBody } from '../problems.ts';
import type { Tenants } from '../tenants/tenants.ts';
import type { Alerts } from './alerts.ts';
import type { Webhooks } from './webhooks.ts';

const webhookParam = idParam.extend({ webhookId: z.string() });

export async function webhookRoutes(
  app: FastifyInstance,
  { webhooks, alerts, tenants }: { webhooks: Webhooks; alerts: Alerts; tenants: Tenants },
): Promise<void> {
  const read = { needs: 'integrations', about: 'tenant' } as const;
  const act = (audit: DeedWord) => ({ config: { ...read, audit } }) as const;
  const one = '/app/tenants/:id/webhooks/:webhookId';

  const tenantOf = async ({ params }: FastifyRequest) => (await tenants.get(idParam.parse(params).id)).id;

  app.get('/app/tenants/:id/webhooks', { config: read }, async (request) =>
    webhooks.list(await tenantOf(request)),
  );
  app.post('/app/tenants/:id/webhooks', act('webhook.create'), async (request, reply) => {
    const asked = parseBody(webhookCreate, request.body);
    const { id } = idParam.parse(request.params);
    const details = { host: new URL(asked.url).host, events: asked.events.join(' ') };
    const made = await webhooks.create(id, asked, (db, object) =>
      writeDeed(db, request, { object, details }),
    );
    return reply.code(201).send(made);
  });
  app.get('/app/tenants/:id/alerts', { config: read }, async (request) =>
    alerts.list(await tenantOf(request)),
  );
  app.post('/app/tenants/:id/alerts', act('alert.create'), async (request, reply) => {
    const asked = parseBody(alertCreate, request.body);
    const { id } = idParam.parse(request.params);
    const details = {
      form: asked.form,
      to: asked.form === 'mail' ? asked.to : new URL(asked.to).host,
      alerts: asked.alerts.join(' '),
    };
    const made = await alerts.create(id, asked, (db, object) => writeDeed(db, request, { object, details }));
    return reply.code(201).send({ id: made });
  });
  app.delete(one, act('webhook.delete'), async (request, reply) => {
    const { id, webhookId } = webhookParam.parse(request.params);
    await webhooks.delete(id, webhookId, written(request));
    return reply.code(204).send();
  });
  app.post(`${one}/secret`, act('webhook.rotate'), async (request) => {
    const { id, webhookId } = webhookParam.parse(request.params);
    return webhooks.rotate(id, webhookId, written(request));
  });
  app.post(`${one}/test`, act('webhook.test'), async (request) => {
    const { id, webhookId } = webhookParam.parse(request.params);
    return { message: await webhooks.test(id, webhookId, written(request)) };
  });
  app.post(`${one}/replay`, act('webhook.replay'), async (request) => {
    const { id, webhookId } = webhookParam.parse(request.params);
    const asked = parseBody(webhookReplay, request.body ?? {});
    const messages = await webhooks.replay(id, webhookId, asked, (db, count) =>
      writeDeed(db, request, { details: { messages: count } }),
    );
    return { messages };
  });
  app.get(`${one}/messages`, { config: read }, async (request) => {
    const { id, webhookId } = webhookParam.parse(request.params);
    return webhooks.messages(id, webhookId);
  });
}
