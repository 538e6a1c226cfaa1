/** Programs from the distribution that the tests and the benchmark drive. */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian package → whether it is there. */
export type Needed = Readonly<Record<string, () => boolean>>;

/** Installs what is missing when it may (root, apt). @throws Error saying what to install, when it may not */
export function installMissing(needed: Needed): void {
  const missing = Object.keys(needed).filter((name) => needed[name]?.() === false);
  if (missing.length === 0) return;
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing];
  if (process.getuid?.() !== 0 || onPath('apt-get') === undefined) {
    throw new Error(
      `This needs ${missing.join(', ')} (Debian's names). Install them: sudo ${install.join(' ')}`,
    );
  }
  process.stderr.write(`Installing ${missing.join(', ')} …\n`);
  // Debian's packages start servers and make clusters of their own; these two files keep them from it.
  const policy = '/usr/sbin/policy-rc.d';
  const cluster = '/etc/postgresql-common/createcluster.d/platen-tests.conf';
  const ours = [policy, cluster].filter((file) => !existsSync(file));
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (args: string[]) =>
    execFileSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 });
  try {
    if (ours.includes(policy)) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    if (ours.includes(cluster)) {
      execFileSync('mkdir', ['-p', '/etc/postgresql-common/createcluster.d']);
      writeFileSync(cluster, 'create_main_cluster = false\n');
    }
    try {
      apt(install.slice(1));
    } catch {
      // No package lists yet, or old ones.
      apt(['update']);
      apt(install.slice(1));
    }
  } finally {
    for (const file of ours) rmSync(file, { force: true });
  }
}

export function onPath(command: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .concat('/usr/bin', '/usr/sbin')
    .map((directory) => join(directory, command))
    .find((file) => existsSync(file));
}
