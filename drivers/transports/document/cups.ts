/**
 * Short addresses of CUPS queues: `cups:<queue>` on this machine, `cups://host[:port]/<queue>` elsewhere, for
 * `ipp://host:631/printers/<queue>`, with all that `ipp.ts` says. For TLS, write the `ipps:` address instead.
 *
 * "This machine" is `localhost:631`. `CUPS_SERVER` and CUPS's socket are not looked at: an address means the same
 * whoever starts the agent.
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
  // What CUPS takes as a queue's name: printable, without `/` and `#`, at most 127 bytes.
  if (queue === '' || queue.length > 3 * 127 || uri.search !== '' || uri.hash !== '') {
    throw new TransportError('address-invalid', 'expected cups:queue or cups://host/queue');
  }
  const address = new URL(`ipp://${uri.hostname || 'localhost'}:${uri.port || 631}/printers/${queue}`);
  address.username = uri.username;
  address.password = uri.password;
  return address;
}
