/**
 * USB printers as Linux shows them: `/sys/class/usbmisc/lpN`, by the kernel's `usblp` driver.
 *
 * `lpN` only says in which order printers were plugged in. So an address names the device instead:
 *
 *   usb://<vendor>/<product>/serial/<serial>   wherever it is plugged in
 *   usb://<vendor>/<product>/port/<1-1.2>      for a device without a serial number, or with one that two
 *                                              devices of its kind share: the socket it is plugged into
 *
 * Vendor and product are the four hexadecimal digits of the USB IDs. The text in sysfs comes from the device itself, so its
 * length is bounded here. It may change or go away between one file and the next.
 * Source: Linux, Documentation/ABI/testing/sysfs-bus-usb, drivers/usb/class/usblp.c, drivers/usb/core/file.c.
 */
import { open, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { plainText } from '../device-id.ts';

interface UsbPrinter {
  /** `lp0`: the present name of the node. */
  node: string;
  /** Four lower-case hexadecimal digits. */
  vendor: string;
  product: string;
  serial: string | undefined;
  /** `1-1.2`: bus and ports. */
  port: string;
  /** IEEE 1284 device ID, as the device gave it; empty: it gave none. */
  deviceId: string;
}

/** Longest file that is read, bytes: sysfs files are one page. */
const LONGEST = 4_096;
/** Most nodes that are read. The kernel makes up to 256, not 16 as usblp says. */
const MOST = 64;

/** @param sysfs `/sys`, or a test's directory in its place */
export async function usbPrinters(sysfs: string): Promise<UsbPrinter[]> {
  const directory = join(sysfs, 'class', 'usbmisc');
  const names = await readdir(directory).catch(() => []);
  const nodes = names.filter((name) => /^lp\d{1,4}$/.test(name)).sort((a, b) => order(a) - order(b));
  const found = await Promise.all(
    nodes.slice(0, MOST).map((node) => readPrinter(node, join(directory, node)).catch(() => undefined)),
  );
  return found.filter((printer) => printer !== undefined);
}

/** The address of a printer. @param all every printer that is connected */
export function usbAddress(printer: UsbPrinter, all: readonly UsbPrinter[]): string {
  const { vendor, product, serial, port } = printer;
  const alike = all.filter(
    (other) =>
      other.port !== port &&
      other.vendor === vendor &&
      other.product === product &&
      other.serial?.toUpperCase() === serial?.toUpperCase(),
  );
  return serial === undefined || alike.length > 0
    ? `usb://${vendor}/${product}/port/${port}`
    : `usb://${vendor}/${product}/serial/${encodeURIComponent(serial)}`;
}

async function readPrinter(node: string, directory: string): Promise<UsbPrinter | undefined> {
  // `device` is the interface (1-1.2:1.0); the USB device (1-1.2) is its parent.
  const usbInterface = await realpath(join(directory, 'device'));
  const device = dirname(usbInterface);
  const [vendor, product, serial, deviceId] = await Promise.all([
    text(join(device, 'idVendor')),
    text(join(device, 'idProduct')),
    text(join(device, 'serial')),
    text(join(usbInterface, 'ieee1284_id')),
  ]);
  const port = basename(device);
  if (!isId(vendor) || !isId(product) || !/^\d+-\d+(?:\.\d+)*$/.test(port)) return undefined;
  return {
    node,
    vendor: vendor.toLowerCase(),
    product: product.toLowerCase(),
    serial: serial === '' ? undefined : serial.slice(0, 126),
    port,
    deviceId,
  };
}

function isId(text: string): boolean {
  return /^[0-9a-f]{4}$/i.test(text);
}

function order(node: string): number {
  return Number(node.slice(2));
}

/** The text of a file, one page at most; empty if the file cannot be read. */
async function text(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST), 0, LONGEST, 0);
    return plainText(buffer.toString('utf8', 0, bytesRead));
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
