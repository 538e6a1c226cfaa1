/** A Debian package to upgrade to. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes of version 0.1.0 the same files as 0.2.0. @param out where both are @returns the file's name */
export function nextVersion(out: string, deb: string): string {
  const stage = mkdtempSync(join(out, 'next-'));
  execFileSync('dpkg-deb', ['-R', join(out, deb), stage]);
  const home = join(stage, 'usr/lib/platen');
  renameSync(join(home, '0.1.0'), join(home, '0.2.0'));
  rmSync(join(home, 'current'));
  symlinkSync('0.2.0', join(home, 'current'));
  for (const file of ['DEBIAN/control', 'usr/lib/platen/0.2.0/package.json']) {
    writeFileSync(join(stage, file), readFileSync(join(stage, file), 'utf8').replaceAll('0.1.0', '0.2.0'));
  }
  rmSync(join(stage, 'DEBIAN/md5sums'));
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', stage, join(out, 'next.deb')]);
  return 'next.deb';
}
