/** A private CUPS server on a loopback port: everything it has is in a directory of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Cupsd {
  port: number;
  /** Adds a raw queue that sends to `device`: `socket://127.0.0.1:9100`. */
  addQueue(name: string, device: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startCupsd(): Promise<Cupsd> {
  const root = mkdtempSync(join(tmpdir(), 'platen-test-cups-'));
  // CUPS runs its backends as another user.
  chmodSync(root, 0o755);
  const directory = (name: string) => {
    const path = join(root, name);
    mkdirSync(path);
    return path;
  };
  const port = await freePort();
  const files = join(root, 'cups-files.conf');
  writeFileSync(
    files,
    [
      `ServerRoot ${directory('etc')}`,
      `StateDir ${directory('state')}`,
      `CacheDir ${directory('cache')}`,
      `RequestRoot ${directory('spool')}`,
      `TempDir ${directory('tmp')}`,
      `AccessLog ${join(root, 'access.log')}`,
      `ErrorLog ${join(root, 'error.log')}`,
      `PageLog ${join(root, 'page.log')}`,
      'FileDevice Yes',
      'Sandboxing relaxed',
    ].join('\n'),
  );
  const configuration = join(root, 'cupsd.conf');
  writeFileSync(
    configuration,
    [
      `Listen 127.0.0.1:${port}`,
      'Browsing No',
      'DefaultAuthType None',
      'IdleExitTimeout 0',
      'WebInterface No',
      '<Location />',
      '  Order allow,deny',
      '  Allow all',
      '</Location>',
      '<Policy default>',
      '  <Limit All>',
      '    Order deny,allow',
      '  </Limit>',
      '</Policy>',
    ].join('\n'),
  );
  const server = spawn('/usr/sbin/cupsd', ['-f', '-c', configuration, '-s', files], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
    }
    rmSync(root, { recursive: true, force: true });
  };
  const command = (program: string, args: string[]) => run(program, ['-h', `127.0.0.1:${port}`, ...args]);
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      await command('lpstat', ['-r']).then(({ stdout }) => {
        if (!stdout.includes('is running')) throw new Error(stdout);
      });
      break;
    } catch (error) {
      if (Date.now() > deadline || server.exitCode !== null) {
        const log = readFileSync(join(root, 'error.log'), 'utf8').slice(-2_000);
        await stop();
        throw new Error(`cupsd did not start: ${log}`, { cause: error });
      }
      await wait(50);
    }
  }
  return {
    port,
    addQueue: async (name, device) => {
      await command('lpadmin', ['-p', name, '-E', '-v', device, '-m', 'raw']);
    },
    stop,
  };
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}
