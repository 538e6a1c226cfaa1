/**
 * A pseudo-terminal in place of a printer's character device: bytes go both ways, `EAGAIN` when it is not
 * ready, a hang-up when the other end goes. socat holds the other end and hands it on to a TCP server of the
 * test. What it cannot show is the driver's own behaviour (usblp's pieces, what it does at closing).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { peer } from '../wire/peer.ts';

/** @param path where the device appears; @returns the socket at the printer's end, paused */
export async function ptyAt(path: string): Promise<Socket> {
  const printer = await peer();
  const socat = spawn('socat', [`PTY,link=${path},raw,echo=0,b4000000`, `TCP:127.0.0.1:${printer.port}`], {
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const exited = once(socat, 'exit');
    if (socat.exitCode !== null || socat.signalCode !== null || !socat.kill('SIGKILL')) return;
    await exited;
  });
  const socket = await printer.accepted;
  // socat makes the link before it connects; the file system shows both in any order.
  for (let tries = 0; !existsSync(path); tries += 1) {
    if (tries > 500) throw new Error('socat made no pseudo-terminal');
    await wait(10);
  }
  return socket;
}
