/**
 * The HTTP side of the service: one Fastify instance with its limits, one line in the log for each request, and
 * one place where errors become problem details.
 */
import { randomUUID } from 'node:crypto';
import { Transform } from 'node:stream';
import proxyAddr, { compile } from '@fastify/proxy-addr';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { z } from 'zod';
import { because } from '../contract/reason.ts';
import type { Logger } from '../log.ts';
import { Admission } from './admission.ts';
import { BodyRoom } from './body-room.ts';
import { clientErrors } from './client-errors.ts';
import type { ServerConfig } from './config.ts';
import { boundConnections } from './connections.ts';
import { DoorError } from './door-error.ts';
import type { Gateway } from './gateway/gateway.ts';
import { BodyTooRich, BrokenJson, ForbiddenKey, MOST_HOLDERS, MOST_VALUES, readJson } from './json-body.ts';
import { callerAddress, networkOf } from './network.ts';
import { PROBLEM_TYPE, ProblemError, refusedBecause } from './problems.ts';
import { sqlState } from './store/pool.ts';
import { inStretches, type Long } from './stretches.ts';
import { answerWithRest, hasBody, hasUnreadBody, isAbandoned } from './unread-body.ts';

/** What a request's log line holds besides the request itself: IDs, never contents. */
type Facts = { tenant?: string; account?: string; jobs?: readonly string[] };

declare module 'fastify' {
  interface FastifyRequest {
    facts: Facts;
    /** Why an answer of 500 or more was given; logged, and not sent. */
    failure: unknown;
  }
}

/** ms for a whole request to arrive. */
const REQUEST_TIMEOUT = 30_000;
/** ms for the headers of a request to arrive. */
const HEADERS_TIMEOUT = 10_000;
/** ms without a byte either way, while a request or its answer is under way. */
const IDLE_TIMEOUT = 60_000;
/** ms that an idle connection is kept: longer than load balancers keep theirs (60 s). */
const KEEP_ALIVE = 65_000;

/** Bytes of large bodies that may be in memory at once; a tenant may have half, and a quarter is for who holds nothing. */
const BODIES = 32 * 1024 * 1024;
/** `inStretches` counts work in records: reading this many characters takes about as long as one record. */
const RECORD = 500;

/** Refuses what is not UTF-8: a name in Latin-1 would otherwise be printed with U+FFFD, without an error. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An empty body gives undefined. @throws TypeError for what is not UTF-8, and what `readJson` throws */
function* readBody(body: Buffer, most: { values: number; holders: number }): Long<unknown> {
  const text = utf8.decode(body);
  yield;
  return text.trim() === '' ? undefined : yield* readJson(text, most);
}

/** The setting in Fastify's form. Fastify numbers the proxies from 0, the one nearest to the service. */
function trusted(
  proxies: ServerConfig['trustProxy'],
): string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : proxies;
}

/** Fastify's own logger: only warnings and errors, because each request has one line of ours. */
function ofRequests(logger: Logger): FastifyBaseLogger {
  return logger.child({}, { level: logger.isLevelEnabled('warn') ? 'warn' : logger.level });
}

/** The instance without its routes. @param gateway takes connections that are to be upgraded */
export function createApp(config: ServerConfig, logger: Logger, gateway?: Gateway): FastifyInstance {
  const trust = trusted(config.trustProxy);
  const app = Fastify({
    loggerInstance: ofRequests(logger),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: config.limits.bodyBytes,
    trustProxy: trust,
    requestTimeout: REQUEST_TIMEOUT,
    connectionTimeout: IDLE_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE,
    // Node would answer a request without Host by itself, and with nothing.
    http: {
      headersTimeout: HEADERS_TIMEOUT,
      connectionsCheckingInterval: 2_000,
      requireHostHeader: false,
      // Any other request that could be upgraded (Java offers HTTP/2 that way) is served as usual.
      shouldUpgradeCallback: (request) => gateway?.takes(request) === true,
    },
    forceCloseConnections: 'idle',
    // A request that came in time is answered as any other, and not by 503 in Fastify's own form.
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 300 },
    clientErrorHandler: clientErrors(logger),
    frameworkErrors: (error, request, reply) => {
      sendProblem(
        request,
        reply,
        new ProblemError('request-malformed', 'the URL cannot be read', { cause: error }),
      );
    },
  });
  app.decorateRequest('failure');
  app.decorateRequest('facts');
  // A deployment that allows more records per request also allows more values.
  const most = {
    values: Math.max(MOST_VALUES, 60 * config.limits.records),
    holders: Math.max(MOST_HOLDERS, 3 * config.limits.records),
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
        throw new ProblemError(
          'content-type-unsupported',
          'send the body as it is, without Content-Encoding',
        );
      }
      try {
        return await inStretches(readBody(body, most), body.length / RECORD);
      } catch (error) {
        if (error instanceof BodyTooRich) {
          throw refusedBecause(
            'payload-invalid',
            because('body-rich', { detail: error.message.slice(0, 1_000) }),
          );
        }
        throw new ProblemError('json-invalid', `the body is not valid JSON${whereInText(error)}`, {
          cause: error,
        });
      }
    },
  );

  const admission = new Admission(app.server);
  const connections = boundConnections(app.server, config.limits.connections);
  if (gateway !== undefined) {
    const trusts = typeof trust === 'function' ? trust : compile(trust);
    app.server.on('upgrade', (request, socket, head) => {
      connections.upgraded(request);
      const network = networkOf(callerAddress({ ip: proxyAddr(request, trusts), socket: request.socket }));
      gateway.upgrade({ request, socket, head, network });
    });
  }
  app.addHook('onRequest', async (request, reply) => {
    request.facts = {};
    // A health probe does not wait for a turn: it asks whether the process answers, not how busy it is.
    if (request.routeOptions.url !== '/healthz') {
      await admission.take(callerAddress(request), () => request.raw.destroyed);
    }
    if (request.raw.destroyed) {
      reply.hijack();
      return;
    }
    if (!hasBody(request.raw)) connections.works(request.raw);
    reply.headers({
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
    });
    const hosts = hostsOf(request.raw.rawHeaders);
    if (hosts > 1) throw new ProblemError('request-malformed', 'expected one header Host');
    if (hosts === 0 && request.raw.httpVersion === '1.1')
      throw new ProblemError('request-malformed', 'expected the header Host');
    // Refused before the body is read: nobody needs to send one to an address that does not exist.
    if (request.is404) throw notFound(app, request);
  });
  // In `preParsing` the caller has been identified already: a stranger's body is not read at all.
  const room = new BodyRoom({
    total: Math.max(BODIES, config.limits.bodyBytes),
    perParty: Math.max(BODIES / 2, config.limits.bodyBytes),
    reserve: BODIES / 4,
  });
  app.addHook('preParsing', async (request, reply, payload) => {
    if (request.facts.account !== undefined) connections.identified(request.raw);
    if (!hasUnreadBody(request.raw)) return payload;
    const limit = request.routeOptions.bodyLimit ?? config.limits.bodyBytes;
    const length = Number(request.headers['content-length'] ?? limit);
    // Fastify refuses a larger body before it reads a byte of it.
    if (length > limit) return payload;
    const gone = new AbortController();
    const { raw } = reply;
    raw.once('close', () => gone.abort(new ProblemError('request-malformed', 'the connection was closed')));
    const place = await room.take(partyOf(request), length, {
      signal: gone.signal,
      lost: (late) => body.destroy(late),
    });
    if (place === undefined) return payload;
    if (raw.destroyed) place.leave();
    else raw.once('close', place.leave);
    const body = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        place.came(chunk.length);
        done(null, chunk);
      },
      flush(done) {
        place.came(Number.POSITIVE_INFINITY);
        done();
      },
    });
    // The body may break off before anybody reads it: whoever reads it then still gets the error.
    body.on('error', () => undefined);
    payload.once('error', (error) => body.destroy(error));
    return payload.pipe(body);
  });
  // A connection that is kept alive would delay the stop until it idles out, so each answer closes its own.
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (closing) reply.header('connection', 'close');
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (!(bytes instanceof Buffer) || !hasUnreadBody(request.raw)) return payload;
    reply.header('content-length', bytes.length);
    return answerWithRest(request.raw, bytes);
  });
  const log = (request: FastifyRequest, facts: { status: number; ms?: number }) => {
    logger[facts.status >= 500 ? 'error' : 'info'](
      {
        method: request.method,
        // The route, not the URL: a query string may hold anything.
        route: request.routeOptions.url ?? 'none',
        ...facts,
        requestId: request.id,
        ...request.facts,
        ...(request.failure === undefined ? {} : { err: request.failure }),
      },
      'request',
    );
  };
  app.addHook('onResponse', async (request, { statusCode: status, elapsedTime }) => {
    // Health probes come every few seconds and would fill the log.
    if (request.routeOptions.url === '/healthz') return;
    log(request, { status, ms: Math.round(elapsedTime * 10) / 10 });
  });
  // 499 is the status that proxies log for a caller who went away.
  app.addHook('onRequestAbort', async (request) => log(request, { status: 499 }));
  app.setErrorHandler((error, request, reply) => {
    if (isAbandoned(request.raw, reply)) return;
    sendProblem(request, reply, asProblem(error, request.routeOptions.bodyLimit ?? config.limits.bodyBytes));
  });
  app.setNotFoundHandler((request, reply) => {
    sendProblem(request, reply, notFound(app, request));
  });
  return app;
}

/** How many Host headers there are: there must be one (RFC 9112 §3.2), and Node keeps the first of several. */
function hostsOf(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
}

/** Whose room a body takes: its tenant's, else that of the caller. No ID of a tenant has a space. */
function partyOf(request: FastifyRequest): string {
  const { tenant, account } = request.facts;
  return tenant ?? `without tenant: ${account ?? networkOf(callerAddress(request))}`;
}

/** What a door answers to an error, in its own form. @param bodyLimit of the route, bytes */
export function doorAnswer(
  error: unknown,
  request: FastifyRequest,
  bodyLimit: number,
): Pick<DoorError, 'status' | 'message' | 'headers'> {
  const answer = error instanceof DoorError ? error : asProblem(error, bodyLimit);
  if (answer.status >= 500) request.failure = error instanceof ProblemError ? (error.cause ?? error) : error;
  return answer;
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ProblemError): void {
  if (error.status >= 500) request.failure = error.cause ?? error;
  void reply.code(error.status).headers(error.headers).type(PROBLEM_TYPE).send(error.body(request.id));
}

/** What is wrong with a body, without a part of it. */
function whereInText(error: unknown): string {
  if (error instanceof ForbiddenKey) return `: ${error.message}`;
  return error instanceof BrokenJson ? ` (at character ${error.at})` : ' in UTF-8';
}

/** SQLSTATE for a text with a NUL, which PostgreSQL can neither store nor compare. */
const UNSTORABLE = '22021';

const foreign = z.object({ statusCode: z.int().min(400).max(499), code: z.string().optional() });

/**
 * Of foreign errors, Fastify's about the request are the caller's fault, and all others are internal.
 * @param bodyLimit of the route, bytes
 */
function asProblem(error: unknown, bodyLimit: number): ProblemError {
  if (error instanceof ProblemError) return error;
  if (sqlState(error) === UNSTORABLE) {
    return refusedBecause('payload-invalid', because('text-nul', {}), {
      cause: error,
    });
  }
  const known = foreign.safeParse(error);
  if (!known.success) {
    return new ProblemError('internal', 'the request could not be completed; send it again', {
      cause: error,
    });
  }
  if (known.data.statusCode === 413) {
    return refusedBecause('body-too-large', because('body-bytes', { most: bodyLimit }));
  }
  if (known.data.statusCode === 415) {
    return new ProblemError(
      'content-type-unsupported',
      'expected the header "Content-Type: application/json"',
    );
  }
  return new ProblemError('request-malformed', 'the request cannot be read', { cause: error });
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

/** 405 with `Allow` where the path exists for other methods (RFC 9110 §15.5.6). */
function notFound(app: FastifyInstance, request: FastifyRequest): ProblemError {
  const [path = '/'] = request.url.split('?');
  const allowed = METHODS.filter((method) => app.findRoute({ method, url: path }) !== null);
  if (allowed.length === 0) return new ProblemError('not-found', 'there is nothing at this address');
  return new ProblemError('method-not-allowed', `this address takes ${allowed.join(', ')}`, {
    headers: { allow: allowed.join(', ') },
  });
}
