/** Which files of a watched folder are there in full. */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** What programs call a file that they are still writing, or that is not for others. */
const LEFT = [
  /^[.~]/,
  /~$/,
  /\.(tmp|temp|part|partial|filepart|crdownload|download|swp|lock|lck)$/i,
  /^(thumbs\.db|desktop\.ini)$/i,
];

/** Whether a name says that the file is temporary or hidden. */
export function isLeft(name: string): boolean {
  return LEFT.some((pattern) => pattern.test(name));
}

/** What changes while a file is written. */
interface FileState {
  ino: number;
  size: number;
  mtimeMs: number;
}

/** ms that an empty file must stay so: many programs make a file first and fill it later. */
const EMPTY_MS = 60_000;

/** Tells of each file how long it has been as it is, by this process's own clock. */
export class Settling {
  readonly #settleMs: number;
  readonly #files = new Map<string, FileState & { since: number }>();

  constructor(settleMs: number) {
    this.#settleMs = settleMs;
  }

  /** @returns whether the file has been like this for long enough */
  isSettled(path: string, { ino, size, mtimeMs }: FileState): boolean {
    const now = performance.now();
    const before = this.#files.get(path);
    if (before?.ino === ino && before.size === size && before.mtimeMs === mtimeMs) {
      return now - before.since >= (size === 0 ? Math.max(this.#settleMs, EMPTY_MS) : this.#settleMs);
    }
    this.#files.set(path, { ino, size, mtimeMs, since: now });
    return false;
  }

  /** Forgets the files that are not there any more. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
  }
}

/** O_WRONLY and O_RDWR among the flags of an open file. */
const WRITING = 0b11;

/**
 * Those of the folder's files that a process of this machine has open for writing, as far as this user may see:
 * Linux tells root of all processes, and others of their own.
 */
export async function openForWriting(folder: string): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  if (process.platform !== 'linux') return open;
  const real = `${await realpath(folder)}/`;
  for (const pid of await namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await namesIn(`/proc/${pid}/fd`)) {
      const path = await readlink(join('/proc', pid, 'fd', fd)).catch(() => '');
      if (!path.startsWith(real)) continue;
      const info = await readFile(join('/proc', pid, 'fdinfo', fd), 'utf8').catch(() => '');
      const [, flags = '0'] = /^flags:\s*(\d+)$/m.exec(info) ?? [];
      if ((Number.parseInt(flags, 8) & WRITING) !== 0) open.add(path.slice(real.length));
    }
  }
  return open;
}

/** A process may end meanwhile, or belong to somebody else. */
async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch(() => []);
}
