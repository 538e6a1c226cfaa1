/** A printer's TLS, with a certificate of its own making. */

import { X509Certificate } from 'node:crypto';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { selfSigned } from './certificate.ts';
import { listening } from './listening.ts';

export async function secured(printer: { port: number }, port = 0) {
  const identity = selfSigned();
  const server = createServer(identity, (socket) => {
    const on = connect(printer.port, '127.0.0.1');
    for (const end of [socket, on]) end.on('error', () => undefined);
    socket.on('close', () => on.destroy());
    socket.pipe(on).pipe(socket);
  });
  const open = new Set<{ destroy(): unknown }>();
  // Includes sockets in their TLS handshake: one that completes it later would stay open for ever.
  server.on('connection', (raw) => open.add(raw));
  const bound = await listening(server, port);
  const stop = async () => {
    for (const socket of open) socket.destroy();
    if (server.listening) await new Promise((done) => void server.close(done));
  };
  const shown = new X509Certificate(identity.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  return { uri: `ipps://127.0.0.1:${bound}/ipp/print`, port: bound, shown, stop };
}
