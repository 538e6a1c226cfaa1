/** A device that takes all that it is sent: each connection, to its end, is one document. */

import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
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
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const parts: Buffer[] = [];
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // What is cut off is no document.
    socket.on('error', () => undefined);
    socket.on('data', (part) => parts.push(part));
    socket.on('end', () => {
      socket.end();
      documents.push(Buffer.concat(parts));
      news.emit('document');
    });
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
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
