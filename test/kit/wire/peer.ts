/** The other end of a connection: a real TCP server of the test's own on loopback. */

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from './listening.ts';

export interface Peer {
  uri: string;
  port: number;
  server: Server;
  /** The first connection that comes in; it is paused, so that nothing is lost and nothing read unasked. */
  accepted: Promise<Socket>;
}

export async function peer(
  onConnection: (socket: Socket) => void = () => undefined,
  options: { allowHalfOpen?: boolean } = {},
): Promise<Peer> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const open = new Set<Socket>();
  const server = createServer({ ...options, pauseOnConnect: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
    resolve(socket);
  });
  const port = await listening(server);
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { uri: `socket://127.0.0.1:${port}`, port, server, accepted: promise };
}

/** A device that answers what `answer` says to each line it gets; undefined: it says nothing. */
export function answering(answer: (line: string) => string | Buffer | undefined): (socket: Socket) => void {
  return (socket) => {
    let rest = '';
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const reply = answer(line);
        if (reply !== undefined) socket.write(reply);
      }
    });
    socket.resume();
  };
}

/** Everything the peer receives until the other side's FIN. */
export async function everything(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part);
  return Buffer.concat(parts);
}
