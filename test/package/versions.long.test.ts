/**
 * A machine that lays its versions side by side, by the very commands of docs/update.md: unpacked, made a service, printing,
 * updated under systemd while a job prints, back from a version that does not come up, and taken away again.
 */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packArchive } from '../../service/package/archive.ts';
import { layOut, settle } from '../../service/package/layout.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import { dockPrinter } from './dock-printer.ts';
import { Machine } from './machine.ts';
import { commandsOf } from './page.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/update.md');
/** Its section. */
const FROM_ARCHIVE = 'From an archive';
const TIME = new Date('2026-11-01T12:00:00Z');
const out = mkdtempSync(join(tmpdir(), 'platen-side-by-side-'));
const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const printer = dockPrinter(out);
let machine: Machine;
let backend: OpenBackend;
let up: PlatenUp;
let template: string;
let bad: string;

/** An archive of what is in a directory. @returns its manifest's name */
function archiveOf(version: string, fill: (directory: string) => void): string {
  const stage = mkdtempSync(join(out, 'stage-'));
  const directory = join(stage, version);
  fill(directory);
  rmSync(join(directory, 'package.json'), { force: true });
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'platen-agent', version, type: 'module' }),
  );
  const build = { out, version, time: TIME, signingKey: privateKey, level: 1 };
  const [, manifest = ''] = packArchive(stage, 'platen-agent', build);
  rmSync(stage, { recursive: true });
  return manifest;
}

/** A version that says that it works, until it is to run. */
function fillBad(directory: string): void {
  mkdirSync(join(directory, 'bin'), { recursive: true });
  mkdirSync(join(directory, 'app'));
  const program = '#!/bin/sh\n[ "$1" = --version ] && echo 0.3.0\n[ "$1" = agent ] && exit 1\nexit 0\n';
  for (const name of ['platen', 'node'])
    writeFileSync(join(directory, 'bin', name), program, { mode: 0o755 });
}

// A machine is made of mounts and namespaces.
describe.skipIf(process.getuid?.() !== 0)('versions side by side', () => {
  beforeAll(async () => {
    const starting = Machine.start();
    try {
      const first = join(out, '0.1.0');
      await layOut({ root: ROOT, edition: 'agent', version: '0.1.0', into: first });
      cpSync(join(ROOT, 'service/package/launch'), join(first, 'bin/launch'));
      writeFileSync(join(first, 'update-key.pem'), publicKey);
      settle(first, TIME);
      // Before anybody talks to the service: nothing else runs here while they are made.
      for (const version of ['0.1.0', '0.2.0']) {
        archiveOf(version, (directory) => void execFileSync('cp', ['-al', first, directory]));
      }
      bad = archiveOf('0.3.0', fillBad);
      backend = await onRedis().open({ migrated: true });
      await printer.start();
      const { databaseUrl = '', redisUrl = '', prefix } = backend;
      const env = { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, PLATEN_QUEUE_PREFIX: prefix };
      up = await PlatenUp.start({ dataDir: join(out, 'service'), args: ['--virtual', '0'], env });
      const element = { type: 'text', x: 2, y: 2, width: 40, height: 8, size: 5, text: 'side by side' };
      template = (
        await up.admin.importTemplate('default', { name: 'x', width: 50, height: 25, elements: [element] })
      ).id;
    } finally {
      machine = await starting;
    }
    for (const port of [printer.port, Number(new URL(backend.redisUrl ?? '').port)])
      await machine.reach(port);
    for (const file of readdirSync(out).filter((name) => /\.(update\.json|tar\.gz)$/.test(name))) {
      copyFileSync(join(out, file), join(machine.root, 'root', file));
    }
  }, 600_000);

  afterAll(async () => {
    await machine?.stop();
    await up?.stop();
    await printer.stop();
    await backend?.close();
    rmSync(out, { recursive: true, force: true });
  }, 60_000);

  async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
    const deadline = AbortSignal.timeout(90_000);
    while (!(await condition())) {
      if (deadline.aborted) throw new Error(`not within 90 s: ${what}`);
      await pause(100);
    }
  }

  /**
   * Does what the page says from an archive, in the directory in which it is; what is fetched from an address lies there too.
   * @param words of which a command has to have one
   */
  async function follow(...words: string[]): Promise<string[]> {
    const commands = commandsOf(PAGE, FROM_ARCHIVE).filter((command) =>
      words.some((word) => command.includes(word)),
    );
    expect(commands).toHaveLength(words.length);
    const said: string[] = [];
    for (const command of commands) {
      const here = command.replace('https://example.com/', '/root/');
      said.push(await machine.run('bash', '-c', `cd /root && ${here}`));
    }
    return said;
  }

  const printed = () => readdirSync(join(out, 'printed')).filter((name) => name.endsWith('.png')).length;

  test('unpacked as the page says, and as the page on installing does', async () => {
    const [unpack, install] = commandsOf(PAGE, FROM_ARCHIVE);
    expect(commandsOf(join(ROOT, 'docs/install-linux.md'), 'Without apt, or from a clone')).toEqual([
      unpack,
      install,
    ]);
    await follow('tar -xzf');
    expect(existsSync(join(machine.root, 'opt/platen/0.1.0/bin/platen'))).toBe(true);
  });

  test('only root makes it a service, and is told how', async () => {
    const program = '/opt/platen/0.1.0/bin/platen';
    await expect(machine.run('runuser', '-u', 'nobody', '--', program, 'service', 'install')).rejects.toThrow(
      `sudo ${program} service install agent`,
    );
  });

  test('its user could not run it: that is said, and nothing is started', async () => {
    await machine.run('sh', '-c', 'mkdir -m 700 /opt/closed && cp -a /opt/platen/0.1.0 /opt/closed/');
    await expect(machine.run('/opt/closed/0.1.0/bin/platen', 'service', 'install')).rejects.toThrow(
      /the user platen cannot run \/opt\/closed\/current\/bin\/platen \(.*\): have it where others can read it/,
    );
    expect(existsSync(join(machine.root, 'etc/systemd/system/platen-agent.service'))).toBe(false);
    await machine.run('rm', '-r', '/opt/closed', '/usr/local/bin/platen', '/etc/platen');
  }, 120_000);

  test('made a service, it waits for its configuration, and then prints', async () => {
    const [said] = await follow('service install');
    expect(said).toContain('/opt/platen/current leads to 0.1.0');
    expect(said).toContain('or set "redisUrl" in /etc/platen/agent.json');
    expect(await machine.run('stat', '-c', '%A %U %G', '/var/lib/platen', '/etc/platen/agent.json')).toBe(
      'drwx------ platen platen\n-rw-r----- root platen',
    );
    const { redisUrl, prefix: queuePrefix } = backend;
    const printers = [{ uri: `socket://127.0.0.1:${printer.port}`, name: 'dock' }];
    writeFileSync(
      join(machine.root, 'etc/platen/agent.json'),
      JSON.stringify({ redisUrl, queuePrefix, printers }),
    );
    await follow('systemctl start');
    await up.printerOnline('dock');
    const job = await up.admin.print('default', { idT: template, printer: 'dock' });
    expect(await up.ended(job)).toMatchObject({ status: 'printed' });
    const status = JSON.parse(await machine.run('platen', 'service', 'status', '--json'));
    expect(await machine.run('platen', 'service', 'install')).toContain('agent.json stays as it is');
    expect(status).toMatchObject({ unit: 'platen-agent', state: 'active', restarts: 0, atStart: 'enabled' });
    expect(await machine.run('ps', '-o', 'user=', '-p', String(status.process)).catch(() => 'platen')).toBe(
      'platen',
    );
  }, 120_000);

  /** Between its end and its start the service now waits for another unit, as it may for any that it is ordered after. */
  async function separateStopFromStart(): Promise<void> {
    const units = join(machine.root, 'etc/systemd/system');
    mkdirSync(join(units, 'platen-agent.service.d'), { recursive: true });
    writeFileSync(join(units, 'slow.service'), '[Service]\nType=oneshot\nExecStart=/bin/sleep 3\n');
    writeFileSync(
      join(units, 'platen-agent.service.d/slow.conf'),
      '[Unit]\nAfter=slow.service\n[Service]\nExecStopPost=+/bin/systemctl start --no-block slow.service\n',
    );
    await machine.run('systemctl', 'daemon-reload');
  }

  async function isBetween(): Promise<boolean> {
    const said = await machine.run('systemctl', 'show', 'platen-agent', '-p', 'ActiveState,Job');
    return said.includes('ActiveState=inactive') && said.includes('Job=');
  }

  test('updated in the middle of a job, no label is lost, and none printed twice', async () => {
    await separateStopFromStart();
    const before = printed();
    const job = await up.admin.print('default', { idT: template, printer: 'dock', numberCopies: 40 });
    await until('some labels are out', () => printed() > before + 2);
    expect(await follow('platen update')).toEqual(['0.1.0 → 0.2.0']);
    expect(await machine.run('platen', '--version')).not.toBe('');
    expect(await machine.run('readlink', '/opt/platen/current')).toBe('0.2.0');
    expect(await up.ended(job, 120_000)).toMatchObject({ status: 'printed' });
    expect(printed()).toBe(before + 40);
  }, 300_000);

  test('a version whose service somebody stops under way is not taken for bad', async () => {
    const args = ['/root/platen-agent_0.1.0_linux-x64.update.json', '--allow-older', '--json'];
    const updating = machine.run('platen', 'update', ...args);
    await until('the restart is half done', isBetween);
    await machine.run('systemctl', 'stop', 'platen-agent');
    expect(JSON.parse(await updating)).toEqual({ from: '0.2.0', to: '0.1.0', result: 'kept-unproven' });
    await machine.run('rm', '-r', '/etc/systemd/system/platen-agent.service.d');
    await machine.run('systemctl', 'daemon-reload');
    await machine.run('systemctl', 'start', 'platen-agent');
  }, 120_000);

  // As many in a row as PLATEN_TEST_UPDATES says, for a night.
  test('updated again and again, no version is taken back', async () => {
    const times = Number(process.env['PLATEN_TEST_UPDATES'] ?? 1);
    for (let time = 1; time <= times; time++) {
      const [from, to] = time % 2 === 1 ? ['0.1.0', '0.2.0'] : ['0.2.0', '0.1.0'];
      const manifest = `/root/platen-agent_${to}_linux-x64.update.json`;
      const said = await machine.run('platen', 'update', manifest, '--allow-older', '--json');
      expect(JSON.parse(said), `update ${time}`).toEqual({ from, to, result: 'updated' });
      if (time % 20 === 0) process.stderr.write(`${time} updates, none taken back\n`);
    }
    if (times % 2 === 0)
      await machine.run('platen', 'update', '/root/platen-agent_0.2.0_linux-x64.update.json');
  }, 43_200_000);

  test('a version that ends at once goes back by itself', async () => {
    await expect(machine.run('platen', 'update', `/root/${bad}`, '--patience', '40')).rejects.toThrow(
      'did-not-come-up',
    );
    expect(await machine.run('readlink', '/opt/platen/current')).toBe('0.2.0');
    const before = printed();
    const job = await up.admin.print('default', { idT: template, printer: 'dock' });
    expect(await up.ended(job)).toMatchObject({ status: 'printed' });
    expect(printed()).toBe(before + 1);
  }, 300_000);

  test('taken away, it leaves what it kept; purged, nothing', async () => {
    expect(await machine.run('/opt/platen/0.2.0/bin/platen', 'service', 'uninstall')).toContain('stay');
    expect(await machine.run('ls', '/var/lib/platen')).toContain('agent.db');
    await expect(machine.run('/opt/platen/0.2.0/bin/platen', 'service', 'status')).rejects.toThrow(
      'no service',
    );
    const opened = `exec 3</var/lib/platen/agent.db; sleep 600 >/dev/null 2>&1 & echo $! >/run/works.pid`;
    await machine.run('sh', '-c', opened);
    // As the package platen-agent would have left it, had it been here before.
    writeFileSync(join(machine.root, 'var/lib/dpkg/info/platen-agent.postrm'), '');
    expect(await machine.run('/opt/platen/0.2.0/bin/platen', 'service', 'install')).toContain(
      'keep a copy before you purge',
    );
    const said = await machine.run('/opt/platen/0.2.0/bin/platen', 'service', 'uninstall');
    const purge = /sudo (\S+ service uninstall --purge)/.exec(said)?.[1] ?? 'false';
    const pid = await machine.run('cat', '/run/works.pid');
    await expect(machine.run('sh', '-c', purge)).rejects.toThrow(`process ${pid} has files open`);
    await machine.run('sh', '-c', `kill ${pid}`);
    await until('it has ended', async () =>
      (await machine.run('sh', '-c', `kill -0 ${pid} 2>/dev/null || echo gone`)).includes('gone'),
    );
    await machine.run('sh', '-c', purge);
    const left =
      'ls -d /var/lib/platen /etc/platen /etc/systemd/system/platen* /usr/local/bin/platen 2>/dev/null || true';
    expect(await machine.run('sh', '-c', left)).toBe('');
  }, 120_000);
});
