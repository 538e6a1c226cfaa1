/** The account that Platen's processes have where root starts or installs them: no other program runs as it. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { STATE, USER } from '../../contract/own-user.ts';

export interface Account {
  uid: number;
  gid: number;
}

const TIMEOUT_MS = 30_000;
/** Also the kernel's word for an owner that has no number here. */
const NOBODY = 65_534;

/** @returns null where this system does not know the name */
export function accountOf(name: string): Account | null {
  const { stdout } = spawnSync('getent', ['passwd', name], { encoding: 'utf8', timeout: TIMEOUT_MS });
  const [, , uid, gid] = stdout?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/**
 * Finds the account, or makes it: a system user who cannot log in. Only root may make it.
 * @param onMade called when it was not there
 * @throws Error with what `useradd` says
 */
export function ownAccount(onMade: () => void): Account {
  const there = accountOf(USER);
  if (there !== null) return there;
  const options = ['--system', '--user-group', '--home-dir', STATE, '--no-create-home'];
  const args = [...options, '--shell', '/usr/sbin/nologin', USER];
  const { error, stderr } = spawnSync('useradd', args, { encoding: 'utf8', timeout: TIMEOUT_MS });
  // Another process may have made it meanwhile.
  const made = accountOf(USER);
  if (made === null) throw new Error(error?.message ?? stderr.trim());
  onMade();
  return made;
}

/** Whether the account may do with a path what `test` calls `-r`, `-w` or `-x`. Only root may ask. */
export function may(account: Account, what: '-r' | '-w' | '-x', path: string): boolean {
  const { status } = spawnSync('test', [what, path], { ...account, cwd: '/', timeout: TIMEOUT_MS });
  return status === 0;
}

/** Why the account cannot run a command of ours, in the system's words; null: it can. Only root may ask. */
export function whyNotRun(account: Account, command: string): string | null {
  const env = { PATH: process.env['PATH'] ?? '' };
  const options = { ...account, cwd: '/', env, encoding: 'utf8', timeout: TIMEOUT_MS } as const;
  const { error, status, stderr } = spawnSync(command, ['--version'], options);
  if (status === 0) return null;
  return error?.message ?? (stderr.trim().split('\n')[0] || `it ends with ${status}`);
}

/** Whether the path belongs to `nobody`: daemons without an account of their own all run as that. */
export function isNobodys(path: string): boolean {
  const stats = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.uid === NOBODY;
}
