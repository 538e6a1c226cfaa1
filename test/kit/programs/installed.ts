/** Packages that a test needs and the project does not: each set has a folder of its own in `test`, with a lock file. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Fetched from npm once, as the lock file has them. @returns the directory of the packages */
export async function installed(set: 'generated-client' | 'printnode-client'): Promise<string> {
  const from = join(ROOT, 'test', set);
  const lock = await readFile(join(from, 'package-lock.json'));
  const name = `${set}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`;
  const cache = join(ROOT, 'node_modules', '.cache');
  const kept = join(cache, name);
  const modules = join(kept, 'node_modules');
  try {
    await access(modules);
  } catch {
    const fresh = join(cache, `${name}-${process.pid}`);
    await mkdir(fresh, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) await cp(join(from, file), join(fresh, file));
    const ci = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', ci, { cwd: fresh, timeout: 240_000 });
    await rename(fresh, kept).catch(() => rm(fresh, { recursive: true }));
  }
  return modules;
}
