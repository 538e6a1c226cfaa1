/**
 * Packs a version as an archive, for machines that keep versions side by side themselves (`platen service
 * install`, `platen update`), and a signed manifest beside it if the maintainer's key is given.
 */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { cpSync, lstatSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signedManifest } from '../../src/cli/update/manifest.ts';
import { treeOf } from './bundle.ts';
import type { Build } from './debian.ts';
import { type Edition, layOut, PACKAGE_NAMES, PLATFORM, settle } from './layout.ts';

export interface ArchiveBuild extends Build {
  /** PEM of the maintainer's private key, Ed25519; absent: `platen update` cannot update to the version. */
  signingKey?: string;
  /** The level of gzip, 1 to 9. */
  level?: number;
}

/** @returns the names of the files that were made */
export async function versionArchive(build: ArchiveBuild, edition: Edition): Promise<string[]> {
  const { root, version, time, signingKey } = build;
  const stage = mkdtempSync(join(tmpdir(), 'platen-archive-'));
  try {
    const into = join(stage, version);
    await layOut({ root, edition, version, into });
    cpSync(join(root, 'service/package/launch'), join(into, 'bin/launch'));
    if (signingKey !== undefined) {
      const pem = createPublicKey(createPrivateKey(signingKey)).export({ type: 'spki', format: 'pem' });
      writeFileSync(join(into, 'update-key.pem'), pem);
    }
    settle(into, time);
    return packArchive(stage, PACKAGE_NAMES[edition], build);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Archive and manifest of what lies in `<stage>/<version>`; the same files give the same bytes. */
export function packArchive(stage: string, name: string, build: Omit<ArchiveBuild, 'root'>): string[] {
  const { out, version, time, signingKey, level = 6 } = build;
  const base = `${name}_${version}_${PLATFORM}`;
  const archive = `${base}.tar.gz`;
  const owner = [
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--sort=name',
    `--mtime=@${time.getTime() / 1000}`,
  ];
  // `-n` leaves out the name and the time that gzip would put in.
  const gzip = ['--format=gnu', `--use-compress-program=gzip -n -${level}`];
  execFileSync('tar', ['-C', stage, ...owner, ...gzip, '-cf', join(build.out, archive), version]);
  if (signingKey === undefined) return [archive];
  const entries = [version, ...treeOf(join(stage, version)).map((path) => join(version, path))];
  const sizes = entries
    .map((path) => lstatSync(join(stage, path)))
    .map((one) => (one.isFile() ? one.size : 0));
  const manifest = `${base}.update.json`;
  const content = {
    format: 1 as const,
    name,
    version,
    platform: PLATFORM,
    archive,
    size: statSync(join(out, archive)).size,
    sha256: createHash('sha256')
      .update(readFileSync(join(out, archive)))
      .digest('hex'),
    unpacked: sizes.reduce((sum, size) => sum + size, 0),
    entries: entries.length,
  };
  writeFileSync(join(out, manifest), signedManifest(content, createPrivateKey(signingKey)));
  return [archive, manifest];
}
