/**
 * The version before the newest change of the schema, out of the repository's history: beside it this version migrates, and
 * services and agents of both have to get on with each other. A change of a baseline is itself that version: a database with
 * another baseline is refused.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '..', '..');
const SCHEMAS = ['src/server/store/migrations', 'src/queue/postgres/schema'];
const BASELINES = SCHEMAS.map((directory) => `${directory}/0001-*`);
const dependencies = z.object({ dependencies: z.record(z.string(), z.string()) });

export interface OlderVersion {
  commit: string;
  /** Its command line. */
  platen: string;
}

/** @param directory where it is put. @returns a string: why there is none */
export function olderVersion(directory: string): OlderVersion | string {
  try {
    const commit = git('rev-parse', '--verify', `${olderCommit()}^{commit}`);
    const text = git('show', `${commit}:package.json`);
    const now = readFileSync(join(ROOT, 'package.json'), 'utf8');
    const [needs, has] = [text, now].map((json) => dependencies.parse(JSON.parse(json)).dependencies);
    if (JSON.stringify(needs) !== JSON.stringify(has)) return 'it had other dependencies';
    const home = join(directory, 'older');
    mkdirSync(home);
    const packed = join(directory, 'older.tar');
    git('archive', '--output', packed, commit);
    execFileSync('tar', ['-xf', packed, '-C', home]);
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
    return { commit, platen: join(home, 'service/platen') };
  } catch {
    return 'the history of the repository does not have it';
  }
}

/** The commit that has the schema as it was before its newest change, or after it where that was of a baseline. */
function olderCommit(): string {
  if (git('status', '--porcelain', '--', ...SCHEMAS) !== '') return 'HEAD';
  const newest = git('log', '-1', '--format=%H', '--', ...SCHEMAS);
  const isBaseline = git('show', '--format=', '--name-only', newest, '--', ...BASELINES) !== '';
  return isBaseline ? newest : `${newest}~1`;
}

function git(...words: string[]): string {
  return execFileSync('git', words, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
