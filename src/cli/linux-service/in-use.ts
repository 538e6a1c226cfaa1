/** Who works on a directory: what is deleted under a program is lost, though the program goes on. */
import { spawnSync } from 'node:child_process';

const TIMEOUT_MS = 60_000;

/** A command for `sh` that prints the process ID of a program with a file open below the directory, or nothing. */
export function processAt(directory: string): string {
  return `find /proc/[0-9]*/cwd /proc/[0-9]*/fd -lname '${directory}/*' 2>/dev/null | head -n 1 | cut -d/ -f3`;
}

/** undefined: no program has a file open there. Only root sees those of others. */
export function whoWorksOn(directory: string): string | undefined {
  const { stdout } = spawnSync('sh', ['-c', processAt(directory)], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return stdout.trim() || undefined;
}
