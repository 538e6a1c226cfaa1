/**
 * Printers as IPP printers (RFC 8010, 8011): what CUPS and others print there becomes a job of the account whose key they send. A
 * deployment has to turn it on, and so has each printer.
 */
import { Readable } from 'node:stream';
import { setImmediate as inTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { encodeIpp } from '../../../drivers/ipp/encode.ts';
import type { IppMessage } from '../../../drivers/ipp/message.ts';
import { scopeOf } from '../../contract/lane.ts';
import type { IppPrinterView } from '../../ipp/attributes.ts';
import { BodyError, IppBody } from '../../ipp/body.ts';
import { type IppDocumentSource, tooLarge } from '../../ipp/document.ts';
import { IppOperations, operationName } from '../../ipp/operations.ts';
import { answered, MAX_ATTRIBUTE_BYTES } from '../../ipp/request.ts';
import { doorAnswer } from '../app.ts';
import type { ServerConfig } from '../config.ts';
import { DoorError } from '../door-error.ts';
import type { ChangeFeed } from '../events/change-feed.ts';
import type { KeyDoorParts } from '../key-door.ts';
import { holdersIn } from '../printers/printers.ts';
import { ProblemError } from '../problems.ts';
import { whoseOf } from '../tenants/whose.ts';
import { isAbandoned } from '../unread-body.ts';
import { announcing } from './announcer.ts';
import { type DoorCaller, doorCaller, unauthorized } from './door-caller.ts';
import { waitingAt } from './door-jobs.ts';
import { JobOutput } from './job-output.ts';
import {
  type OfferedPrinter,
  offeredPrinter,
  offeredPrinters,
  printerAt,
  viewOf,
} from './offered-printer.ts';
import { baseOf, UNDER } from './offers.ts';
import { StrangerOutput } from './stranger-output.ts';

type Parts = KeyDoorParts & {
  config: Pick<ServerConfig, 'limits' | 'host' | 'ippAnnounce'>;
  feed: ChangeFeed;
  publicUrl: () => string;
};

/** ms without a byte of a request. */
const IDLE = 30_000;
const params = z.object({ printer: z.string(), job: z.string().optional() });

/** Registered in a scope of its own, for bodies of IPP and the form of its errors. */
export async function ippRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { pool, integrations, failures, rate } = parts;
  if (integrations === undefined) return;
  // A document goes on as base64 in a body as long as others'.
  const documentLimit = Math.floor((parts.config.limits.bodyBytes * 3) / 4);
  const bodyLimit = documentLimit + MAX_ATTRIBUTE_BYTES;
  if (parts.config.ippAnnounce) announcing(app, parts);
  const callers = new WeakMap<FastifyRequest, DoorCaller>();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/ipp', (_request, payload, done) => done(null, payload));
  app.setErrorHandler(async (error, request, reply) => {
    if (isAbandoned(request.raw, reply)) return reply;
    const { status, message, headers } = doorAnswer(error, request, bodyLimit);
    // A status by which clients of IPP send the same again later.
    const code =
      status === 429 || (error instanceof ProblemError && error.code === 'overloaded') ? 503 : status;
    return reply.code(code).headers(headers).type('text/plain; charset=utf-8').send(`${message}\n`);
  });

  const identified = async (request: FastifyRequest) => {
    const caller = await doorCaller(request, params.safeParse(request.params).data?.printer, {
      ...{ pool, integrations, failures },
    });
    await rate.count('at' in caller ? `${caller.at.lane} without key` : whoseOf(caller));
    callers.set(request, caller);
  };
  const callerOf = (request: FastifyRequest): DoorCaller => {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error('a handler ran without its caller');
    return caller;
  };
  const holders = (request: FastifyRequest) => holdersIn(parts.queue, request.log);

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    message: IppMessage,
    document: IppDocumentSource,
  ): Promise<IppMessage> => {
    const caller = callerOf(request);
    const { printer: name } = params.parse(request.params);
    const offered = await ('at' in caller
      ? printerAt(pool, caller.at, holders(request))
      : offeredPrinter(pool, caller, name, holders(request)));
    const base = baseOf(request, parts.publicUrl());
    // Whoever has no key is told of no other tenant's jobs at a shared printer.
    const tenantId = 'at' in caller ? scopeOf(caller.at.lane) : caller.tenantId;
    const looks = operationName(message) === 'Get-Printer-Attributes';
    const view = async (uri: string, of: OfferedPrinter): Promise<IppPrinterView> =>
      viewOf(
        of,
        { uri, byUuid: `${base}/${of.uuid}`, web: `${parts.publicUrl()}/` },
        { waiting: looks ? await waitingAt(pool, tenantId, of.printer.id) : 0, documentLimit },
      );
    const printerUri = `${base}/${asWritten(request.url)}`;
    const asked = { message, document, printerUri };
    if ('at' in caller || offered === undefined) {
      if ('at' in caller && !looks) throw unauthorized();
      return await new IppOperations(new StrangerOutput(offered && ((uri) => view(uri, offered)))).answer(
        asked,
      );
    }
    const output = new JobOutput({
      ...{ pool, caller, offered, documentLimit },
      ...{ printRequests: parts.printRequests, cancellations: parts.cancellations },
      view: (uri) => view(uri, offered),
      made: (jobId) => {
        request.facts.jobs = [jobId];
        parts.traces?.accepted(jobId, request.headers['traceparent'], reply.elapsedTime);
      },
      changed: (jobs) => {
        request.facts.jobs = jobs;
        parts.changed(jobs);
      },
    });
    return await new IppOperations(output).answer(asked);
  };

  for (const url of [`${UNDER}/:printer`, `${UNDER}/:printer/:job`]) {
    app.post(url, { onRequest: identified, bodyLimit }, async (request, reply) => {
      const stream = request.body instanceof Readable ? request.body : Readable.from([]);
      const body = new IppBody(
        stream,
        { attributes: MAX_ATTRIBUTE_BYTES, discarded: MAX_ATTRIBUTE_BYTES, idle: IDLE },
        { cut: () => request.raw.destroy(), inTurn, received: (bytes) => bytes },
      );
      // One that is too long was given no room.
      const isTooLong = Number(request.headers['content-length'] ?? 0) > bodyLimit;
      let failure: unknown;
      try {
        const { message } = await answered(body, {
          answer: (known, document) =>
            answer(request, reply, known, isTooLong ? refusedAs(tooLarge(documentLimit)) : document),
          inTurn,
          isCut: () => request.raw.socket.destroyed,
          failed: (error) => {
            failure = error;
          },
        });
        // Errors of the key are answered by HTTP's status: before the key is right, nobody gets an answer of IPP.
        if (failure instanceof DoorError) throw failure;
        if (failure !== undefined) request.log.error({ err: failure }, 'a request by IPP failed');
        await leftUnread(request, stream, body);
        return reply.type('application/ipp').send(encodeIpp(message));
      } catch (error) {
        if (error instanceof BodyError) {
          // It has lost its room to others.
          if (error.cause instanceof ProblemError) throw error.cause;
          throw new ProblemError('request-malformed', error.message);
        }
        if (error instanceof DoorError) await leftUnread(request, stream, body);
        throw error;
      }
    });
  }

  /** For people, who look for the addresses of the printers that their key prints on. */
  app.get(UNDER, { onRequest: identified }, async (request, reply) => {
    const caller = callerOf(request);
    if ('at' in caller) throw unauthorized();
    if (!caller.scope.includes('printers:read'))
      throw new DoorError(403, 'the key lacks the permission printers:read');
    const base = baseOf(request, parts.publicUrl());
    const lines = (await offeredPrinters(pool, caller, holders(request), base)).map(
      // A name is anybody's, and must not make a line or an address.
      ({ name, uri, byNumber }) => `${name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')}\t${uri}\t${byNumber}\n`,
    );
    return reply.type('text/plain; charset=utf-8').send(lines.join(''));
  });
}

/** The printer's part of the address as the client has written it. */
function asWritten(url: string): string {
  return url.slice(UNDER.length + 1).split(/[/?]/, 1)[0] ?? '';
}

function refusedAs(error: Error): IppDocumentSource {
  return { read: () => Promise.reject(error) };
}

/** Leaves the rest of a body to be thrown away behind the answer; a small one is read to its end first. */
async function leftUnread({ raw }: FastifyRequest, stream: Readable, body: IppBody): Promise<void> {
  if (stream === raw) return await body.discard();
  raw.unpipe();
  stream.destroy();
}
