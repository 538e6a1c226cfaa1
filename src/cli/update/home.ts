/**
 * The directory where versions lie side by side: `<home>/<version>/`, `<home>/current` as a link to the
 * version that runs, and in `<home>/.update/` what an update has to remember if it is killed. The notes are
 * plain files, since `launch` (a shell script) has to read them where no version works any more.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { versionText } from './manifest.ts';
import { UpdateError } from './update-error.ts';
import { WENT_BACK } from './went-back.ts';

const metadata = z.object({ version: z.string(), name: z.string() });

/** An update on trial, as the note `pending` has it. */
export interface Trial {
  from: string;
  to: string;
}

export class Home {
  readonly directory: string;

  /** @throws UpdateError `not-here` */
  constructor(directory: string) {
    this.directory = directory;
    if (lstatSync(join(directory, 'current'), { throwIfNoEntry: false })?.isSymbolicLink() !== true) {
      throw new UpdateError('not-here', `${directory} has no versions side by side`);
    }
  }

  /** @param program the Node that runs this: `<home>/<version>/bin/node` @throws UpdateError `not-here` */
  static around(program: string): Home {
    const version = dirname(dirname(program));
    const home = dirname(version);
    const isPackage = basename(dirname(program)) === 'bin' && existsSync(join(version, 'app', 'platen.js'));
    if (process.platform === 'win32') {
      throw new UpdateError('not-here', 'on Windows, install the newer .msi over this one');
    }
    if (!isPackage)
      throw new UpdateError('not-here', 'a checkout is updated by git: git pull && npm run setup');
    if (home === '/usr/lib/platen') {
      throw new UpdateError(
        'not-here',
        'apt installed it, and updates it: apt install ./platen_VERSION_amd64.deb',
      );
    }
    return new Home(home);
  }

  get current(): string {
    return basename(readlinkSync(join(this.directory, 'current')));
  }

  /** The directory of the notes about updates. */
  get notes(): string {
    const directory = join(this.directory, '.update');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  }

  path(version: string): string {
    return join(this.directory, version);
  }

  /** The name in the version's `package.json`. */
  packageName(version = this.current): string {
    return metadata.parse(JSON.parse(readFileSync(join(this.path(version), 'package.json'), 'utf8'))).name;
  }

  /** The public key that must have signed the next version; null: the package was made without one. */
  get key(): string | null {
    const file = join(this.path(this.current), 'update-key.pem');
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  }

  /** Points the link at another version, atomically. */
  pointTo(version: string): void {
    const [link, next] = [join(this.directory, 'current'), join(this.notes, 'current.new')];
    rmSync(next, { force: true });
    symlinkSync(version, next);
    renameSync(next, link);
    syncDirectory(this.directory);
  }

  get trial(): Trial | null {
    const [from = '', to = ''] = this.#read('pending').split(/\s/);
    return from === '' || to === '' ? null : { from, to };
  }

  begin({ from, to }: Trial): void {
    rmSync(join(this.notes, 'attempts'), { force: true });
    rmSync(join(this.directory, WENT_BACK), { force: true });
    this.#write('pending', `${from} ${to}\n`);
  }

  /** Ends the trial, whatever its result. */
  end(): void {
    for (const name of ['pending', 'attempts']) rmSync(join(this.notes, name), { force: true });
    syncDirectory(this.notes);
  }

  /** Versions that did not come up here. */
  get bad(): string[] {
    return this.#read('bad').split('\n').filter(Boolean);
  }

  markBad(version: string): void {
    this.#write('bad', `${[...new Set([...this.bad, version])].join('\n')}\n`);
    // For the agent's user, whatever the umask is.
    const next = join(this.notes, `${WENT_BACK}.new`);
    writeFileSync(next, `${version} ${new Date().toISOString()}\n`, { flush: true });
    chmodSync(next, 0o644);
    renameSync(next, join(this.directory, WENT_BACK));
    syncDirectory(this.directory);
  }

  markGood(version: string): void {
    if (this.bad.includes(version)) {
      this.#write(
        'bad',
        this.bad
          .filter((one) => one !== version)
          .map((one) => `${one}\n`)
          .join(''),
      );
    }
  }

  /** Versions that lie here, whether they work or not. */
  get versions(): string[] {
    return readdirSync(this.directory).filter((name) => versionText.safeParse(name).success);
  }

  /** Removes all versions but these. */
  keepOnly(versions: readonly string[]): void {
    for (const version of this.versions) {
      if (!versions.includes(version)) rmSync(this.path(version), { recursive: true, force: true });
    }
  }

  /** Removes the files that a killed update has left. */
  tidy(): void {
    for (const name of readdirSync(this.notes)) {
      if (/\.(part|new)$/.test(name)) rmSync(join(this.notes, name), { recursive: true, force: true });
    }
  }

  /**
   * One update at a time. The lock is SQLite's on a file (fcntl), which the system drops when its holder ends, or the
   * power: the process ID of a dead update is another program's before long.
   * @throws UpdateError `already-running`, `not-allowed`
   */
  lock(): Disposable {
    const file = join(this.#writable(), 'update.lock');
    const lock = new DatabaseSync(file, { timeout: 0 });
    try {
      lock.exec('PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE');
    } catch (cause) {
      lock.close();
      // SQLITE_BUSY
      if (cause instanceof Error && 'errcode' in cause && cause.errcode === 5) {
        throw new UpdateError('already-running', `another update runs in ${this.directory}`, { cause });
      }
      throw cause;
    }
    return { [Symbol.dispose]: () => lock.close() };
  }

  /** The directory of the notes. @throws UpdateError `not-allowed` where we may not write to it */
  #writable(): string {
    try {
      accessSync(this.notes, constants.W_OK);
      accessSync(this.directory, constants.W_OK);
      return this.notes;
    } catch (cause) {
      throw new UpdateError('not-allowed', `${this.directory} cannot be written to: run it as root (sudo)`, {
        cause,
      });
    }
  }

  /** @throws UpdateError `no-room` where its disk has fewer bytes left */
  needs(bytes: number): void {
    const { bavail, bsize } = statfsSync(this.directory);
    if (bavail * bsize >= bytes) return;
    const [has, wants] = [bavail * bsize, bytes].map((one) => Math.ceil(one / 1024 ** 2));
    throw new UpdateError(
      'no-room',
      `the disk of ${this.directory} has ${has} MB left; the update needs ${wants} MB`,
    );
  }

  #read(name: string): string {
    const file = join(this.notes, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  }

  /** A reader sees the whole file or none, also after a power cut. */
  #write(name: string, text: string): void {
    const file = join(this.notes, name);
    writeFileSync(`${file}.new`, text, { flush: true });
    renameSync(`${file}.new`, file);
    syncDirectory(this.notes);
  }
}

function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
