/** Checks whether the watched folders of the configuration are there, and can be written by whoever watches them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants, lstat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { STATE, USER } from '../../contract/own-user.ts';
import { may } from '../../server/store/own-account.ts';
import type { FolderEntry } from '../watch/folders-config.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { LIMIT_MS } from './network.ts';
import { type Subject, unitOf } from './subject.ts';

const run = promisify(execFile);

export async function folders(subject: Subject): Promise<Finding[]> {
  if (subject.folders.length === 0) return [];
  const shown = await ofUnit(subject);
  return await Promise.all(subject.folders.map((folder) => look(folder, subject, shown)));
}

async function look({ directory, account }: FolderEntry, subject: Subject, shown: string): Promise<Finding> {
  const check = `folder ${directory}`;
  const there = await lstat(directory).catch(() => undefined);
  if (there?.isDirectory() !== true) {
    const what = there === undefined ? 'is not there' : 'is no folder';
    return failed(check, what, `Make it, or take it out of ${subject.file}.`);
  }
  const who = subject.installed === null ? 'the user of this command' : USER;
  for (const own of ['.', 'printing', 'done', 'failed'].map((name) => join(directory, name))) {
    const isThere = own === directory || existsSync(own);
    if (isThere && !(await mayUse(own, ['-r', '-w', '-x'], subject))) {
      const advice = `Have ${own} written by the user as whom Platen runs.`;
      return failed(check, `${who} cannot read and write ${own}`, advice);
    }
  }
  if (account !== undefined && !(await mayUse(account, ['-r'], subject))) {
    return failed(
      check,
      `${who} cannot read its account, ${account}`,
      'Write there what "platen integration create --json" prints, for the user as whom Platen runs.',
    );
  }
  if (!isLetWrite(directory, shown)) {
    const unit = unitOf(subject) ?? '';
    const advice = `systemctl edit ${unit}, with [Service] and ReadWritePaths=${directory}; then restart it.`;
    return warning(check, `systemd does not let ${unit} write there`, advice);
  }
  return ok(check, 'is there, and can be written');
}

const FLAGS = { '-r': constants.R_OK, '-w': constants.W_OK, '-x': constants.X_OK } as const;

/** Of the service's user, where the system runs Platen and root asks; otherwise of this process. */
async function mayUse(
  path: string,
  what: readonly (keyof typeof FLAGS)[],
  { installed }: Subject,
): Promise<boolean> {
  if (installed !== null) return what.every((one) => may(installed.account, one, path));
  const flags = what.reduce((all, one) => all | FLAGS[one], 0);
  return await access(path, flags).then(
    () => true,
    () => false,
  );
}

/** What systemd says of the unit; empty: it runs no unit of ours. */
async function ofUnit(subject: Subject): Promise<string> {
  const name = unitOf(subject);
  if (name === null || process.platform === 'win32' || !existsSync('/run/systemd/system')) return '';
  const { stdout } = await run('systemctl', ['show', name, '-p', 'ProtectSystem,ReadWritePaths'], {
    timeout: LIMIT_MS,
  });
  return stdout;
}

/** Whether a unit may write in the directory. @param shown its `ProtectSystem` and `ReadWritePaths`, as systemctl shows them */
export function isLetWrite(directory: string, shown: string): boolean {
  const told = Object.fromEntries(shown.split('\n').map((line) => line.split('=', 2)));
  if (told['ProtectSystem'] !== 'strict') return true;
  const paths = String(told['ReadWritePaths'] ?? '')
    .split(' ')
    .map((path) => path.replace(/^[-+]*/, ''))
    .filter((path) => path !== '');
  return [STATE, ...paths].some((path) =>
    `${directory}${sep}`.startsWith(path === sep ? sep : `${path}${sep}`),
  );
}
