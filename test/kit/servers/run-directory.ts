/**
 * One directory for all that a run's tests put aside: they tidy up, but a test that fails, a program that is killed and
 * programs of others (lintian, Chromium) do not always. It goes with the run, and what a killed run left goes a day later.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'platen-run-';
/** No run takes that long, ms. */
const LONGEST_RUN_MS = 24 * 60 * 60 * 1_000;

/** Makes it what `tmpdir()` is from now on, here and in each process that this one starts. @returns removes it */
export function makeRunDirectory(): () => void {
  const place = tmpdir();
  const before = process.env['TMPDIR'];
  for (const name of readdirSync(place)) {
    if (name.startsWith(NAME)) removeOld(join(place, name));
  }
  const directory = mkdtempSync(join(place, NAME));
  // As /tmp: some of what tests start runs as another user.
  chmodSync(directory, 0o1777);
  process.env['TMPDIR'] = directory;
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    remove(directory);
  };
}

function removeOld(directory: string): void {
  const made = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - made > LONGEST_RUN_MS) remove(directory);
}

/** What cannot be removed is said, and fails no run. */
function remove(directory: string): void {
  try {
    // A program that ends may still write.
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } catch (error) {
    console.warn(`left behind: ${directory}: ${error instanceof Error ? error.message : error}`);
  }
}
