/**
 * The printers of the Windows spooler, those of this computer and those that its user is connected to.
 *
 * A printer there is a queue: its name says nothing of the device behind it, and its port (`USB001`, `IP_10.0.0.7`)
 * only what was set up once. What it speaks, the driver's name tells (`ZDesigner ZD421-203dpi ZPL`), where the model
 * is in a table. On other systems there are none.
 * Source: Microsoft, Print Spooler API, EnumPrinters.
 */
import { plainText } from '../../../drivers/transports/device-id.ts';
import { orAborted, within } from '../../../drivers/transports/pauses.ts';
import { TransportError } from '../../../drivers/transports/transport.ts';
import { winspoolAddress } from '../../../drivers/transports/winspool.ts';
import { listPrinters, type PrinterInfo } from '../../../drivers/transports/winspool-api.ts';
import { queueOf } from './evidence.ts';
import type { DiscoveryProvider, Finding } from './provider.ts';

export interface WinspoolDiscoveryOptions {
  /** How long the spooler may take to answer, ms. */
  timeout?: number;
}

export function winspoolDiscovery({ timeout = 5_000 }: WinspoolDiscoveryOptions = {}): DiscoveryProvider {
  const find = async (signal: AbortSignal): Promise<Finding[]> => {
    signal.throwIfAborted();
    if (process.platform !== 'win32') return [];
    const late = () => new TransportError('query-timeout', `the spooler, ${timeout} ms`);
    const printers = await orAborted(within(listPrinters(), timeout, late), signal);
    return printers.flatMap(findingOf);
  };
  return {
    id: 'winspool',
    // The list is complete, but a printer that was deleted may be added again: offline, until it is dropped.
    exhaustive: false,
    near: true,
    find,
  };
}

/** None for a printer without a name. */
export function findingOf({ pPrinterName, pDriverName }: PrinterInfo): Finding[] {
  const uri = winspoolAddress(pPrinterName ?? '');
  const name = plainText(pPrinterName ?? '')
    .slice(0, 200)
    .trim();
  if (name === '' || uri.length > 500) return [];
  const model = plainText(pDriverName ?? '')
    .slice(0, 200)
    .trim();
  return [{ uri, name, evidence: { queue: queueOf(uri), ...(model !== '' && { model }) } }];
}
