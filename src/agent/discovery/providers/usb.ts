/** USB printers that are plugged into this machine now (Linux, usblp). Their addresses name the device, not `lpN`. */

import { z } from 'zod';
import { usbAddress, usbPrinters } from '../../../../drivers/transports/stream/usb-sysfs.ts';
import { believableSerial, type Evidence, evidenceOfDeviceId } from '../evidence.ts';
import { nameOf } from '../fingerprints.ts';
import { type DiscoveryProvider, providerKind, type Sighting } from '../provider.ts';

export const usb = providerKind({
  settings: {
    /** What is plugged into this machine (Linux). */
    usb: z.boolean().default(false),
  },
  asked: (config) => (config.usb ? [usbDiscovery()] : []),
});

interface UsbDiscoveryOptions {
  /** `/sys`, or another directory in its place. */
  sysfs?: string;
}

export function usbDiscovery(options: UsbDiscoveryOptions = {}): DiscoveryProvider {
  const find = async (signal: AbortSignal): Promise<Sighting[]> => {
    signal.throwIfAborted();
    const all = await usbPrinters(options.sysfs ?? '/sys');
    signal.throwIfAborted();
    const sightings = all
      // A placeholder for a serial number does not tell devices apart; the USB socket does.
      .map((printer) => ({ ...printer, serial: believableSerial(printer.serial) }))
      .map((printer, _, believable): Sighting => {
        const uri = usbAddress(printer, believable);
        const said = evidenceOfDeviceId(printer.deviceId);
        const serial = uri.includes('/serial/') ? printer.serial : undefined;
        return { uri, ...nameIn(said), evidence: { ...said, ...(serial !== undefined && { serial }) } };
      });
    return sightings.filter(({ uri }, index) => sightings.findIndex((other) => other.uri === uri) === index);
  };
  return {
    id: 'usb',
    // A printer that is only switched off is not listed either, and comes back later.
    exhaustive: false,
    near: true,
    find,
  };
}

function nameIn({ make, model }: Evidence): { name?: string } {
  const name = nameOf(make, model).slice(0, 200);
  return name === '' ? {} : { name };
}
