/**
 * A private Avahi on the loopback interface, or in a network of the test's, with a D-Bus of its own: the DNS-SD
 * responder that most Linux print servers use.
 */
import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startBus } from './bus.ts';
import type { Network } from './network.ts';
import { OwnPrograms } from './programs.ts';

const run = promisify(execFile);
/** Gives Avahi its own /run/avahi-daemon: by its process ID file, only one could run on this machine. */
const OWN_RUN = 'mkdir -p /run/avahi-daemon && mount -t tmpfs none /run/avahi-daemon && exec "$0" "$@"';

export interface Avahi {
  /** The environment in which a program finds this Avahi. */
  environment: NodeJS.ProcessEnv;
  /** Announces a service until the returned function is called: `name`, `_ipp._tcp`, port, TXT strings. */
  publish(
    name: string,
    type: string,
    port: number,
    txt?: string[],
    host?: string,
  ): Promise<() => Promise<void>>;
  /** Announces a host's address: `printer.local`. */
  publishAddress(host: string, address: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startAvahi(network?: Network): Promise<Avahi> {
  const programs = new OwnPrograms('avahi');
  const { root, stop } = programs;
  chmodSync(root, 0o755);
  const configuration = join(root, 'avahi.conf');
  writeFileSync(
    configuration,
    [
      '[server]',
      'host-name=platen-test',
      'use-ipv4=yes',
      'use-ipv6=no',
      `allow-interfaces=${network?.interface ?? 'lo'}`,
      'disallow-other-stacks=no',
      '[publish]',
      'publish-workstation=no',
      'publish-hinfo=no',
      '[reflector]',
      '[rlimits]',
    ].join('\n'),
  );
  return await programs.up(async () => {
    const environment = await startBus(programs, root);
    const start = (program: string, args: string[]) =>
      programs.start(program, args, { env: environment, within: network?.within ?? [] });
    const daemon = start('unshare', [
      ...['--mount', 'sh', '-c', OWN_RUN, 'avahi-daemon', '-f', configuration],
      ...['--no-drop-root', '--no-chroot', '--no-rlimits'],
    ]);
    await daemon.until(async () => {
      if (!daemon.said().includes('Server startup complete')) return false;
      await run('avahi-browse', ['-at'], { env: environment });
      return true;
    });
    const publish = async (...args: string[]) => {
      const publisher = start('avahi-publish', args);
      await publisher.until(() => publisher.said().includes('Established'));
      return publisher;
    };
    return {
      environment,
      publish: async (name, type, port, txt = [], host) => {
        const at = host === undefined ? [] : ['-H', host];
        const publisher = await publish('-s', ...at, name, type, String(port), ...txt);
        return () => publisher.end();
      },
      publishAddress: async (host, address) => void (await publish('-a', '-R', host, address)),
      stop,
    };
  });
}
