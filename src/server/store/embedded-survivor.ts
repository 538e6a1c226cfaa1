/**
 * A database that has outlived its Platen: the supervisor was killed together with Platen, or the shutdown is still going on.
 *
 * It is stopped and not used further, because nothing would end it together with the new Platen. Whoever calls this holds the
 * directory's lock, so no living Platen uses the database.
 */
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedError } from './embedded-error.ts';

const STEPS = [
  { signal: 'SIGINT', patienceMs: 10_000 },
  { signal: 'SIGQUIT', patienceMs: 5_000 },
  { signal: 'SIGKILL', patienceMs: 5_000 },
] as const;

/**
 * Stops a database that still runs on the data directory `data`. This takes at most 20 s.
 * @throws EmbeddedError `directory-in-use` if the database does not stop
 */
export async function stopSurvivor(data: string, signal: AbortSignal | undefined): Promise<void> {
  const pid = await postmaster(data);
  if (pid === undefined || !(await isDatabaseOf(data, pid))) return;
  for (const step of STEPS) {
    try {
      process.kill(pid, step.signal);
    } catch {
      // The process is gone already, or we may not stop it. The wait below finds out which.
    }
    const deadline = Date.now() + step.patienceMs;
    while (Date.now() < deadline) {
      if (!(await isDatabaseOf(data, pid))) return;
      await wait(50, undefined, signal && { signal });
    }
  }
  throw new EmbeddedError(
    'directory-in-use',
    `${data} is in use by process ${pid}, a PostgreSQL that does not stop`,
  );
}

async function postmaster(data: string): Promise<number | undefined> {
  try {
    const pid = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process is a PostgreSQL of this directory. It may be another one, because process IDs are reused. */
async function isDatabaseOf(data: string, pid: number): Promise<boolean> {
  try {
    if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === data;
    if (process.platform === 'win32') {
      const { stdout } = await promisify(execFile)('tasklist', ['/FI', `PID eq ${pid}`, '/NH'], {
        timeout: 10_000,
        windowsHide: true,
      });
      return stdout.includes('postgres');
    }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)], {
      timeout: 5_000,
    });
    return stdout.includes('postgres') && stdout.includes(data);
  } catch {
    return false;
  }
}
