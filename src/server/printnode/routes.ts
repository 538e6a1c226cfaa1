/**
 * PrintNode's interface (printnode.com/en/docs/api/curl), for clients that were written for it: a job there is a job here, of
 * the integration whose key they send. A deployment has to turn it on.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Permission } from '../../contract/admin.ts';
import { doorAnswer } from '../app.ts';
import type { ServerConfig } from '../config.ts';
import { DoorError } from '../door-error.ts';
import { keptKey, parseKey } from '../jobs/accept/idempotency.ts';
import type { KeyDoorParts } from '../key-door.ts';
import { numbersOf, printerOf } from '../numbers.ts';
import { Callers } from '../oauth/callers.ts';
import { PartyLimit } from '../party-limit.ts';
import { holdersIn } from '../printers/printers.ts';
import { ProblemError } from '../problems.ts';
import type { Tenants } from '../tenants/tenants.ts';
import { isAbandoned } from '../unread-body.ts';
import { whereAllowed } from '../webhooks/where-allowed.ts';
import { isIn, paged, pageOf, type Range, setOf } from './asked.ts';
import { errorBody } from './error-body.ts';
import { printNodeCaller } from './key-caller.ts';
import { ignoredOf, type PrintJob, printJobOf, requestOf, templateOf } from './print-job.ts';
import { findJobs, notePrintJob, numberOfJob, shownJobs, statesOf, type Wanted } from './print-jobs.ts';
import { readUri } from './read-uri.ts';
import { shownPrinters } from './shown-printers.ts';

const UNDER = '/printnode';
/** Documents at addresses that are read at a time: for one tenant, and for all. */
const READ = { ofOne: 4, ofAll: 16 };
/** Jobs that one request cancels. */
const MOST_CANCELED = 500;

type Parts = KeyDoorParts & { tenants: Tenants; config: Pick<ServerConfig, 'limits' | 'webhookAllow'> };

const sets = z.object({
  computers: z.string().optional(),
  printers: z.string().optional(),
  jobs: z.string().optional(),
});

/** Registered in a scope of its own, for the form of its errors. */
export async function printNodeRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { pool, integrations, failures, rate } = parts;
  if (integrations === undefined) return;
  const callers = new Callers<Permission | undefined>(
    (request, needed) => printNodeCaller(request, needed, { integrations, failures }),
    rate,
  );
  const bodyLimit = parts.config.limits.bodyBytes;
  app.setErrorHandler(async (error, request, reply) => {
    if (isAbandoned(request.raw, reply)) return reply;
    const { status, message, headers } = doorAnswer(error, request, bodyLimit);
    return reply
      .code(status)
      .headers(headers)
      .send(errorBody(status, message, request.id));
  });

  const printersOf = (request: FastifyRequest) =>
    shownPrinters(pool, callers.of(request), holdersIn(parts.queue, request.log));
  /** The printers of the computers and printers that the address names. */
  const asked = async (request: FastifyRequest) => {
    const { computers, printers } = setsOf(request);
    return [...(await printersOf(request)).values()]
      .filter(({ hidden, shown: { id, computer } }) => {
        const there = computers === undefined || (computer !== null && isIn(computers, computer.id));
        return !hidden && there && isIn(printers, id);
      })
      .map(({ shown }) => shown);
  };
  const wanted = async (request: FastifyRequest): Promise<Wanted> => {
    const { printers, jobs } = setsOf(request);
    if (printers === undefined) return { jobs, printers: undefined };
    const all = [...(await printersOf(request))].filter(([, { shown }]) => isIn(printers, shown.id));
    return { jobs, printers: all.map(([id]) => id) };
  };

  app.get(`${UNDER}/ping`, async (_request, reply) => json(reply, 'OK'));
  app.get(`${UNDER}/noop`, { onRequest: callers.allow(undefined) }, async (_request, reply) =>
    json(reply, 'OK'),
  );

  app.get(`${UNDER}/whoami`, { onRequest: callers.allow(undefined) }, async (request) => {
    const { tenantId } = callers.of(request);
    const { name } = await parts.tenants.get(tenantId);
    const numbers = await numbersOf(pool, tenantId, 'account', [tenantId]);
    const connected = [...(await printersOf(request)).values()].flatMap(({ shown }) => shown.computer ?? []);
    const ids = [...new Set(connected.filter(({ state }) => state === 'connected').map(({ id }) => id))];
    return {
      ...{ id: numbers.get(tenantId)?.number, firstname: name, lastname: '', email: '', state: 'active' },
      ...{ canCreateSubAccounts: false, creatorEmail: null, creatorRef: null, childAccounts: [] },
      ...{ credits: null, numComputers: ids.length, totalPrints: null, versions: [], connected: ids },
      ...{ Tags: {}, ApiKeys: {}, permissions: ['Unrestricted'] },
    };
  });

  const readPrinters = { onRequest: callers.allow('printers:read') };
  for (const url of ['/computers', '/computers/:computers']) {
    app.get(UNDER + url, readPrinters, async (request) => {
      const computers = (await asked(request)).flatMap(({ computer }) => computer ?? []);
      const each = new Map(computers.map((computer) => [computer.id, computer]));
      return paged([...each.values()], pageOf(request.query));
    });
  }
  for (const url of ['', '/:printers']) {
    for (const at of ['', '/computers/:computers'])
      app.get(`${UNDER}${at}/printers${url}`, readPrinters, async (request) =>
        paged(await asked(request), pageOf(request.query)),
      );
  }

  const readJobs = { onRequest: callers.allow('jobs:read') };
  const found = async (request: FastifyRequest) =>
    findJobs(pool, callers.of(request), await wanted(request), pageOf(request.query));
  for (const at of ['', '/printers/:printers']) {
    for (const url of ['', '/:jobs(^[\\d,-]+$)']) {
      const jobs = `${UNDER}${at}/printjobs${url}`;
      app.get(jobs, readJobs, async (request) =>
        shownJobs(pool, callers.of(request).tenantId, await found(request), await printersOf(request)),
      );
      app.get(`${jobs}/states`, readJobs, async (request) => statesOf(pool, await found(request)));
      app.delete(jobs, { onRequest: callers.allow('jobs:cancel') }, (request) => cancel(request));
    }
  }

  const cancel = async (request: FastifyRequest): Promise<number[]> => {
    const caller = callers.of(request);
    const page = { limit: MOST_CANCELED, after: undefined, dir: 'asc' } as const;
    const rows = await findJobs(pool, caller, await wanted(request), page, true);
    const canceled: number[] = [];
    for (const { id, number } of rows) {
      try {
        await parts.cancellations.cancel(id, false, { who: caller.account });
        canceled.push(number);
      } catch (error) {
        // It has ended just now.
        if (!(error instanceof ProblemError)) throw error;
      }
    }
    const ids = rows.filter(({ number }) => canceled.includes(number)).map(({ id }) => id);
    request.facts.jobs = ids;
    parts.changed(ids);
    return canceled;
  };

  const one = new PartyLimit(READ.ofOne);
  const all = new PartyLimit(READ.ofAll);
  const isAllowed = whereAllowed(parts.config.webhookAllow);
  const read = async (job: PrintJob, tenant: string, signal: AbortSignal): Promise<string> => {
    const ends = [one.begin(tenant), all.begin('all')];
    try {
      if (ends.includes(undefined))
        throw new DoorError(429, 'other documents are being read: try again', { 'retry-after': '1' });
      // As much as fits in a body.
      return await readUri(job, Math.floor((bodyLimit * 3) / 4), { isAllowed, signal });
    } finally {
      for (const end of ends) end?.();
    }
  };

  app.post(`${UNDER}/printjobs`, { onRequest: callers.allow('jobs:enqueue') }, async (request, reply) => {
    const caller = callers.of(request);
    const { tenantId } = caller;
    const header = request.headers['x-idempotency-key'];
    // Neither of the two has a space.
    const key = header === undefined ? undefined : keptKey(`printnode ${parseKey(header)}`, caller.test);
    const job = printJobOf(request.body);
    const printerId = await printerOf(pool, tenantId, job.printerId);
    if (printerId === undefined)
      throw new DoorError(400, `printerId is not as expected: there is no printer ${job.printerId}`);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const document = job.contentType.endsWith('_uri') ? await read(job, tenantId, gone.signal) : job.content;
    let number: number | undefined;
    const { jobId, replayed } = await parts.printRequests
      .enqueue({
        ...{ ...caller, key, template: templateOf(job), body: requestOf(job, printerId, document) },
        also: async (db, id) => {
          number = await notePrintJob(db, tenantId, id, job);
        },
      })
      .catch(reused);
    request.facts.jobs = [jobId];
    if (replayed) {
      const first = await numberOfJob(pool, tenantId, jobId);
      throw new DoorError(409, `X-Idempotency-Key was used before, by the print job ${first}`);
    }
    parts.traces?.accepted(jobId, request.headers['traceparent'], reply.elapsedTime);
    const ignored = ignoredOf(job);
    if (ignored.length > 0) reply.header('platen-ignored', ignored.slice(0, 20).join(', '));
    return json(reply.code(201), number);
  });

  app.route({
    ...{
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: `${UNDER}/*`,
      onRequest: callers.allow(undefined),
    },
    handler: () => {
      throw new DoorError(404, 'there is nothing at this address');
    },
  });
}

/** @throws DoorError 409, or the error itself */
function reused(error: unknown): never {
  if (!(error instanceof ProblemError) || error.code !== 'idempotency-key-reused') throw error;
  throw new DoorError(409, 'X-Idempotency-Key was used before, by a print job that said something else');
}

/** A bare value would be sent as text. */
function json(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
}

/** @throws DoorError 400 */
function setsOf({ params }: FastifyRequest): {
  computers: Range[] | undefined;
  printers: Range[] | undefined;
  jobs: Range[] | undefined;
} {
  const { computers, printers, jobs } = sets.parse(params);
  return {
    computers: computers === undefined ? undefined : setOf(computers, 'computers'),
    printers: printers === undefined ? undefined : setOf(printers, 'printers'),
    jobs: jobs === undefined ? undefined : setOf(jobs, 'print jobs'),
  };
}
