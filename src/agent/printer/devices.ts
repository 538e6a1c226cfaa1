/** Makes the device for a driver choice. The address decides whether the device takes bytes or documents. */
import { TransportError } from '../../../drivers/connection.ts';
import type { AgentConfig } from '../config.ts';
import type { ChosenDriver } from '../discovery/provider.ts';
import type { Drivers } from '../drivers.ts';
import { type Certificates, noCertificates } from './certificates.ts';
import { DocumentDevice } from './document-device.ts';
import { DocumentLink } from './document-link.ts';
import type { PrinterDevice } from './printer-device.ts';
import { StreamDevice } from './stream-device.ts';
import { StreamLink } from './stream-link.ts';

export function deviceFor(
  driver: ChosenDriver,
  { timings, transport, access }: Pick<AgentConfig, 'timings' | 'transport' | 'access'>,
  drivers: Drivers,
  certificates: Certificates = noCertificates,
): PrinterDevice {
  const { uri, language } = driver;
  const { transports } = drivers;
  if (!transports.takesDocuments(uri)) {
    return new StreamDevice({
      uri,
      open: (address, signal) => transports.open(address, signal, transport),
      dialect: drivers.dialectFor(language),
      link: (device, options) => new StreamLink(device, options),
      idleMs: timings.idleConnection,
      unfinishedMs: timings.vanished,
    });
  }
  return new DocumentDevice({
    uri,
    certificates,
    transports,
    link: (device, options) => new DocumentLink(device, options),
    open: (address) => {
      const { host, hostname } = new URL(transports.unaliased(address).toLowerCase());
      const entry = access.find((one) => [host, hostname].includes(one.host));
      const port = transports.documents(address, transport, entry ?? {});
      if (port === null) throw new TransportError('address-invalid', 'it takes no documents');
      return port;
    },
  });
}
