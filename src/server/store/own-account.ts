/** The account that Platen's processes run under if root starts or installs them. No other program runs under it. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { STATE, USER } from '../../contract/own-user.ts';

export interface Account {
  uid: number;
  gid: number;
}

const TIMEOUT_MS = 30_000;
/** The kernel also shows this number for an owner that has no number on this system. */
const NOBODY = 65_534;

/** @returns null: this system does not know the name */
export function accountOf(name: string): Account | null {
  const { stdout } = spawnSync('getent', ['passwd', name], { encoding: 'utf8', timeout: TIMEOUT_MS });
  const [, , uid, gid] = stdout?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/**
 * Finds the account, or makes it: a system user who cannot log in. Only root may make it.
 * @param onMade called if the account was made
 * @throws Error with what `useradd` says
 */
export function ownAccount(onMade: () => void): Account {
  const there = accountOf(USER);
  if (there !== null) return there;
  const options = ['--system', '--user-group', '--home-dir', STATE, '--no-create-home'];
  const args = [...options, '--shell', '/usr/sbin/nologin', USER];
  const { error, stderr } = spawnSync('useradd', args, { encoding: 'utf8', timeout: TIMEOUT_MS });
  // `useradd` may have failed because another process has made the account meanwhile.
  const made = accountOf(USER);
  if (made === null) throw new Error(error?.message ?? stderr.trim());
  onMade();
  return made;
}

/** Whether the account may read (`-r`), write (`-w`) or execute or enter (`-x`) a path. Only root may ask. */
export function may(account: Account, what: '-r' | '-w' | '-x', path: string): boolean {
  const { status } = spawnSync('test', [what, path], { ...account, cwd: '/', timeout: TIMEOUT_MS });
  return status === 0;
}

/** Why the account cannot run one of our commands, in the system's words; null: it can. Only root may ask. */
export function whyNotRun(account: Account, command: string): string | null {
  const env = { PATH: process.env['PATH'] ?? '' };
  const options = { ...account, cwd: '/', env, encoding: 'utf8', timeout: TIMEOUT_MS } as const;
  const { error, status, stderr } = spawnSync(command, ['--version'], options);
  if (status === 0) return null;
  return error?.message ?? (stderr.trim().split('\n')[0] || `it ends with ${status}`);
}

/** Whether the path belongs to `nobody`, the account that all daemons without an account of their own share. */
export function isNobodys(path: string): boolean {
  const stats = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.uid === NOBODY;
}
