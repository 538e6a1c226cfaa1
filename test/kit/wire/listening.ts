/** Servers of a test's own on loopback. */
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Resolves with the port once the server listens; without `port` on a free one. */
export async function listening(server: Server, port = 0, address = '127.0.0.1'): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no TCP address');
  return bound.port;
}

/** The same for an HTTP server, which is closed with the test, whoever is still connected. */
export async function listeningForTest(server: HttpServer): Promise<number> {
  onTestFinished(async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => void server.close(done));
  });
  return await listening(server);
}

const given = new Set<number>();

/** A TCP port that nobody has at the moment, and that nobody here was given before: the system may name one twice in a row. */
export async function freePort(): Promise<number> {
  for (;;) {
    const probe = createServer();
    const port = await listening(probe);
    probe.close();
    await once(probe, 'close');
    if (given.has(port)) continue;
    given.add(port);
    return port;
  }
}

/** Whether somebody takes connections there. Closes its own again: a program would wait for it at its end. */
export async function takesConnections(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
