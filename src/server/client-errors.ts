/**
 * Answers a connection that brings no HTTP request, or only part of one. No route sees it, but the answer has
 * the same form as every other error. The connection is closed after it; one that brings nothing is closed without.
 */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../log.ts';
import { PROBLEM_TYPE, ProblemError } from './problems.ts';

/** For Fastify's `clientErrorHandler`. */
export function clientErrors(logger: Logger): (error: Error & { code: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    // Who opens a connection and asks later would take an answer for that of the request.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return void socket.destroy();
    const problem = problemOf(error.code);
    const requestId = randomUUID();
    logger.info({ route: 'none', status: problem.status, requestId, reason: error.code }, 'request');
    const body = JSON.stringify(problem.body(requestId));
    const head = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      `content-type: ${PROBLEM_TYPE}; charset=utf-8`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'cache-control: no-store',
      'connection: close',
    ];
    if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    socket.destroy();
  };
}

function problemOf(code: string): ProblemError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ProblemError('request-late', 'the request did not come in whole in time');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ProblemError('headers-too-large', 'the address and the headers have more than 16 KiB');
  }
  return new ProblemError(
    'request-malformed',
    'this is no HTTP request; is Content-Length the number of bytes of the body?',
  );
}
