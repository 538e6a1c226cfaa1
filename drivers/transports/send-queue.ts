/**
 * How much of what was sent a device has not taken yet, as the kernel knows it.
 *
 * A program is told that there is room again only when a third of the send buffer is free. The buffer grows to
 * megabytes on a fast network, so that a printer that takes 30 KB/s was measured to leave the program without a
 * sign of life for 46 s while it was printing all the time. The kernel's own count shows every step.
 *
 * Source: proc(5), `/proc/net/tcp`: local and remote address, state, `tx_queue:rx_queue`, hexadecimal.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** Bytes that the other side has not acknowledged; undefined where the system does not tell. */
export async function unacknowledged(socket: Socket): Promise<number | undefined> {
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
  // Two connections with the same ports to different devices: it is not worth telling them apart.
  return only?.[1] === undefined || others.length > 0 ? undefined : Number.parseInt(only[1], 16);
}
