/**
 * The PWG's sample IPP Everywhere printer (`ippeveprinter`, part of CUPS), which keeps what it prints.
 *
 * It wants a D-Bus to find Avahi on, even when it is told not to announce itself; a private, empty bus is enough.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './cupsd.ts';

export interface Ippeveprinter {
  uri: string;
  /** The documents it has printed, in order. */
  printed(): Buffer[];
  stop(): Promise<void>;
}

/** @param reason a `printer-state-reasons` keyword that it shows from its first job on; at `media-empty` it stops printing */
export async function startIppeveprinter(reason: string): Promise<Ippeveprinter> {
  const root = mkdtempSync(join(tmpdir(), 'platen-test-eve-'));
  const spool = join(root, 'spool');
  const out = join(root, 'out');
  mkdirSync(spool);
  mkdirSync(out);
  const bus = join(root, 'bus');
  writeFileSync(
    join(root, 'dbus.conf'),
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${bus}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
`,
  );
  const command = join(root, 'print.sh');
  writeFileSync(
    command,
    `#!/bin/sh\necho "STATE: +${reason}" >&2\ncp "$1" "${out}/part" && mv "${out}/part" "${out}/$(date +%s%N)"\n`,
  );
  chmodSync(command, 0o755);
  const running: ChildProcess[] = [];
  const stop = async () => {
    for (const child of running.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    rmSync(root, { recursive: true, force: true });
  };
  const port = await freePort();
  const uri = `ipp://localhost:${port}/ipp/print`;
  try {
    const daemon = spawn(
      'dbus-daemon',
      [`--config-file=${join(root, 'dbus.conf')}`, '--nofork', '--nopidfile'],
      {
        stdio: 'ignore',
      },
    );
    running.push(daemon);
    await until('dbus-daemon', daemon, async () => existsSync(bus));
    const formats = 'application/pdf,application/vnd.zebra-zpl,application/octet-stream';
    const printer = spawn(
      'ippeveprinter',
      ['-p', String(port), '-r', 'off', '-n', 'localhost', '-M', 'Zebra', '-m', 'ZD421', '-d', spool].concat(
        ['-c', command, '-f', formats],
        ['Sample'],
      ),
      { stdio: 'ignore', env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${bus}` } },
    );
    running.push(printer);
    await until('ippeveprinter', printer, () =>
      fetch(`http://localhost:${port}/`, { signal: AbortSignal.timeout(2_000) }).then(
        () => true,
        () => false,
      ),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    uri,
    printed: () =>
      readdirSync(out)
        .sort()
        .map((file) => readFileSync(join(out, file))),
    stop,
  };
}

async function until(name: string, child: ChildProcess, ready: () => Promise<boolean>): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const deadline = Date.now() + 20_000;
  while (!(await ready())) {
    if (failure || child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`${name} did not start`, { cause: failure });
    }
    await wait(20);
  }
}
