/**
 * The container image, by a program that reads images and by its own root: in namespaces, as the image says that it is to
 * be run, with a root that nobody can write. Podman's runtimes do not start on every machine of the tests.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { image } from '../../service/package/image.ts';
import { freePort } from '../kit/wire/listening.ts';
import { dockPrinter } from './dock-printer.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const time = new Date('2026-11-01T12:00:00Z');
const out = mkdtempSync(join(tmpdir(), 'platen-image-'));
const [layout, data, copy] = [join(out, 'root'), join(out, 'data'), join(out, 'copy')];
const printer = dockPrinter(out);

const imageConfig = z.object({
  architecture: z.string(),
  config: z.object({
    User: z.string(),
    Env: z.array(z.string()),
    Entrypoint: z.array(z.string()),
    Cmd: z.array(z.string()),
    WorkingDir: z.string(),
    StopSignal: z.string(),
    Volumes: z.record(z.string(), z.object({})),
    Healthcheck: z.object({ Test: z.array(z.string()) }),
  }),
});

/** As a runtime of containers does it: a root to be read only, a volume, a /tmp in memory, no privilege to be gained. */
const START = `
set -e
mount --bind "$1" "$1"
mount --bind "$2" "$1/var/lib/platen"
mount --bind "$3" "$1/etc/platen/platen.json"
echo '127.0.0.1 localhost' > "$1/etc/hosts"
mount -t tmpfs tmpfs "$1/tmp"
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for node in null zero full random urandom; do touch "$1/dev/$node"; mount --bind /dev/$node "$1/dev/$node"; done
mkdir "$1/dev/shm"
mount -t tmpfs tmpfs "$1/dev/shm"
mount -o remount,bind,ro "$1"
root=$1
user=$4
shift 4
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all --pdeathsig KILL "$@"
`;

let container: ChildProcess;
let log = '';
let config: z.infer<typeof imageConfig>['config'];
let port: number;
let user: string;

// A container is made of mounts and namespaces.
describe.skipIf(process.getuid?.() !== 0)('the container image', () => {
  beforeAll(async () => {
    const [[file = '']] = await Promise.all([
      image({ root, out, version: '0.1.0', time, level: 1 }),
      printer.start(),
    ]);
    const archive = `oci-archive:${join(out, file)}`;
    // It reads every part, and compares each with the name that it has by its hash.
    await run('skopeo', ['--insecure-policy', 'copy', archive, `dir:${copy}`]);
    const { stdout } = await run('skopeo', ['inspect', '--config', '--raw', archive]);
    ({ config } = imageConfig.parse(JSON.parse(stdout)));
    const [layer = ''] = readdirSync(copy).filter((name) => readFileSync(join(copy, name))[0] === 0x1f);
    for (const directory of [layout, data]) mkdirSync(directory);
    await run('tar', ['--numeric-owner', '-xpzf', join(copy, layer), '-C', layout]);
    rmSync(copy, { recursive: true });
    [user = ''] = config.User.split(':');
    await run('chown', [config.User, data]);
    port = await freePort();
    const settings = {
      agent: { printers: [{ uri: `socket://127.0.0.1:${printer.port}`, name: 'dock' }], discovery: {} },
    };
    writeFileSync(join(out, 'platen.json'), JSON.stringify(settings));
    await run('chown', [config.User, join(out, 'platen.json')]);
    start();
  }, 1_200_000);

  afterAll(async () => {
    if (container?.exitCode === null) {
      const exited = once(container, 'exit');
      process.kill(Number(first()), 'SIGKILL');
      await exited;
    }
    await printer.stop();
    rmSync(out, { recursive: true, force: true });
  }, 60_000);

  function start(): void {
    const command = [...config.Entrypoint, ...config.Cmd];
    const parts = [layout, data, join(out, 'platen.json'), user, ...command];
    container = spawn(
      'unshare',
      ['--mount', '--pid', '--fork', '--kill-child', '--', 'sh', '-c', START, 'sh', ...parts],
      { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    for (const stream of [container.stdout, container.stderr]) {
      stream?.on('data', (bytes) => {
        log += bytes;
      });
    }
  }

  function environment(): NodeJS.ProcessEnv {
    const said = config.Env.map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]);
    return { ...Object.fromEntries(said), PLATEN_PORT: String(port) };
  }

  /** The first process in it. */
  function first(): string {
    return readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').trim();
  }

  /** As `docker exec` does it. @returns what it prints @throws Error with that, when it fails */
  async function exec(...command: string[]): Promise<string> {
    const into = ['-t', first(), '-m', '-p', 'chroot', layout, 'setpriv', '--reuid', user, '--regid', user];
    const { stdout } = await run('nsenter', [...into, '--clear-groups', ...command], { env: environment() });
    return stdout.trim();
  }

  async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
    const deadline = AbortSignal.timeout(120_000);
    while (!(await condition())) {
      if (deadline.aborted) throw new Error(`not within two minutes: ${what}\n${log.slice(-4_000)}`);
      await pause(100);
    }
  }

  const healthy = async () =>
    await exec(...config.Healthcheck.Test.slice(1)).then(
      () => true,
      () => false,
    );

  test('is healthy, and nobody but its own account, which can write nothing but its volume', async () => {
    expect(Number(user)).toBeGreaterThan(0);
    expect(Object.keys(config.Volumes)).toEqual([config.WorkingDir]);
    await until('it is healthy', healthy);
    const status = readFileSync(`/proc/${first()}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s${user}\\s${user}\\s`, 'm'));
    expect(status).toMatch(/^CapBnd:\s0+$/m);
    await expect(exec('touch', '/usr/lib/platen/x')).rejects.toThrow('Read-only file system');
  });

  test('prints, is stopped by its signal with its labels out, and has its jobs at the next start', async () => {
    await until('the printer is there', async () => (await exec('platen', 'printers')).includes('idle'));
    await exec('platen', 'template', 'import', '/usr/lib/platen/current/app/templates/shelf-50x25.json');
    const record = { product: 'Tea', euros: '2', cents: '49', currency: '€', ean: '4006381333931' };
    writeFileSync(join(data, 'records.json'), JSON.stringify([record]), { mode: 0o644 });
    const args = ['Shelf label 50×25 mm', '--printer', 'dock', '--records', '/var/lib/platen/records.json'];
    const said = await exec('platen', 'print', ...args, '--copies', '4');
    const [job = ''] = /[0-9a-f-]{36}/.exec(said) ?? [];
    await until('a label is out', async () => printed() > 0);
    const exited = once(container, 'exit');
    process.kill(Number(first()), config.StopSignal);
    await exited;
    expect(printed()).toBe(4);
    start();
    await until('it is healthy', healthy);
    expect(JSON.parse(await exec('platen', 'job', 'show', job, '--json'))).toMatchObject({
      status: 'printed',
      labels: { printed: 4 },
    });
  });

  function printed(): number {
    return readdirSync(join(out, 'printed')).filter((name) => name.endsWith('.png')).length;
  }
});
