/**
 * A fresh Debian with a systemd of its own, in namespaces: made by mmdebstrap, held in memory, and gone with the test.
 * Its network is a loopback of its own, on which it finds what the test lets it reach.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Besides what Debian calls essential. */
const INCLUDED = ['passwd', 'systemd', 'systemd-sysv', 'libstdc++6', 'init-system-helpers', 'apt', 'sudo'];

/** What each machine of a run is unpacked from. Who needs it first makes it, and the others wait. */
const FRESH = join(tmpdir(), 'platen-machine.tar');
const MAKE_FRESH = `
fresh=$1
shift
[ -e "$fresh" ] && exit
rm -f "$fresh.half"
mmdebstrap "$@" "$fresh.half"
mv "$fresh.half" "$fresh"
`;

const BOOT = `
set -e
echo $$ > "$2/cgroup.procs"
exec unshare --cgroup --net --mount --pid --fork --uts --ipc --kill-child -- sh -e -c '
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for node in null zero full random urandom tty; do touch dev/$node; mount --bind /dev/$node dev/$node; done
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . /lib/systemd/systemd --unit=multi-user.target
' sh "$1"
`;

export class Machine {
  readonly root: string;
  readonly #directory: string;
  readonly #group: string;
  /** Ends what `reach` has begun. */
  readonly #reached = new AsyncDisposableStack();
  #boot: ChildProcess | undefined;
  #init = 0;

  private constructor(directory: string) {
    this.#directory = directory;
    this.root = join(directory, 'root');
    this.#group = join(directory, 'groups', `platen-test-${process.pid}`);
  }

  /** Makes it and lets it boot. */
  static async start(): Promise<Machine> {
    const machine = new Machine(await mkdtemp(join(tmpdir(), 'platen-machine-')));
    try {
      await machine.#make();
      await machine.#start();
      return machine;
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  /** What a program of it prints. @throws Error with what it says, when it fails */
  async run(command: string, ...args: string[]): Promise<string> {
    const into = ['-t', String(this.#init), '-n', '-m', '-p', '-u', '-i', '-C', 'chroot', this.root];
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    const { stdout } = await run('nsenter', [...into, command, ...args], {
      env: { PATH: path },
      timeout: 150_000,
    });
    return stdout.trim();
  }

  /** What listens at that port of this machine's loopback is found at the same on its own. */
  async reach(port: number): Promise<void> {
    const path = join(this.#directory, `port-${port}`);
    const door = createServer((inside) => {
      const outside = connect(port, '127.0.0.1');
      // Who ends the one ends the other, whatever it was that ended it.
      pipeline(inside, outside, inside).catch(() => undefined);
    });
    door.listen(path);
    await once(door, 'listening');
    this.#reached.defer(() => void door.close());
    const joined = [`TCP-LISTEN:${port},bind=127.0.0.1,fork`, `UNIX-CONNECT:${path}`];
    const socat = spawn('nsenter', ['-t', String(this.#init), '-n', 'socat', '-d', '-d', ...joined], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#reached.defer(() => void socat.kill());
    const lines = on(createInterface({ input: socat.stderr }), 'line', {
      signal: AbortSignal.timeout(10_000),
    });
    for await (const [line] of lines) if (String(line).includes('listening on')) break;
    socat.stderr.resume();
  }

  async stop(): Promise<void> {
    await this.#reached.disposeAsync();
    if (this.#init > 0) process.kill(this.#init, 'SIGKILL');
    if (this.#boot !== undefined && this.#boot.exitCode === null && this.#boot.signalCode === null) {
      const ended = new Promise((resolve) => this.#boot?.once('exit', resolve));
      this.#boot.kill('SIGKILL');
      await ended;
    }
    for (const [mount, made] of [
      ['groups', this.#group],
      ['.', undefined],
    ] as const) {
      const emptied = made !== undefined && existsSync(made) ? emptyGroup(made) : Promise.resolve();
      await emptied;
      await run('umount', ['-l', join(this.#directory, mount)]).catch(() => undefined);
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #make(): Promise<void> {
    // dpkg writes every file through to the disk, which takes three times as long as all the rest.
    await run('mount', ['-t', 'tmpfs', '-o', 'size=3g', 'tmpfs', this.#directory]);
    const options = ['--variant=essential', `--include=${INCLUDED.join(',')}`, '--dpkgopt=force-unsafe-io'];
    const codename =
      /VERSION_CODENAME=(\w+)/.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'bookworm';
    const env = { ...process.env, TMPDIR: this.#directory };
    const make = ['sh', '-e', '-c', MAKE_FRESH, 'sh', FRESH, ...options, '--format=tar', codename];
    await run('flock', [`${FRESH}.lock`, ...make], { env, timeout: 600_000 });
    mkdirSync(this.root);
    await run('tar', ['-C', this.root, '--xattrs', '--xattrs-include=*', '-xpf', FRESH], { timeout: 60_000 });
  }

  async #start(): Promise<void> {
    mkdirSync(join(this.#directory, 'groups'));
    execFileSync('mount', ['-t', 'cgroup2', 'none', join(this.#directory, 'groups')]);
    mkdirSync(this.#group);
    this.#boot = spawn('sh', ['-c', BOOT, 'sh', this.root, this.#group], { stdio: 'ignore' });
    const deadline = AbortSignal.timeout(60_000);
    for (;;) {
      deadline.throwIfAborted();
      this.#init = initOf(this.#boot.pid ?? 0);
      const state = this.#init === 0 ? '' : await this.run('systemctl', 'is-system-running').catch(() => '');
      if (state === 'running') return;
      await pause(100);
    }
  }
}

/** The first process in it, by the process that made its namespaces; 0: there is none yet. */
function initOf(parent: number): number {
  const file = `/proc/${parent}/task/${parent}/children`;
  const [child = ''] = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ') : [];
  if (child === '') return 0;
  return readFileSync(`/proc/${child}/comm`, 'utf8').trim() === 'systemd' ? Number(child) : 0;
}

/** Groups go from the leaves on, once the processes in them have ended. */
async function emptyGroup(group: string): Promise<void> {
  writeFileSync(join(group, 'cgroup.kill'), '1');
  const groups = execFileSync('find', [group, '-depth', '-type', 'd'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const deadline = AbortSignal.timeout(10_000);
  for (const one of groups) {
    for (;;) {
      try {
        rmdirSync(one);
        break;
      } catch (error) {
        if (deadline.aborted) throw error;
        await pause(20);
      }
    }
  }
}
