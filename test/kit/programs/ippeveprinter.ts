/**
 * The PWG's sample IPP Everywhere printer (`ippeveprinter`, part of CUPS), which keeps what it prints.
 *
 * It wants a D-Bus to find Avahi on, even when it is told not to announce itself; a private, empty bus is enough.
 */

import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../wire/listening.ts';
import type { Avahi } from './avahi.ts';
import { startBus } from './bus.ts';
import type { Network } from './network.ts';
import { OwnPrograms } from './programs.ts';

export interface Ippeveprinter {
  uri: string;
  /** The documents it has printed, in order. */
  printed(): Buffer[];
  stop(): Promise<void>;
}

export interface IppeveprinterOptions {
  /** Media types that it takes, besides `application/octet-stream`, which it cannot do without. */
  formats?: readonly string[];
  /** Where it announces itself; by default it runs on the loopback interface, and does not. */
  site?: { network: Network; avahi: Avahi };
}

/** @param reason a `printer-state-reasons` keyword that it shows from its first job on; at `media-empty` it stops printing */
export async function startIppeveprinter(
  reason: string,
  { formats = ['application/pdf', 'application/vnd.zebra-zpl'], site }: IppeveprinterOptions = {},
): Promise<Ippeveprinter> {
  const programs = new OwnPrograms('eve');
  const { root, stop } = programs;
  const spool = join(root, 'spool');
  const out = join(root, 'out');
  // Otherwise its certificate is one file for the whole machine, which others that start meanwhile overwrite.
  const keys = join(root, 'keys');
  for (const directory of [spool, out, keys]) mkdirSync(directory);
  const command = join(root, 'print.sh');
  writeFileSync(
    command,
    `#!/bin/sh\necho "STATE: +${reason}" >&2\ncp "$1" "${out}/part" && mv "${out}/part" "${out}/$(date +%s%N)"\n`,
  );
  chmodSync(command, 0o755);
  const port = await freePort();
  // With `-n` it listens on that name's address only, so in a site's network it has none.
  const where = site === undefined ? ['-r', 'off', '-n', 'localhost'] : [];
  const uri = `ipp://${site?.network.inside ?? 'localhost'}:${port}/ipp/print`;
  await programs.up(async () => {
    const env = site?.avahi.environment ?? (await startBus(programs, root));
    const printer = programs.start(
      'ippeveprinter',
      ['-p', String(port), ...where, '-M', 'Zebra', '-m', 'ZD421', '-d', spool, '-K', keys].concat(
        ['-c', command, '-f', [...formats, 'application/octet-stream'].join()],
        ['Sample'],
      ),
      { env, within: site?.network.within ?? [] },
    );
    await printer.until(() =>
      fetch(uri.replace('ipp:', 'http:'), { signal: AbortSignal.timeout(2_000) }).then(
        () => true,
        () => false,
      ),
    );
  });
  return {
    uri,
    printed: () =>
      readdirSync(out)
        .sort()
        .map((file) => readFileSync(join(out, file))),
    stop,
  };
}
