/**
 * Stands between Platen and its embedded PostgreSQL, so that the database ends with Platen, however Platen ends.
 *
 * Standard input is a pipe that only the parent holds open. If the pipe ends, the parent has stopped or died. The supervisor
 * has a session of its own, so that Ctrl-C in a terminal reaches only Platen and not the database: Platen first finishes what
 * it is doing. The supervisor writes nothing, because its parent, the only reader, may be gone.
 *
 * Run as a program: `node embedded-supervisor.ts <plan as JSON>`. The plan holds no secret.
 */
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';

export interface SupervisorPlan {
  command: string;
  args: string[];
  cwd: string;
  /** On Windows, which has no signals, `pg_ctl` stops the database. */
  pgCtl: string;
  runAs?: { uid: number; gid: number };
  /** Paths that are removed when the database has ended. */
  remove: string[];
  /** ms between a fast shutdown, an immediate shutdown and a kill. */
  patienceMs: number;
  /** The supervisor's exit code if a signal has ended the database. */
  killedCode: number;
}

function supervise(plan: SupervisorPlan): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

  const database = spawn(plan.command, plan.args, {
    cwd: plan.cwd,
    ...plan.runAs,
    stdio: ['ignore', 'ignore', 'inherit'],
    windowsHide: true,
  });
  const end = (code: number) => {
    for (const path of plan.remove) rmSync(path, { recursive: true, force: true });
    process.exit(code);
  };
  database.on('error', () => end(127));
  database.on('exit', (code) => end(code ?? plan.killedCode));

  const stop = () => {
    if (process.platform === 'win32') {
      spawnSync(plan.pgCtl, ['stop', '-D', plan.cwd, '-m', 'fast', '-w'], { windowsHide: true });
      return;
    }
    database.kill('SIGINT');
    setTimeout(() => database.kill('SIGQUIT'), plan.patienceMs);
    setTimeout(() => database.kill('SIGKILL'), 2 * plan.patienceMs);
  };
  process.stdin.once('end', stop).once('error', stop).resume();
}

if (import.meta.main) {
  const plan: SupervisorPlan = JSON.parse(process.argv[2] ?? '');
  supervise(plan);
}
