/**
 * One temporary directory for everything that a run's tests write: tests tidy up, but a test that fails, a
 * program that is killed and programs of others (lintian, Chromium) do not always. The directory is removed
 * with its run. What a killed run left is removed by the first run a quarter of an hour later: it may be
 * gigabytes of memory.
 */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  utimes,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'platen-run-';
/** How often a run touches its directory, and after how long without that the run is dead, ms. */
const SIGN_OF_LIFE_MS = 60_000;
const SILENT_MS = 15 * SIGN_OF_LIFE_MS;

/** A run's packages, databases and profiles take up to 4 GB at a time, and the programs as much again. */
const ENOUGH_MEMORY = 12 * 2 ** 30;
const MEMORY = '/dev/shm';

/** Makes what `tmpdir()` names from now on, in processes started later too. @returns what removes it */
export function makeRunDirectory(): () => void {
  const before = process.env['TMPDIR'];
  const place = before === undefined && memoryHoldsFiles() ? MEMORY : tmpdir();
  for (const old of new Set([place, tmpdir()])) {
    for (const name of readdirSync(old)) {
      if (name.startsWith(NAME)) removeOld(join(old, name));
    }
  }
  const directory = mkdtempSync(join(place, NAME));
  // As /tmp: some of what tests start runs as another user.
  chmodSync(directory, 0o1777);
  process.env['TMPDIR'] = directory;
  const alive = setInterval(() => {
    const now = new Date();
    // That the directory is gone would show in the tests.
    utimes(directory, now, now, () => undefined);
  }, SIGN_OF_LIFE_MS).unref();
  return () => {
    clearInterval(alive);
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    remove(directory);
  };
}

/**
 * Whether memory can hold the run's files. Databases are made and deleted by the hundred: on ext4 without a
 * journal each new file is looked for behind all that were deleted lately, which takes up to a third of the
 * CPU time of such tests, and each commit waits for the disk.
 */
function memoryHoldsFiles(): boolean {
  if (!existsSync('/proc/self/mounts') || process.availableMemory() < ENOUGH_MEMORY) return false;
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, path]) => path === MEMORY);
  // In a container it is often 64 MB, and runs no program.
  if (mount?.[2] !== 'tmpfs' || mount[3]?.split(',').includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ENOUGH_MEMORY;
}

function removeOld(directory: string): void {
  const heard = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - heard > SILENT_MS) remove(directory);
}

/** Warns of what cannot be removed, which fails no run. */
function remove(directory: string): void {
  try {
    // A program that ends may still write.
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } catch (error) {
    console.warn(`left behind: ${directory}: ${error instanceof Error ? error.message : error}`);
  }
}
