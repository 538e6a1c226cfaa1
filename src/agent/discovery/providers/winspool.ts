/**
 * The printers of the Windows spooler, those of this computer and those that its user is connected to.
 *
 * A printer there is a queue: its name says nothing of the device behind it, nor does its port's (`USB001`), but for
 * a TCP/IP port, which has an address. What it speaks, the driver's name tells (`ZDesigner ZD421-203dpi ZPL`), where the model
 * is in a table. On other systems there are none.
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
    // The list is complete, but a printer that was deleted may be added again: offline, until it is dropped.
    exhaustive: false,
    near: true,
    find,
  };
}

async function deviceOf({ pPortName }: PrinterInfo): Promise<string | null> {
  return pPortName === null ? null : await addressOfPort(pPortName);
}

/** None for a printer without a name. @param deviceUri where its port leads, if that is known */
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
