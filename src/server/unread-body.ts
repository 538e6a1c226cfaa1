/**
 * Sends an answer before the request's body has arrived. A client that writes its whole body before it reads
 * would find the connection broken, and never learn why. So the rest of the body is read and thrown away,
 * within bounds, and only then is the answer ended.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Bytes that are thrown away at most, and ms that it may take. */
const MOST_BYTES = 64 * 1024 * 1024;
const DEADLINE = 10_000;

/** Whether the request has a body, be it here already or not. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding !== undefined || length !== '0';
}

/** Whether part of the request's body is still to come. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request);
}

/**
 * Ends a request without an answer if its caller went away before the body was in: hundreds may do so at
 * once, and each answer costs something although nobody reads it. @returns whether the caller went away
 */
export function isAbandoned(request: IncomingMessage, reply: FastifyReply): boolean {
  if (!request.destroyed || request.complete) return false;
  reply.hijack();
  return true;
}

/** The answer's body: all of `payload` at once; it ends only when the request has ended too. */
export function answerWithRest(request: IncomingMessage, payload: Uint8Array): Readable {
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield payload;
    await thrownAway(request);
  }
  return Readable.from(parts(), { objectMode: false, highWaterMark: payload.length + 1 });
}

async function thrownAway(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) resolve();
  };
  const timer = setTimeout(resolve, DEADLINE);
  request.on('data', count).once('end', resolve).once('close', resolve).resume();
  await promise;
  clearTimeout(timer);
  request.off('data', count).off('end', resolve).off('close', resolve);
  // A caller who goes on sending is cut off.
  if (!request.complete) setImmediate(() => request.socket.destroySoon());
}
