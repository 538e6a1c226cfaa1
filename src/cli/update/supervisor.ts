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
  /**
   * `trying`: the program runs, or will be started; `stopped`: somebody ended the service, which says nothing
   * about the version; `given-up`: it did not come up, and is not started again.
   */
  state(): Promise<'trying' | 'stopped' | 'given-up'>;
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
  const ask = async () => {
    const properties = ['-p', 'ExecStart,ActiveState,Job,Restart,MainPID'];
    const { stdout } = await run('systemctl', ['show', unit, ...properties], { timeout: LIMIT_MS });
    const said = new Map(stdout.split('\n').map((line) => split(line)));
    return (property: string) => said.get(property) ?? '';
  };
  const said = await ask().catch(() => () => '');
  const isOurs = said('ExecStart').includes(`${home.directory}/current/`);
  if (!isOurs || !isTrying(said)) return null;
  return {
    name: `systemd, ${unit}.service`,
    async restart() {
      // Starts of a version that ended at once count against the next one too.
      await run('systemctl', ['reset-failed', unit], { timeout: LIMIT_MS }).catch(() => undefined);
      // A restart takes as long as the labels under way; the caller checks whether the program came up.
      await run('systemctl', ['restart', '--no-block', unit], { timeout: LIMIT_MS });
    },
    async state() {
      // A manager that does not answer has given nothing up.
      const now = await ask().catch(() => null);
      if (now === null || isTrying(now)) return 'trying';
      // What is always started again is inactive only where somebody stopped it, or the machine goes down.
      return now('ActiveState') === 'inactive' && now('Restart') === 'always' ? 'stopped' : 'given-up';
    },
    environment: async () => environmentOf(Number((await ask().catch(() => said))('MainPID'))),
  };
}

/** Between the two halves of a restart a unit is `inactive`, or `failed` by its old program, and its start waits as a job. */
function isTrying(said: (property: string) => string): boolean {
  return !['failed', 'inactive'].includes(said('ActiveState')) || Number(said('Job')) > 0;
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
    state: async () => (lives() ? 'trying' : 'stopped'),
    environment: async () => environmentOf(pid),
  };
}

/** Nothing where it may not be read, or the system has no such file. */
export function environmentOf(pid: number): NodeJS.ProcessEnv {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(variables.map((variable) => split(variable)));
  } catch {
    return {};
  }
}

/** Name and value on either side of the first `=`. */
function split(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
