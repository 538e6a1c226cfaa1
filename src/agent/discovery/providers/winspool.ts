/**
 * The printers of the Windows spooler: those of this computer, and those that its user is connected to. On other systems there
 * are none.
 *
 * A printer of the spooler is a queue. Neither its name nor the name of its port (`USB001`) says which device is behind it;
 * only a TCP/IP port has an address. What the device speaks follows from the name of the driver
 * (`ZDesigner ZD421-203dpi ZPL`), if the model is in a table.
 * Source: Microsoft, Print Spooler API, EnumPrinters.
 */

import { z } from 'zod';
import { TransportError } from '../../../../drivers/connection.ts';
import { plainText } from '../../../../drivers/transports/device-id.ts';
import { winspoolAddress } from '../../../../drivers/transports/document/winspool.ts';
import { listPrinters, type PrinterInfo } from '../../../../drivers/transports/document/winspool-api.ts';
import { addressOfPort } from '../../../../drivers/transports/document/winspool-ports.ts';
import { orAborted, within } from '../../../../drivers/transports/pauses.ts';
import { evidenceOfDeviceUri } from '../evidence.ts';
import { type DiscoveryProvider, providerKind, type Sighting } from '../provider.ts';

export const winspool = providerKind({
  settings: {
    winspool: z.boolean().default(false),
  },
  asked: (config) => (config.winspool ? [winspoolDiscovery()] : []),
});

interface WinspoolDiscoveryOptions {
  /** How long the spooler may take to answer, ms. */
  timeout?: number;
}

export function winspoolDiscovery({ timeout = 5_000 }: WinspoolDiscoveryOptions = {}): DiscoveryProvider {
  const find = async (signal: AbortSignal): Promise<Sighting[]> => {
    signal.throwIfAborted();
    if (process.platform !== 'win32') return [];
    const late = () => new TransportError('query-timeout', `the spooler, ${timeout} ms`);
    const listed = async () => {
      const printers = await listPrinters();
      return await Promise.all(printers.map(async (printer) => sightingOf(printer, await deviceOf(printer))));
    };
    return (await orAborted(within(listed(), timeout, late), signal)).flat();
  };
  return {
    id: 'winspool',
    // The list is complete, but a deleted printer may be added again. Until then it is offline, and dropped in the end.
    exhaustive: false,
    near: true,
    find,
  };
}

async function deviceOf({ pPortName }: PrinterInfo): Promise<string | null> {
  return pPortName === null ? null : await addressOfPort(pPortName);
}

/** Empty for a printer without a name. @param deviceUri where the printer's port leads; null: that is not known */
export function sightingOf({ pPrinterName, pDriverName }: PrinterInfo, deviceUri: string | null): Sighting[] {
  const uri = winspoolAddress(pPrinterName ?? '');
  const name = plainText(pPrinterName ?? '')
    .slice(0, 200)
    .trim();
  if (name === '' || uri.length > 500) return [];
  const model = plainText(pDriverName ?? '')
    .slice(0, 200)
    .trim();
  const evidence = {
    queue: uri,
    ...(model !== '' && { model }),
    ...evidenceOfDeviceUri(deviceUri ?? ''),
  };
  return [{ uri, name, evidence }];
}
