/** The transports, by URI scheme. A new way to reach a device is one file here and one line in the table. */
import type { z } from 'zod';
import { parseAddress } from './address.ts';
import { cupsTransport } from './document/cups.ts';
import type { DeviceAccess, DocumentPort, DocumentTransport } from './document/document.ts';
import { ippTransport } from './document/ipp.ts';
import { lpdTransport } from './document/lpd.ts';
import { winspoolTransport } from './document/winspool.ts';
import { fileTransport } from './stream/file.ts';
import { tcpTransport } from './stream/tcp.ts';
import { usbTransport } from './stream/usb.ts';
import { type Connection, type Transport, TransportError, transportTimeouts } from './transport.ts';

const TRANSPORTS: readonly Transport[] = [tcpTransport, usbTransport, fileTransport];
const DOCUMENT_TRANSPORTS: readonly DocumentTransport[] = [
  ippTransport,
  cupsTransport,
  lpdTransport,
  winspoolTransport,
];

const BY_SCHEME = new Map(
  TRANSPORTS.flatMap((transport) => transport.schemes.map((scheme) => [scheme, transport])),
);

const DOCUMENTS_BY_SCHEME = new Map(
  DOCUMENT_TRANSPORTS.flatMap((transport) => transport.schemes.map((scheme) => [scheme, transport])),
);

/** The URI schemes that a device address can have: `socket`, `ipp`, …. */
export const transportSchemes: readonly string[] = [...BY_SCHEME.keys(), ...DOCUMENTS_BY_SCHEME.keys()];

/**
 * The way to the device at `uri` if it is one that takes documents, null if it takes bytes. Connects to nothing.
 * @throws TransportError `address-invalid` (which repeats nothing of the URI but its scheme)
 */
export function documentPort(
  uri: string,
  timeouts: z.input<typeof transportTimeouts> = {},
  access: DeviceAccess = {},
): DocumentPort | null {
  const url = parseAddress(uri);
  const transport = DOCUMENTS_BY_SCHEME.get(url.protocol.slice(0, -1));
  return transport?.open(url, transportTimeouts.parse(timeouts), access) ?? null;
}

/**
 * Whether a device can be at `uri`. Connects to nothing.
 * @throws TransportError `address-invalid` (which repeats nothing of the URI but its scheme)
 */
export function checkAddress(uri: string): void {
  const url = parseAddress(uri);
  if (url.username !== '' || url.password !== '') {
    throw new TransportError('address-invalid', 'it has a user or password; those stand in "access"');
  }
  const port = documentPort(uri);
  if (port === null) byteTransport(url).check(url);
  else port.close();
}

export function takesDocuments(uri: string): boolean {
  return DOCUMENTS_BY_SCHEME.has(parseAddress(uri).protocol.slice(0, -1));
}

/**
 * Opens a connection to the device at `uri`.
 * @param timeouts ms; what is left out has the default of `transportTimeouts`
 * @throws TransportError `address-invalid` (which repeats nothing of the URI but its scheme),
 *   `device-unreachable`, `connect-timeout`; the signal's reason when aborted
 */
export async function openTransport(
  uri: string,
  signal: AbortSignal,
  timeouts: z.input<typeof transportTimeouts> = {},
): Promise<Connection> {
  const url = parseAddress(uri);
  return byteTransport(url).open(url, transportTimeouts.parse(timeouts), signal);
}

function byteTransport({ protocol }: URL): Transport {
  const transport = BY_SCHEME.get(protocol.slice(0, -1));
  if (transport !== undefined) return transport;
  const known = transportSchemes.map((scheme) => `${scheme}:`).join(', ');
  throw new TransportError('address-invalid', `unknown scheme ${protocol}; expected ${known}`);
}
