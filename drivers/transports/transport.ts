/**
 * How labels reach a device, as a stream of bytes (`stream/`) or as documents (`document/`). A transport describes
 * itself: whoever compares addresses asks what they have in common here, and knows none by its scheme.
 */
import type { Connection, TransportTimeouts } from '../connection.ts';

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
