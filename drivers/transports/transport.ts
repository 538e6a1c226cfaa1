/**
 * The interfaces of transports. Over a transport, labels reach a device as a stream of bytes (`stream/`) or as documents
 * (`document/`). A transport describes itself, so code that compares addresses need not know any scheme.
 */
import type { Connection, TransportTimeouts } from '../connection.ts';

/** What is known of an address before its device is asked. */
export interface TransportTraits {
  /** The URI scheme of its addresses, and its ID: `socket`. */
  readonly scheme: string;
  /** Its addresses are valid on this computer only. */
  readonly ofThisComputer?: boolean;
  /** The device is plugged into this computer. So its IEEE 1284 device ID can tell it from the others there. */
  readonly pluggedIn?: boolean;
  /** The connection is encrypted, and a certificate identifies the device. */
  readonly encrypted?: boolean;
  /** The scheme of the same transport with encryption, preferred where the certificate is trusted. */
  readonly encryptedAs?: string;
  /** Documents carry the name of their format. So a device refuses an unknown format, instead of printing it as text. */
  readonly namesFormats?: boolean;
  /** Another transport's address, for which this one is a short name. @throws TransportError `address-invalid` */
  aliasOf?(uri: URL): URL;
  /** The name of a print server's queue, the same for all of its addresses; default: the whole address. */
  queueOf?(uri: string): string;
  /** How its devices announce themselves by DNS-SD. */
  readonly dnsSd?: {
    /** `_ipp._tcp` */
    service: string;
    /** If one printer has several services, the one with the lowest number is listed first. */
    order: number;
    /** @param host bracketed, if it is IPv6 @param resource `rp` of the TXT record: a path without slash in front, or '' */
    address(host: string, port: number, resource: string): string;
  };
}

/** A transport to devices that take bytes. */
export interface StreamTransport extends TransportTraits {
  readonly takes: 'bytes';
  /** Checks an address without connecting. @throws TransportError `address-invalid` */
  check(uri: URL): void;
  /** @throws TransportError `device-unreachable`, `connect-timeout`, `address-invalid` */
  open(uri: URL, timeouts: TransportTimeouts, signal: AbortSignal): Promise<Connection>;
}
