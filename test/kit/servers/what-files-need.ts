/**
 * Which programs of the distribution a test file starts, read from its source and from what it imports of the tests: so
 * that the list of packages is whole, and somebody who may not install any gets all the tests that need none.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { mayInstall, missingOf, NEEDED_BY, type Packages, programsIn } from './debian-packages.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** How sources start a program of this machine: `machine.run` is about another machine, `wine.run` about Windows. */
const STARTED =
  /(?<!machine\.|wine\.|\bwith)\b(?:spawn|spawnSync|execFile|execFileSync|run|programs\.start|start)\(\s*'([\w./-]+)',\s*(?:\[|args\b)/g;
/** Or they look where it is, and have somebody else start it. */
const LOOKED_FOR = /\bonPath\('([\w.-]+)'\)/g;
/** Of the tests, by their paths from the root. */
export const sources: ReadonlyMap<string, string> = new Map(
  globSync(['{test,bench,service}/**/*.ts'], { cwd: ROOT, exclude: ['test/generated-client/**'] })
    .filter((file) => !/debian-packages\./.test(file))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

export function startedIn(source: string): string[] {
  return [STARTED, LOOKED_FOR].flatMap((pattern) =>
    [...source.matchAll(pattern)].map((match) => basename(match[1] ?? '')),
  );
}

/** A file, and what it imports of the tests. */
export function loadedWith(entry: string): Set<string> {
  const loaded = new Set([entry]);
  for (const file of loaded) {
    const imported = (sources.get(file) ?? '').matchAll(/^(?:import|export) (?!type )[^;']*'(\.[^']+)';/gm);
    for (const [, specifier = ''] of imported) {
      const path = normalize(join(dirname(file), specifier));
      if (sources.has(path)) loaded.add(path);
    }
  }
  return loaded;
}

/** Of files that are about Redis itself; others only have their queue there, and can have it in PostgreSQL. */
const ABOUT_REDIS = /new Redis\(|new URL\(backend\.redisUrl|useRedis\(|REDIS_URL|needs Redis\b/;

/** The test files that start a program of one of these packages. */
export function filesThatNeed(packages: Packages): string[] {
  const programs = new Set(programsIn(packages));
  const tests = [...sources.keys()].filter((file) => file.endsWith('.test.ts'));
  return tests.filter(
    (file) =>
      (programs.has('redis-server') && ABOUT_REDIS.test(sources.get(file) ?? '')) ||
      [...loadedWith(file)].some((path) =>
        startedIn(sources.get(path) ?? '').some((program) => programs.has(program)),
      ),
  );
}

/** What a run goes without: packages that are missing and that this user may not install, and the files that need them. */
export function leftOut(project: string): { packages: Packages; files: string[] } {
  if (mayInstall()) return { packages: {}, files: [] };
  const packages = missingOf(NEEDED_BY[project] ?? {});
  const names = project === 'long' ? /\.(long|backends)\.test\.ts$/ : /(?<!\.long|\.pure)\.test\.ts$/;
  return { packages, files: filesThatNeed(packages).filter((file) => names.test(file)) };
}
