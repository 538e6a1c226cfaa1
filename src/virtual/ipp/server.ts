/**
 * HTTP under a virtual IPP printer (RFC 8010 §4): requests in, answers out, and what can go wrong on the way when a
 * test asks for it: an answer that does not come, or that breaks off.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { encodeIpp } from '../../../drivers/ipp/encode.ts';
import type { IppMessage } from '../../../drivers/ipp/message.ts';
import type { OperationName } from '../../../drivers/ipp/names.ts';
import { BodyError, type BodyLimits, IppBody } from '../../ipp/body.ts';
import { type IppRequest, operationName } from '../../ipp/operations.ts';
import { readNoFurther } from '../../ipp/read-no-further.ts';
import { answered, hostIn, isIpp } from '../../ipp/request.ts';
import { inStretches, stretchIsOver } from '../machine/stretch.ts';

interface IppServerHost {
  readonly bodyLimits: BodyLimits;
  /** What the printer's web page says. */
  page(): string;
  answer(request: IppRequest): Promise<IppMessage>;
  /** Called with bytes of a request's body just read; returns those to be taken. May cut the connection. */
  received(bytes: Buffer, request: IncomingMessage): Buffer;
  /** Waits until the answer may be sent; returns after how many bytes it is to be cut, or undefined. */
  beforeReply(operation: OperationName | undefined, socket: Socket): Promise<number | undefined>;
  failed(error: unknown): void;
}

const MAX_CONNECTIONS = 64;
/** Requests of a connection that wait for an answer. Clients send the next one after it; Node reads whatever has come. */
const MAX_WAITING = 8;
/** Requests of all connections that wait: a client may leave some behind, and begin anew with others. */
const MAX_WAITING_IN_ALL = 256;
/** How long, ms, the head of an HTTP request may take, and a connection may be idle. */
const HEADERS_TIMEOUT = 10_000;
const KEEP_ALIVE = 30_000;
export const PRINTER_PATH = '/ipp/print';

/** A server that is not listening yet. */
export function ippServer(host: IppServerHost): Server {
  const waiting = new WeakMap<Socket, number>();
  let all = 0;
  const count = (socket: Socket, by: 1 | -1) => {
    const now = (waiting.get(socket) ?? 0) + by;
    waiting.set(socket, now);
    all += by;
    return now;
  };
  /** Connections that brought too much: what they asked for before is not done either. */
  const cut = new WeakSet<Socket>();
  const server = createServer(
    // The time for a whole request depends on the document; the body has a limit of its own.
    { requestTimeout: 0, headersTimeout: HEADERS_TIMEOUT, keepAliveTimeout: KEEP_ALIVE, noDelay: true },
    (request, response) => {
      // A connection that breaks is the client's business.
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      const { socket } = request;
      if (socket.destroyed) return;
      if (count(socket, 1) > MAX_WAITING || all > MAX_WAITING_IN_ALL) {
        count(socket, -1);
        cut.add(socket);
        readNoFurther(socket);
        socket.destroy();
        return;
      }
      serve(host, request, response, () => cut.has(socket))
        .catch((error: unknown) => {
          socket.destroy();
          if (!(error instanceof BodyError)) host.failed(error);
        })
        .finally(() => count(socket, -1));
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function serve(
  host: IppServerHost,
  request: IncomingMessage,
  response: ServerResponse,
  isCut: () => boolean,
): Promise<void> {
  const { socket } = request;
  const body = new IppBody(request, host.bodyLimits, {
    cut: () => socket.destroy(),
    inTurn: async () => {
      if (stretchIsOver()) await inStretches();
    },
    received: (bytes) => host.received(bytes, request),
  });
  const refusal = httpRefusal(request);
  if (refusal !== undefined) {
    const page = refusal === 200 ? host.page() : '';
    response.writeHead(refusal, { 'content-type': 'text/plain; charset=utf-8' }).end(page);
    await body.discard();
    return;
  }
  const printerUri = `ipp://${authority(request)}${PRINTER_PATH}`;
  const { message, known } = await answered(body, {
    answer: (asked, document) => host.answer({ message: asked, document, printerUri }),
    inTurn: inStretches,
    isCut,
    failed: (error) => host.failed(error),
  });
  const cutAfter = await host.beforeReply(known && operationName(known), socket);
  const bytes = encodeIpp(message);
  response.writeHead(200, { 'content-type': 'application/ipp', 'content-length': bytes.length });
  if (cutAfter !== undefined) {
    response.write(bytes.subarray(0, cutAfter), () => socket.destroy());
    return;
  }
  response.end(bytes);
  await body.discard();
}

/** The HTTP status for what is not an IPP request; 200 for the web page. */
function httpRefusal({ method, url = '', headers }: IncomingMessage): number | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (method === 'GET' || method === 'HEAD') return path === '/' || path === PRINTER_PATH ? 200 : 404;
  if (method !== 'POST') return 405;
  if (path !== PRINTER_PATH && !path.startsWith(`${PRINTER_PATH}/`)) return 404;
  return isIpp(headers['content-type']) ? undefined : 415;
}

/** Under which name and port the client found the printer. */
function authority({ headers, socket }: IncomingMessage): string {
  const { localAddress = '127.0.0.1', localPort = 631 } = socket;
  return (
    hostIn(headers.host) ?? `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  );
}
