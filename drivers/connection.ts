/**
 * Open connections to devices, whatever carries them, and the errors if there is none (`TransportError`).
 *
 * "Written" means that the operating system or the device's connection took the bytes, and nothing more. Only the language's
 * status query tells what was printed (see `device.ts`).
 */
import { z } from 'zod';
import { defineFaults, titled } from '../src/contract/define-faults.ts';

/** Why a device could not be used. `retrySafe`: none of the bytes that were to be written have reached it. */
export class TransportError extends defineFaults(
  'TransportError',
  {
    'device-unreachable': { retrySafe: true, title: 'The device did not accept a connection' },
    'connect-timeout': { retrySafe: true, title: 'The device did not accept a connection in time' },
    'write-timeout': { title: 'The device stopped taking data' },
    'certificate-unknown': {
      retrySafe: true,
      title: 'The device shows a certificate that it is not known by',
    },
    'connection-lost': { title: 'The connection to the device broke' },
    'query-timeout': { retrySafe: true, title: 'The device did not answer in time' },
    'reply-invalid': { retrySafe: true, title: 'The device answered something else than expected' },
    'reply-too-long': { retrySafe: true, title: 'The device answered more than allowed' },
    'address-invalid': { retrySafe: true, title: 'The device address is not valid' },
  },
  titled,
) {}

/** Times in ms. */
export const transportTimeouts = z.object({
  connect: z.int().min(1).default(5_000),
  /** The longest time in which the device takes not a single byte. */
  write: z.int().min(1).default(30_000),
  query: z.int().min(1).default(3_000),
});
export type TransportTimeouts = z.infer<typeof transportTimeouts>;

export interface QueryOptions {
  /** Default: `query` of the time-outs. */
  timeoutMs?: number;
  maxBytes?: number;
  signal: AbortSignal;
}

/** An open connection to a device. It serialises queries and writes itself. */
export interface Connection {
  /**
   * Writes all bytes with back-pressure. It resolves when the connection has taken the last one.
   * @throws TransportError `write-timeout`, `connection-lost`; the signal's reason when aborted.
   */
  write(bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /**
   * Sends a query and collects the answer until `complete` returns true for what has arrived so far.
   * @throws TransportError `query-timeout`, `reply-too-long`, `connection-lost`
   */
  query(
    bytes: Uint8Array,
    complete: (reply: Uint8Array) => boolean,
    options: QueryOptions,
  ): Promise<Uint8Array>;
  /** True: the bytes are only stored, as in a regular file, so no device reads them while they are written. */
  readonly inert?: boolean;
  /** Aborted when the connection is gone, with the reason. */
  readonly closed: AbortSignal;
  /** Never throws, and returns after a bounded time. What was written still reaches the device. */
  close(): Promise<void>;
  /** Breaks the connection at once, so that bytes under way never reach the device. Absent: the connection cannot do that. */
  reset?(): void;
}
