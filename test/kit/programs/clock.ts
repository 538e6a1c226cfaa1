/** The clock of a process of its own, which may be wrong and jump (libfaketime); how long something takes, it tells as ever. */
import { globSync, rmSync, writeFileSync } from 'node:fs';

const LIBRARY = '/usr/lib/*/faketime/libfaketime.so.1';

export class Clock {
  readonly #file: string;

  /** @param file from which the process reads how wrong its clock is, once a second */
  constructor(file: string) {
    this.#file = file;
    this.set(0);
  }

  /** For the environment of the process. @throws Error where libfaketime is not installed */
  get env(): Record<string, string> {
    const [library] = globSync(LIBRARY);
    if (library === undefined) throw new Error("This needs libfaketime (Debian's name).");
    return {
      ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: this.#file, FAKETIME_CACHE_DURATION: '1' },
      ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', NO_FAKE_STAT: '1' },
    };
  }

  /** The process has ended: what it shared with those that it started is left behind where it was killed. */
  over(pid: number): void {
    for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
      rmSync(`/dev/shm/${name}`, { force: true });
  }

  /** @param seconds ahead, or behind */
  set(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  }
}
