/**
 * How labels reach a device, as a stream of bytes (`stream/`) or as documents (`document/`). A transport describes
 * itself: whoever compares addresses asks what they have in common here, and knows none by its scheme.
 *
 * "Written" means that the operating system or the device's connection took the bytes, nothing more; what
 * became of them is for the language's status to tell (see `../device.ts`).
 */
import { z } from 'zod';
import { defineFaults, titled } from '../../src/contract/define-faults.ts';

/** Why a device could not be used; `retrySafe`: nothing of what was to be written has reached it. */
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
  /** Longest time without the device taking a single byte. */
  write: z.int().min(1).default(30_000),
  query: z.int().min(1).default(3_000),
});
export type TransportTimeouts = z.infer<typeof transportTimeouts>;

/** An open way to a device. Queries and writes are serialised by the connection itself. */
export interface Connection {
  /**
   * Writes all bytes with back-pressure; resolves when the connection took the last one.
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
    options: { timeoutMs?: number; maxBytes?: number; signal: AbortSignal },
  ): Promise<Uint8Array>;
  /** What is written is kept as it is: no device reads it meanwhile. */
  readonly inert?: boolean;
  /** Aborted when the connection is gone, with the reason. */
  readonly closed: AbortSignal;
  /** Never throws, and returns after a bounded time. What was written still reaches the device. */
  close(): Promise<void>;
  /** Ends it at once, so that bytes still on their way never reach the device; left out where that can't be done. */
  reset?(): void;
}

/** What is known of an address before anybody is asked there. */
export interface TransportTraits {
  /** The URI scheme of its addresses, and its ID: `socket`. */
  readonly scheme: string;
  /** Its addresses mean something on this computer only. */
  readonly ofThisComputer?: boolean;
  /** The device is plugged into this computer: there, its IEEE 1284 device ID tells it from others. */
  readonly pluggedIn?: boolean;
  /** Nobody reads along, and a certificate tells who is there. */
  readonly encrypted?: boolean;
  /** The scheme of the same transport that is encrypted, and better where its certificate is trusted. */
  readonly encryptedAs?: string;
  /** A document goes with its format's name: what does not take it refuses it, and does not print its bytes as text. */
  readonly namesFormats?: boolean;
  /** The address of another transport that this is a short name of. @throws TransportError `address-invalid` */
  aliasOf?(uri: URL): URL;
  /** By which name a print server's queue is known, however it is talked to; default: the whole address. */
  queueOf?(uri: string): string;
  /** How its devices announce themselves by DNS-SD. */
  readonly dnsSd?: {
    /** `_ipp._tcp` */
    service: string;
    /** Of the services of one printer the one with the lowest number is listed first. */
    order: number;
    /** @param host bracketed, if it is IPv6 @param resource `rp` of the TXT record: a path without slash in front, or '' */
    address(host: string, port: number, resource: string): string;
  };
}

/** Takes bytes as they are. */
export interface StreamTransport extends TransportTraits {
  readonly takes: 'bytes';
  /** Whether it can be an address of such a device. @throws TransportError `address-invalid` */
  check(uri: URL): void;
  /** @throws TransportError `device-unreachable`, `connect-timeout`, `address-invalid` */
  open(uri: URL, timeouts: TransportTimeouts, signal: AbortSignal): Promise<Connection>;
}
