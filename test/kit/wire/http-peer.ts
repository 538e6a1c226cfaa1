/** A real HTTP server that answers IPP as a test wants it. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { decodeIpp } from '../../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../../drivers/ipp/encode.ts';
import type { IppGroup, IppMessage } from '../../../drivers/ipp/message.ts';
import { listeningForTest } from './listening.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function httpPeer(
  answer: Answer,
): Promise<{ uri: string; server: Server; connections: () => number }> {
  let connections = 0;
  const server = createServer(answer);
  server.on('connection', () => {
    connections++;
  });
  const port = await listeningForTest(server);
  return { uri: `ipp://127.0.0.1:${port}/ipp/print`, server, connections: () => connections };
}

/** Reads each request as IPP and answers with what `reply` says. */
export function ippAnswer(
  reply: (request: IppMessage) => { code?: number; groups?: IppGroup[]; requestId?: number },
): Answer {
  return async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const asked = decodeIpp(Buffer.concat(parts));
    const { code = 0, groups = [], requestId = asked.requestId } = reply(asked);
    const operation: IppGroup = {
      tag: 'operation',
      attributes: [
        { name: 'attributes-charset', values: [{ tag: 'charset', value: 'utf-8' }] },
        { name: 'attributes-natural-language', values: [{ tag: 'naturalLanguage', value: 'en' }] },
        { name: 'status-message', values: [{ tag: 'text', value: 'so it is' }] },
      ],
    };
    response.writeHead(200, { 'content-type': 'application/ipp' });
    response.end(
      encodeIpp({
        version: { major: 2, minor: 0 },
        code,
        requestId,
        groups: [operation, ...groups],
        data: Buffer.alloc(0),
      }),
    );
  };
}
