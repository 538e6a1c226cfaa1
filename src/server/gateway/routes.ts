/** Agents: which there are, and how those at other sites are invited, enrol, are renamed and revoked. */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import {
  type agentCounts,
  agentMove,
  agentRename,
  type InvitationMade,
  invitationMake,
  printerDecision,
} from '../../contract/agent-view.ts';
import type { DeedWord } from '../../contract/deeds.ts';
import { ENROLL_PATH } from '../../contract/gateway.ts';
import { enroll } from '../../contract/invitation.ts';
import type { ChangeFeed } from '../events/change-feed.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { idParam } from '../id-param.ts';
import { callerAddress } from '../network.ts';
import { writeDeed } from '../people/access.ts';
import { writeEntry } from '../people/audit.ts';
import { accessOf } from '../people/visitor.ts';
import { ProblemError, parseBody } from '../problems.ts';
import { type Pool, transaction } from '../store/pool.ts';
import { forgetAgent, listAgents } from './agents.ts';
import type { BroughtPrinters } from './brought-printers.ts';
import type { Enrolments } from './enrolments.ts';
import type { Gateway } from './gateway.ts';
import { Invitations } from './invitations.ts';

interface Parts {
  pool: Pool;
  enrolments: Enrolments;
  printers: BroughtPrinters;
  /** Undefined: the lanes are on Redis. */
  gateway: Gateway | undefined;
  failures: FailedAttempts;
  publicUrl: () => string;
  /** Is told of agents of which pages show something else now. */
  feed: Pick<ChangeFeed, 'tell'>;
}

/** Printers that an entry of the audit names. */
const NAMED = 20;
const KEEPS = { needs: 'integrations', about: 'scope' } as const;

export async function gatewayRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { pool, enrolments, printers, gateway, failures, publicUrl } = parts;
  const invitations = new Invitations(pool);
  const mustBeOn = () => {
    if (gateway !== undefined) return;
    throw new ProblemError('gateway-off', 'its queues are on Redis, and so are its agents');
  };

  app.get('/app/agents', { config: { needs: 'jobs:read', about: 'scope' } }, (request) =>
    listAgents(pool, accessOf(request).tenant),
  );

  app.get(
    '/app/agents/counts',
    { config: KEEPS },
    async (request): Promise<z.infer<typeof agentCounts>> => ({
      waiting: await printers.waiting(accessOf(request).tenant),
    }),
  );

  app.get('/app/agents/invitations', { config: KEEPS }, (request) =>
    invitations.open(accessOf(request).tenant),
  );

  app.post(
    '/app/agents/invitations',
    { config: { ...KEEPS, audit: 'agent.invite' } },
    async (request, reply): Promise<InvitationMade> => {
      mustBeOn();
      const asked = parseBody(invitationMake, request.body);
      const { tenant: within } = accessOf(request);
      const made = await invitations.invite(asked, within);
      request.deed = { tenant: asked.tenant ?? within ?? null, object: asked.name };
      reply.code(201);
      return { ...made, url: `${new URL(publicUrl()).origin}#${made.code}` };
    },
  );

  app.delete(
    '/app/agents/invitations/:id',
    { config: { ...KEEPS, audit: 'agent.withdraw' } },
    async (request, reply) => {
      const { id } = idParam.parse(request.params);
      const { tenant: within } = accessOf(request);
      await invitations.withdraw(id, within, (db, { of, name }) =>
        writeDeed(db, request, { object: name, tenant: of }),
      );
      return reply.code(204).send();
    },
  );

  app.put('/app/agents/:id/name', { config: { ...KEEPS, audit: 'agent.rename' } }, async (request, reply) => {
    const { id } = idParam.parse(request.params);
    const { name } = parseBody(agentRename, request.body);
    const { tenant: within } = accessOf(request);
    await enrolments.rename(id, name, within, (db, of) =>
      writeDeed(db, request, { object: id, tenant: of, details: { name } }),
    );
    return reply.code(204).send();
  });

  const toAgent = (url: string, audit: DeedWord, act: Enrolments['revoke']) =>
    app.post(url, { config: { ...KEEPS, audit } }, async (request, reply) => {
      const { id } = idParam.parse(request.params);
      const { tenant: within } = accessOf(request);
      await act(id, within, (db, of) => writeDeed(db, request, { object: id, tenant: of }));
      return reply.code(204).send();
    });
  toAgent('/app/agents/:id/revoke', 'agent.revoke', async (id, ...by) => {
    await enrolments.revoke(id, ...by);
    gateway?.revoked(id);
  });
  toAgent('/app/agents/:id/let-in', 'agent.let-in', (...of) => enrolments.letIn(...of));

  app.delete('/app/agents/:id', { config: { ...KEEPS, audit: 'agent.forget' } }, async (request, reply) => {
    const { id } = idParam.parse(request.params);
    await transaction(pool, async (db) => {
      const of = await forgetAgent(db, id, accessOf(request).tenant);
      await writeDeed(db, request, { object: id, tenant: of });
    });
    parts.feed.tell({ agents: [id] });
    return reply.code(204).send();
  });

  app.post('/app/agents/:id/move', { config: { ...KEEPS, audit: 'agent.move' } }, async (request, reply) => {
    const { id } = idParam.parse(request.params);
    const { tenant: to } = parseBody(agentMove, request.body);
    if (accessOf(request).tenant !== undefined) {
      throw new ProblemError('tenant-forbidden', 'to move an agent takes access to all tenants');
    }
    // Both tenants have it in their audit, and neither is told of the other.
    await enrolments.move(id, to, async (db, of) => {
      await writeDeed(db, request, { object: id, tenant: of });
      if (to !== of) await writeDeed(db, request, { object: id, tenant: to });
    });
    return reply.code(204).send();
  });

  app.post('/app/agents/:id/printers', { config: { ...KEEPS, audit: 'agent.printers' } }, async (request) => {
    const { id } = idParam.parse(request.params);
    const decision = parseBody(printerDecision, request.body);
    const { tenant: within } = accessOf(request);
    const decided = await printers.decide(id, decision, within, (db, { of, ids }) =>
      writeDeed(db, request, {
        ...{ object: id, tenant: of },
        details: { state: decision.state, printers: ids.slice(0, NAMED), count: ids.length },
      }),
    );
    return { printers: decided };
  });

  app.post(ENROLL_PATH, { bodyLimit: 4_096 }, async (request) => {
    mustBeOn();
    const address = callerAddress(request);
    throwIfOften(failures.waits(address, address));
    const asked = parseBody(enroll, request.body);
    const enrolled = await enrolments
      .enroll(asked, (db, { agentId: id, name, scope }) =>
        writeEntry(
          db,
          { request, who: { kind: 'machine', id, name }, tenant: scope ?? undefined, what: 'agent.enroll' },
          { object: id },
        ),
      )
      .catch(async (error: unknown) => {
        // Not before: a site may have many agents that enrol at one moment. The database has the guesses at all instances.
        if (error instanceof ProblemError) throwIfOften(await failures.count(address, address));
        throw error;
      });
    parts.feed.tell({ agents: [enrolled.agentId] });
    return enrolled;
  });
}

/** @param wait s. @throws ProblemError `enrolment-too-often` */
function throwIfOften(wait: number): void {
  if (wait === 0) return;
  const headers = { 'retry-after': String(wait) };
  throw new ProblemError('enrolment-too-often', `try again in ${wait} s`, { headers });
}
