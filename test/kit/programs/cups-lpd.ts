/** CUPS's LPD server (`cups-lpd`, which inetd would start), for the queues of a private cupsd. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../wire/listening.ts';
import type { Cupsd } from './cupsd.ts';
import { Programs } from './programs.ts';

export interface Lpd {
  port: number;
  stop(): Promise<void>;
}

export async function startLpd(cups: Cupsd): Promise<Lpd> {
  const port = await freePort();
  const programs = new Programs();
  const env = { ...process.env, CUPS_SERVER: `127.0.0.1:${cups.port}` };
  // With `nofork` the connection itself is its input and output, as inetd gives it, and no byte is lost on the way.
  const listen = `TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork`;
  const listener = programs.start('socat', [listen, 'EXEC:/usr/lib/cups/daemon/cups-lpd -n,nofork'], { env });
  const stop = () => programs.end();
  try {
    await listener.until(() => listening(port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

async function listening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const there = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return there;
}
