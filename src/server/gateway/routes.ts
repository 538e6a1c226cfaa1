/** How agents at other sites are invited, enrol, and are revoked. */
import type { FastifyInstance } from 'fastify';
import { ENROLL_PATH } from '../../contract/gateway.ts';
import { enroll, type InvitationMade, invitationMake, printerDecision } from '../../contract/invitation.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { idParam } from '../id-param.ts';
import { callerAddress } from '../network.ts';
import { writeDeed, written } from '../people/access.ts';
import { writeEntry } from '../people/audit.ts';
import { ProblemError, parseBody } from '../problems.ts';
import type { BroughtPrinters } from './brought-printers.ts';
import type { Enrolments } from './enrolments.ts';
import type { Gateway } from './gateway.ts';

interface Parts {
  enrolments: Enrolments;
  printers: BroughtPrinters;
  /** Undefined: the lanes are on Redis. */
  gateway: Gateway | undefined;
  failures: FailedAttempts;
  publicUrl: () => string;
}

/** Printers that an entry of the audit names. */
const NAMED = 20;
const DEPLOYMENT = { needs: 'deployment', about: 'caller' } as const;

export async function gatewayRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { enrolments, printers, gateway, failures, publicUrl } = parts;
  const mustBeOn = () => {
    if (gateway !== undefined) return;
    throw new ProblemError('gateway-off', 'its queues are on Redis, and so are its agents');
  };

  app.post(
    '/app/agents/invitations',
    { config: { ...DEPLOYMENT, audit: 'agent.invite' } },
    async (request, reply): Promise<InvitationMade> => {
      mustBeOn();
      const asked = parseBody(invitationMake, request.body);
      const { code, expiresAt } = await enrolments.invite(asked);
      request.deed = { tenant: asked.tenant ?? null, object: asked.name };
      reply.code(201);
      return { code, url: `${new URL(publicUrl()).origin}#${code}`, expiresAt };
    },
  );

  app.get('/app/agents/enrolled', { config: DEPLOYMENT }, () => enrolments.list());

  app.post(
    '/app/agents/:id/revoke',
    { config: { ...DEPLOYMENT, audit: 'agent.revoke' } },
    async (request, reply) => {
      const { id } = idParam.parse(request.params);
      await enrolments.revoke(id, written(request, { object: id }));
      gateway?.revoked(id);
      return reply.code(204).send();
    },
  );

  app.post(
    '/app/agents/:id/printers',
    { config: { ...DEPLOYMENT, audit: 'agent.printers' } },
    async (request) => {
      const { id } = idParam.parse(request.params);
      const decision = parseBody(printerDecision, request.body);
      const decided = await printers.decide(id, decision, (db, ids) =>
        writeDeed(db, request, {
          object: id,
          details: { state: decision.state, printers: ids.slice(0, NAMED), count: ids.length },
        }),
      );
      return { printers: decided };
    },
  );

  app.post(ENROLL_PATH, { bodyLimit: 4_096 }, async (request) => {
    mustBeOn();
    // Counted before the code is looked up; the database knows of a stranger's guesses at all instances.
    const address = callerAddress(request);
    const wait = await failures.count(address, address);
    if (wait > 0) {
      throw new ProblemError('enrolment-too-often', `try again in ${wait} s`, {
        headers: { 'retry-after': String(wait) },
      });
    }
    const enrolled = await enrolments.enroll(
      parseBody(enroll, request.body),
      (db, { agentId: id, name, scope }) =>
        writeEntry(
          db,
          { request, who: { kind: 'machine', id, name }, tenant: scope ?? undefined, what: 'agent.enroll' },
          { object: id },
        ),
    );
    await failures.forgive(address, address);
    return enrolled;
  });
}
