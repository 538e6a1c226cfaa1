/**
 * Reports the commands that a Redis is sent, and by which connection, from its `MONITOR`. On a socket of our
 * own: on a busy server the lines come together with the `OK` to the command, and ioredis takes them for
 * answers then.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** @param heard the command's name in lower case, and the address of the connection that sent it */
export async function listenToCommands(
  url: URL,
  heard: (command: string, source: string) => void,
): Promise<{ stop(): void }> {
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  const lines = createInterface({ input: socket });
  const listening = Promise.withResolvers<void>();
  socket.on('error', listening.reject);
  lines.on('line', (line) => {
    if (line.startsWith('-')) listening.reject(new Error(line));
    const [, source, command] = /^\+[\d.]+ \[\d+ (\S+)\] "([^"]*)"/.exec(line) ?? [];
    if (source !== undefined && command !== undefined) heard(command.toLowerCase(), source);
  });
  await once(socket, 'connect');
  const authenticated = url.password === '' ? [] : [['AUTH', decodeURIComponent(url.password)]];
  let due = authenticated.length + 1;
  lines.on('line', (line) => {
    if (line === '+OK' && --due === 0) listening.resolve();
  });
  for (const words of [...authenticated, ['MONITOR']]) {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    socket.write(`*${words.length}\r\n${parts.join('')}`);
  }
  await listening.promise;
  return { stop: () => void socket.destroy() };
}
