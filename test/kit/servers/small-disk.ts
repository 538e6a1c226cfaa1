/** A disk of a test's own that can be filled: a tmpfs, which only root may mount. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const MAY_MOUNT = process.getuid?.() === 0;

export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), 'platen-test-disk-'));
  readonly #filler = join(this.path, 'filler');

  constructor(mebibytes: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'none', this.path]);
  }

  /** Takes the room that is left. @param but leaves about so many MiB */
  fill(but = 0): void {
    const { bavail, bsize } = statfsSync(this.path);
    // A file is as long as there is room, less what keeps its own pages.
    for (let bytes = bavail * bsize - but * 1024 * 1024; bytes >= bsize; bytes -= bsize) {
      try {
        writeFileSync(this.#filler, Buffer.alloc(bytes));
        return;
      } catch {
        // A page more was needed.
      }
    }
  }

  makeRoom(): void {
    rmSync(this.#filler, { force: true });
  }

  stop(): void {
    execFileSync('umount', ['--lazy', this.path]);
    rmdirSync(this.path);
  }
}
