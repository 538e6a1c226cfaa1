/** A directory that looks like `/sys` to what reads USB printers: the files and links that Linux makes. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { onTestFinished } from 'vitest';

export interface PluggedIn {
  /** `lp0` */
  node: string;
  /** `1-1.2` */
  port: string;
  vendor?: string;
  product?: string;
  serial?: string;
  deviceId?: string | Buffer;
}

export class FakeSysfs {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  async plug({ node, port, vendor = '0a5f', product = '0166', serial, deviceId }: PluggedIn): Promise<void> {
    const device = join(this.root, 'devices', 'pci0000:00', 'usb1', port);
    const usbInterface = join(device, `${port}:1.0`);
    await mkdir(join(usbInterface, 'usbmisc', node), { recursive: true });
    await writeFile(join(device, 'idVendor'), `${vendor}\n`);
    await writeFile(join(device, 'idProduct'), `${product}\n`);
    if (serial !== undefined) await writeFile(join(device, 'serial'), `${serial}\n`);
    if (deviceId !== undefined) await writeFile(join(usbInterface, 'ieee1284_id'), deviceId);
    await symlink(`../../../${port}:1.0`, join(usbInterface, 'usbmisc', node, 'device'));
    const shown = join(this.root, 'class', 'usbmisc');
    await mkdir(shown, { recursive: true });
    await symlink(relative(shown, join(usbInterface, 'usbmisc', node)), join(shown, node));
  }

  async unplug({ node, port }: Pick<PluggedIn, 'node' | 'port'>): Promise<void> {
    await rm(join(this.root, 'class', 'usbmisc', node));
    await rm(join(this.root, 'devices', 'pci0000:00', 'usb1', port), { recursive: true });
  }
}

export async function fakeSysfs(...printers: PluggedIn[]): Promise<FakeSysfs> {
  const root = await mkdtemp(join(tmpdir(), 'platen-sysfs-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const sysfs = new FakeSysfs(root);
  for (const printer of printers) await sysfs.plug(printer);
  return sysfs;
}
