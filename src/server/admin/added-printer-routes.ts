/** The internal interface's routes for printers that people add by their address. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isOwnComputer, printerAdd, printerUri } from '../../contract/added-printer.ts';
import type { DeedWord } from '../../contract/deeds.ts';
import { because } from '../../contract/reason.ts';
import { idParam } from '../id-param.ts';
import { writeDeed } from '../people/access.ts';
import { accessOf, accountOf, demand, mayDo } from '../people/visitor.ts';
import type { AddedPrinters } from '../printers/added-printers.ts';
import { parseBody, refusedBecause } from '../problems.ts';

type Parts = {
  added: AddedPrinters;
  /** Whether the agent hears from the service which printers it has; an agent on Redis does not. */
  hears: (agentId: string) => boolean;
};

export async function addedPrinterRoutes(app: FastifyInstance, { added, hears }: Parts): Promise<void> {
  const act = (audit: DeedWord) => ({ config: { needs: 'integrations', about: 'caller', audit } }) as const;

  const of = (request: FastifyRequest) => {
    const { visitor, tenant } = accessOf(request);
    return { tenant, shared: mayDo(visitor, 'deployment') };
  };

  /** What a shared agent drives concerns all tenants; an agent's own computer concerns whoever runs the deployment. */
  const demandFor = async (request: FastifyRequest, agentId: string, uri: string): Promise<void> => {
    const { visitor, tenant } = accessOf(request);
    const scope = await added.scopeOf(agentId, tenant);
    if (scope === null || isOwnComputer(uri)) demand(visitor, 'deployment');
  };

  app.get('/app/printers/addresses', { config: { needs: 'integrations', about: 'query' } }, (request) =>
    added.list(of(request)),
  );

  app.post('/app/printers/addresses', act('printer.add'), async (request, reply) => {
    const { agent, address, ...said } = parseBody(printerAdd, request.body);
    const uri = printerUri(address) ?? address;
    await demandFor(request, agent, uri);
    if (!hears(agent)) throw refusedBecause('printer-not-added', because('agent-hears-not', {}));
    const by = accountOf(accessOf(request));
    const id = await added.add(agent, { uri, ...said }, by, (db, made) =>
      writeDeed(db, request, { object: made, details: { address: uri } }),
    );
    await added.tell();
    return reply.code(201).send(await added.find(id, of(request)));
  });

  app.delete('/app/printers/addresses/:id', act('printer.remove'), async (request, reply) => {
    const { id, agent, uri } = await added.find(idParam.parse(request.params).id, of(request));
    await demandFor(request, agent.id, uri);
    await added.remove(id, (db) => writeDeed(db, request, { details: { address: uri } }));
    await added.tell();
    return reply.code(204).send();
  });
}
