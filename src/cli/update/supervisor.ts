/** What runs the program, systemd or `launch`. A restart waits for labels under way, and starts `current`. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Home } from './home.ts';

const run = promisify(execFile);
const LIMIT_MS = 20_000;

export interface Supervisor {
  readonly name: string;
  restart(): Promise<void>;
  /** Whether the program runs, or is being started; `false`: it was given up. */
  isTrying(): Promise<boolean>;
  /** The environment that the program runs in; where nobody says, none. */
  environment(): Promise<NodeJS.ProcessEnv>;
}

/** null: nothing runs it. */
export async function supervisorOf(home: Home): Promise<Supervisor | null> {
  return (await systemd(home)) ?? launcher(home);
}

async function systemd(home: Home): Promise<Supervisor | null> {
  if (!existsSync('/run/systemd/system')) return null;
  const unit = home.packageName();
  const ask = async (property: string) =>
    (await run('systemctl', ['show', unit, '-P', property], { timeout: LIMIT_MS })).stdout.trim();
  const isOurs = (await ask('ExecStart').catch(() => '')).includes(`${home.directory}/current/`);
  if (!isOurs || !['active', 'activating'].includes(await ask('ActiveState'))) return null;
  return {
    name: `systemd, ${unit}.service`,
    async restart() {
      // A restart takes as long as the labels under way; the caller checks whether the program came up.
      await run('systemctl', ['restart', '--no-block', unit], { timeout: LIMIT_MS });
    },
    isTrying: async () =>
      !['failed', 'inactive'].includes(await ask('ActiveState').catch(() => 'activating')),
    environment: async () => environmentOf(Number(await ask('MainPID').catch(() => 0))),
  };
}

function launcher(home: Home): Supervisor | null {
  const file = join(home.notes, 'launcher.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  const lives = () => {
    try {
      // The process ID may belong to another program by now.
      return pid > 1 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${home.directory}/launch`);
    } catch {
      return false;
    }
  };
  if (!lives()) return null;
  return {
    name: `launch, process ${pid}`,
    async restart() {
      if (lives()) process.kill(pid, 'SIGHUP');
    },
    isTrying: async () => lives(),
    environment: async () => environmentOf(pid),
  };
}

function environmentOf(pid: number): NodeJS.ProcessEnv {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(
      variables.map((variable): [string, string] => {
        const at = variable.indexOf('=');
        return [variable.slice(0, at), variable.slice(at + 1)];
      }),
    );
  } catch {
    return {};
  }
}
