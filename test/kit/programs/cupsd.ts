/** A private CUPS server on a loopback port, or in a network of the test's: everything it has is in a directory of its own. */

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../wire/listening.ts';
import type { Avahi } from './avahi.ts';
import type { Network } from './network.ts';
import { OwnPrograms } from './programs.ts';

const run = promisify(execFile);

export interface Cupsd {
  port: number;
  /**
   * Adds a queue that sends to `device`: `socket://127.0.0.1:9100`.
   * @param driver one of `lpinfo -m`, by default none: what it is given goes to the device as it is
   */
  addQueue(name: string, device: string, driver?: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param site a network whose print server it is: on CUPS's own port, its queues shared and announced */
export async function startCupsd(site?: { network: Network; avahi: Avahi }): Promise<Cupsd> {
  const programs = new OwnPrograms('cups');
  const { root, stop } = programs;
  // CUPS runs its backends as another user.
  chmodSync(root, 0o755);
  const directory = (name: string) => {
    const path = join(root, name);
    mkdirSync(path);
    return path;
  };
  // CUPS runs its filters as another user too, and they write there.
  const temporary = directory('tmp');
  chmodSync(temporary, 0o1777);
  const port = site === undefined ? await freePort() : 631;
  const files = join(root, 'cups-files.conf');
  const errors = join(root, 'error.log');
  writeFileSync(
    files,
    [
      `ServerRoot ${directory('etc')}`,
      `StateDir ${directory('state')}`,
      `CacheDir ${directory('cache')}`,
      `RequestRoot ${directory('spool')}`,
      `TempDir ${temporary}`,
      `AccessLog ${join(root, 'access.log')}`,
      `ErrorLog ${errors}`,
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
      ...(site === undefined
        ? ['Browsing No']
        : [
            `Listen ${site.network.inside}:${port}`,
            'ServerAlias *',
            'Browsing Yes',
            'BrowseLocalProtocols dnssd',
            'DefaultShared Yes',
          ]),
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
  const within = site?.network.within ?? [];
  const command = (program: string, args: string[]) => {
    const [first = program, ...rest] = [...within, program, '-h', `127.0.0.1:${port}`, ...args];
    return run(first, rest);
  };
  const server = programs.start('/usr/sbin/cupsd', ['-f', '-c', configuration, '-s', files], {
    env: site?.avahi.environment ?? process.env,
    within,
  });
  const runs = () =>
    command('lpstat', ['-r']).then(
      ({ stdout }) => stdout.includes('is running'),
      () => false,
    );
  await programs.up(() =>
    server.until(runs).catch((cause: unknown) => {
      const log = existsSync(errors) ? readFileSync(errors, 'utf8').slice(-2_000) : '';
      throw new Error(`cupsd did not start: ${log}`, { cause });
    }),
  );
  return {
    port,
    addQueue: async (name, device, driver = 'raw') => {
      await command('lpadmin', ['-p', name, '-E', '-v', device, '-m', driver]);
    },
    stop,
  };
}
