/**
 * Short addresses of CUPS queues: `cups:<queue>` on this machine, `cups://host[:port]/<queue>` elsewhere. They stand for
 * `ipp://host:631/printers/<queue>`, and all that `ipp.ts` says counts for them. For TLS, write the `ipps:` address instead.
 *
 * "This machine" is `localhost:631`. `CUPS_SERVER` and CUPS's socket are ignored, so that an address means the same, whoever
 * starts the agent.
 */

import { TransportError } from '../../connection.ts';
import type { DocumentTransport } from './document.ts';
import { ippQueue, ippTransport } from './ipp.ts';

export const cupsTransport: DocumentTransport = {
  scheme: 'cups',
  takes: 'documents',
  ofThisComputer: true,
  namesFormats: true,
  aliasOf: queueAddress,
  queueOf: (uri) => ippQueue(queueAddress(new URL(uri)).href),
  open: (uri, timeouts, access) => ippTransport.open(queueAddress(uri), timeouts, access),
};

/** The queue's IPP address. @throws TransportError `address-invalid` */
export function queueAddress(uri: URL): URL {
  const [, queue = ''] = /^\/*([^/]+)$/.exec(uri.pathname) ?? [];
  // CUPS takes a queue's name of at most 127 printable bytes, without `/` and `#`. Percent-encoding may triple the length.
  if (queue === '' || queue.length > 3 * 127 || uri.search !== '' || uri.hash !== '') {
    throw new TransportError('address-invalid', 'expected cups:queue or cups://host/queue');
  }
  const address = new URL(`ipp://${uri.hostname || 'localhost'}:${uri.port || 631}/printers/${queue}`);
  address.username = uri.username;
  address.password = uri.password;
  return address;
}
