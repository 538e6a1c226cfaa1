/** Opens files that may hang in the kernel. The wait is bounded, and each address is opened only once at a time. */
import { type Connection, TransportError, type TransportTimeouts } from '../../connection.ts';
import { orAborted, within } from '../pauses.ts';

/**
 * For each address, the opening that was given up and has not returned. It holds one of the few threads that the process has
 * for files. If each new attempt held one more, no journal would get to the disk.
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
    // The file may still open after this call has given up. Then nobody else would close it.
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
