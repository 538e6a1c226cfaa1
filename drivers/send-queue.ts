/**
 * Tells a slow device from a stuck one while a program writes to it.
 *
 * The kernel reports room for more only when a third of the send buffer is free, and on a fast network the buffer grows to
 * megabytes. So a printer that takes 30 KB/s left the program without a sign of life for 46 s (measured), while it was printing
 * all the time. The kernel's count of unacknowledged bytes shows every step.
 *
 * Source: proc(5), `/proc/net/tcp`: local and remote address, state, `tx_queue:rx_queue`, hexadecimal.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** How often the count is checked within the time that the device has. */
const LOOKS = 4;

/**
 * Calls `stuck` once the device has taken nothing for `ms`, or up to a quarter longer.
 * @returns a function that ends the watch
 */
export function watchForStall(socket: Socket, ms: number, stuck: () => void): () => void {
  let over = false;
  let queued: number | undefined;
  let quiet = 0;
  const look = async () => {
    const before = queued;
    queued = await unacknowledged(socket);
    if (over) return;
    quiet = queued === before ? quiet + 1 : 0;
    if (quiet < LOOKS) timer = setTimeout(look, ms / LOOKS);
    else stuck();
  };
  let timer = setTimeout(look, ms / LOOKS);
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

/** How many bytes the other side has not acknowledged. Undefined: the system does not tell. */
async function unacknowledged(socket: Socket): Promise<number | undefined> {
  const { localPort, remotePort, remoteFamily } = socket;
  if (process.platform !== 'linux' || localPort === undefined || remotePort === undefined) return undefined;
  const table = await readFile(`/proc/net/tcp${remoteFamily === 'IPv6' ? '6' : ''}`, 'latin1').catch(
    () => '',
  );
  const port = (value: number) => value.toString(16).toUpperCase().padStart(4, '0');
  const line = new RegExp(
    `: [0-9A-F]+:${port(localPort)} [0-9A-F]+:${port(remotePort)} .. ([0-9A-F]{8}):`,
    'g',
  );
  const [only, ...others] = [...table.matchAll(line)];
  // If two connections to different devices have the same ports, it is not worth telling them apart.
  return only?.[1] === undefined || others.length > 0 ? undefined : Number.parseInt(only[1], 16);
}
