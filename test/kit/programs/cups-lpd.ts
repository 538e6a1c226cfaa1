/** CUPS's LPD server (`cups-lpd`, which inetd would start), for the queues of a private cupsd. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from '../wire/listening.ts';
import { type Cupsd, startCupsd } from './cupsd.ts';
import { Programs } from './programs.ts';

interface Lpd {
  port: number;
  stop(): Promise<void>;
}

/** For the tests of a file a cupsd, and the port of its LPD server. */
export function useLpd(): () => { readonly cups: Cupsd; readonly port: number } {
  let cups: Cupsd | undefined;
  let lpd: Lpd | undefined;
  beforeAll(async () => {
    cups = await startCupsd();
    lpd = await startLpd(cups);
  });
  afterAll(async () => {
    await lpd?.stop();
    await cups?.stop();
  });
  return () => {
    if (cups === undefined || lpd === undefined) throw new Error('the LPD server does not run yet');
    return { cups, port: lpd.port };
  };
}

async function startLpd(cups: Cupsd): Promise<Lpd> {
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
