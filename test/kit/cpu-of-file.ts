/** Tells the run's summary how much CPU each file takes: what waits can have others beside it, what works cannot. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, type TaskMeta } from 'vitest';

declare module 'vitest' {
  export interface TaskMeta {
    /** Of a file: seconds of CPU, with those of the processes that ended while it ran. Linux only. */
    cpu?: number;
  }
}

const TICKS_PER_SECOND = 100;

/** Seconds of CPU of this process so far, and of its children that have ended, with theirs. */
function cpu(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  // proc(5): utime, stime, cutime and cstime are fields 14 to 17, and the state is the third.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

if (process.platform === 'linux') {
  const before = cpu();
  let meta: TaskMeta | undefined;
  beforeEach(({ task }) => {
    ({ meta } = task.file);
  });
  afterAll(() => {
    if (meta !== undefined) meta.cpu = cpu() - before;
  });
}
