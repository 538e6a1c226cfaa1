/** A device that takes all that it is sent: each connection, to its end, is one document. */

import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { listening } from './listening.ts';

export interface DocumentSink {
  readonly uri: string;
  readonly documents: readonly Buffer[];
  /** Resolves with the document of this number, from 0. */
  document(number: number): Promise<Buffer>;
  stop(): Promise<void>;
}

export async function startDocumentSink({ port = 0, address = '127.0.0.1' } = {}): Promise<DocumentSink> {
  const documents: Buffer[] = [];
  const news = new EventEmitter();
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part);
    socket.end();
    documents.push(Buffer.concat(parts));
    news.emit('document');
  });
  const uri = `socket://${address}:${await listening(server, port, address)}`;
  return {
    uri,
    documents,
    document: async (number) => {
      for (;;) {
        const found = documents[number];
        if (found !== undefined) return found;
        await once(news, 'document');
      }
    },
    stop: async () => void server.close(),
  };
}
