/**
 * A private Avahi on the loopback interface, with a D-Bus of its own: the DNS-SD responder that most Linux print
 * servers use.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Avahi {
  /** What a program finds it with. */
  environment: NodeJS.ProcessEnv;
  /** Announces a service until the returned function is called: `name`, `_ipp._tcp`, port, TXT strings. */
  publish(name: string, type: string, port: number, txt?: string[]): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export async function startAvahi(): Promise<Avahi> {
  const root = mkdtempSync(join(tmpdir(), 'platen-test-avahi-'));
  chmodSync(root, 0o755);
  const bus = join(root, 'bus');
  writeFileSync(
    join(root, 'dbus.conf'),
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${bus}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>
`,
  );
  writeFileSync(
    join(root, 'avahi.conf'),
    [
      '[server]',
      'host-name=platen-test',
      'use-ipv4=yes',
      'use-ipv6=no',
      'allow-interfaces=lo',
      'disallow-other-stacks=no',
      '[publish]',
      'publish-workstation=no',
      'publish-hinfo=no',
      '[reflector]',
      '[rlimits]',
    ].join('\n'),
  );
  const environment = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${bus}` };
  const running: ChildProcess[] = [];
  const start = (program: string, args: string[]) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
    running.push(child);
    let said = '';
    const keep = (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-4_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => keep(Buffer.from(error.message)));
    return { child, said: () => said };
  };
  const stop = async () => {
    for (const child of running.reverse()) await end(child);
    rmSync(root, { recursive: true, force: true });
  };
  try {
    const daemon = start('dbus-daemon', [
      `--config-file=${join(root, 'dbus.conf')}`,
      '--nofork',
      '--nopidfile',
    ]);
    await until('dbus-daemon', daemon, () => existsSync(bus));
    const avahi = start('avahi-daemon', [
      '-f',
      join(root, 'avahi.conf'),
      '--no-drop-root',
      '--no-chroot',
      '--no-rlimits',
    ]);
    await until('avahi-daemon', avahi, async () => {
      if (!avahi.said().includes('Server startup complete')) return false;
      await run('avahi-browse', ['-at'], { env: environment });
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    environment,
    publish: async (name, type, port, txt = []) => {
      const publisher = start('avahi-publish', ['-s', name, type, String(port), ...txt]);
      await until('avahi-publish', publisher, () => publisher.said().includes('Established'));
      return () => end(publisher.child);
    },
    stop,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function until(
  name: string,
  { child, said }: { child: ChildProcess; said: () => string },
  ready: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await ready())) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${name} did not start: ${said()}`);
    await wait(20);
  }
}
