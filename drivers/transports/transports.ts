/**
 * A set of transports, found by the scheme of an address. The set is a value that is passed on, and is not global. So a test
 * can add its own transport with `with`, and no other code sees it.
 */
import type { z } from 'zod';
import { parseAddress } from '../address.ts';
import { type Connection, TransportError, transportTimeouts } from '../connection.ts';
import type { DeviceAccess, DocumentPort, DocumentTransport } from './document/document.ts';
import type { StreamTransport, TransportTraits } from './transport.ts';

type Transport = StreamTransport | DocumentTransport;

export class Transports {
  readonly #byScheme: ReadonlyMap<string, Transport>;

  constructor(table: readonly Transport[]) {
    this.#byScheme = new Map(table.map((transport) => [transport.scheme, transport]));
  }

  [Symbol.iterator](): IterableIterator<Transport> {
    return this.#byScheme.values();
  }

  /** A new set with more transports. They replace transports of the same scheme. */
  with(...others: readonly Transport[]): Transports {
    return new Transports([...this, ...others]);
  }

  /** What is known of an address by its scheme; undefined: there is no transport for the address, or it is none. */
  traits(uri: string): TransportTraits | undefined {
    return this.#of(uri);
  }

  takesDocuments(uri: string): boolean {
    return this.#of(uri)?.takes === 'documents';
  }

  /** The address that `uri` is a short name of, or `uri` itself. @throws TransportError `address-invalid` */
  unaliased(uri: string): string {
    return this.traits(uri)?.aliasOf?.(parseAddress(uri)).href ?? uri;
  }

  /** The name of a print server's queue, as of `TransportTraits`. @throws TransportError `address-invalid` */
  queueOf(uri: string): string {
    return this.traits(uri)?.queueOf?.(uri) ?? uri;
  }

  /**
   * Whether a device can be at `uri`. Connects to nothing.
   * @throws TransportError `address-invalid` (which repeats nothing of the URI but its scheme)
   */
  check(uri: string): void {
    const url = parseAddress(uri);
    if (url.username !== '' || url.password !== '') {
      throw new TransportError('address-invalid', 'it has a user or password; those stand in "access"');
    }
    const transport = this.#at(url);
    if (transport.takes === 'bytes') transport.check(url);
    else transport.open(url, transportTimeouts.parse({}), {}).close();
  }

  /**
   * The device at `uri` if it takes documents; null if it takes bytes. Connects to nothing.
   * @param timeouts ms; those left out have the default of `transportTimeouts`
   * @throws TransportError `address-invalid` (which repeats nothing of the URI but its scheme)
   */
  documents(
    uri: string,
    timeouts: z.input<typeof transportTimeouts> = {},
    access: DeviceAccess = {},
  ): DocumentPort | null {
    const url = parseAddress(uri);
    const transport = this.#at(url);
    if (transport.takes === 'bytes') return null;
    return transport.open(url, transportTimeouts.parse(timeouts), access);
  }

  /**
   * Opens a connection to the device at `uri`, which has to take bytes.
   * @param timeouts ms; those left out have the default of `transportTimeouts`
   * @throws TransportError `address-invalid` (which repeats nothing of the URI but its scheme),
   *   `device-unreachable`, `connect-timeout`; the signal's reason when aborted
   */
  async open(
    uri: string,
    signal: AbortSignal,
    timeouts: z.input<typeof transportTimeouts> = {},
  ): Promise<Connection> {
    const url = parseAddress(uri);
    const transport = this.#at(url);
    if (transport.takes === 'bytes') return transport.open(url, transportTimeouts.parse(timeouts), signal);
    throw new TransportError('address-invalid', `${url.protocol} takes documents`);
  }

  #of(uri: string): Transport | undefined {
    return this.#byScheme.get(URL.parse(uri)?.protocol.slice(0, -1) ?? '');
  }

  #at({ protocol }: URL): Transport {
    const transport = this.#byScheme.get(protocol.slice(0, -1));
    if (transport !== undefined) return transport;
    const known = [...this.#byScheme.keys()].map((scheme) => `${scheme}:`).join(', ');
    throw new TransportError('address-invalid', `unknown scheme ${protocol}; expected ${known}`);
  }
}
