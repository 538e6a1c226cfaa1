/** A disk of a test's own that can be filled: a tmpfs, which only root may mount. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const MAY_MOUNT = process.getuid?.() === 0;

export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), 'platen-test-disk-'));
  readonly #fillers: string[] = [];

  constructor(mebibytes: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'none', this.path]);
  }

  /** Takes the room that is left, or that has come back since. @param but leaves about so many MiB */
  fill(but = 0): void {
    const filler = join(this.path, `filler-${this.#fillers.length}`);
    const { bavail, bsize } = statfsSync(this.path);
    // A file is as long as there is room, less what keeps its own pages.
    for (let bytes = bavail * bsize - but * 1024 * 1024; bytes >= bsize; bytes -= bsize) {
      try {
        writeFileSync(filler, Buffer.alloc(bytes));
        this.#fillers.push(filler);
        return;
      } catch {
        // A page more was needed.
      }
    }
  }

  makeRoom(): void {
    for (const filler of this.#fillers.splice(0)) rmSync(filler, { force: true });
  }

  stop(): void {
    execFileSync('umount', ['--lazy', this.path]);
    rmdirSync(this.path);
  }
}
