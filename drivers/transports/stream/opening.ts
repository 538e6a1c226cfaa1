/** Opens what may hang in the kernel: no longer than a connection may take, and once at a time. */
import { type Connection, TransportError, type TransportTimeouts } from '../../connection.ts';
import { orAborted, within } from '../pauses.ts';

/**
 * Of each address, the opening that was given up and has not come back. It holds one of the few threads that the process has
 * for files: with one more for each new attempt, no journal would get to the disk.
 */
const hanging = new Map<string, Promise<void>>();

/** @throws TransportError `connect-timeout`, what `open` throws, the signal's reason */
export async function openedInTime(
  address: string,
  open: () => Promise<Connection>,
  timeouts: TransportTimeouts,
  signal: AbortSignal,
): Promise<Connection> {
  const inTime = <T>(promise: Promise<T>) => orAborted(within(promise, timeouts.connect, late), signal);
  const late = () => new TransportError('connect-timeout', `${timeouts.connect} ms`);
  const before = hanging.get(address);
  if (before !== undefined) await inTime(before);
  const opening = open();
  try {
    return await inTime(opening);
  } catch (error) {
    // It may still open after this call has given up: then nobody else would close it.
    const over = opening
      .then((opened) => opened.close())
      .catch(() => undefined)
      .then(() => {
        if (hanging.get(address) === over) hanging.delete(address);
      });
    hanging.set(address, over);
    throw error;
  }
}
