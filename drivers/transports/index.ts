/**
 * The transports. To add one, write a file that describes it (`TransportTraits`), and add a line here. The file goes into
 * `stream/` if devices take bytes, or into `document/` if they take documents and keep jobs of their own. No other code names
 * a transport.
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
