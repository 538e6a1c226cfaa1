/**
 * The transports. To add one: a file in `stream/` (it takes bytes) or `document/` (it takes documents and
 * keeps jobs of its own) that describes itself (`TransportTraits`), and a line here. No other code names it.
 */
import { cupsTransport } from './document/cups.ts';
import { ippsTransport, ippTransport } from './document/ipp.ts';
import { lpdTransport } from './document/lpd.ts';
import { winspoolTransport } from './document/winspool.ts';
import { fileTransport } from './stream/file.ts';
import { tcpTransport } from './stream/tcp.ts';
import { usbTransport } from './stream/usb.ts';
import { Transports } from './transports.ts';

export const standardTransports = new Transports([
  tcpTransport,
  usbTransport,
  fileTransport,
  ippTransport,
  ippsTransport,
  cupsTransport,
  lpdTransport,
  winspoolTransport,
]);
