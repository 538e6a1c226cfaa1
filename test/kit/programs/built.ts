/**
 * Bundles the programs that tests start in processes of their own, once for a run and as for a package. A run
 * starts some hundred of them, and each loads in a third of the time that the sources take. Without a run's
 * set-up the sources are used.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vitest/config';
import { buildConsole } from '../../../service/console.ts';
import { bundle, nameIn, REFERENCE } from '../../../service/package/bundle.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const VARIABLE = 'PLATEN_TEST_BUILT';
const LAUNCHER = 'service/platen';
const MAIN = 'src/main.ts';
const PROCESSES = [
  'test/kit/agent/agent-process.ts',
  'test/queue/consumer-process.ts',
  'test/store/embedded-parent.ts',
  'test/update/update-process.ts',
  'test/virtual/printer-process.ts',
] as const;

/** Where a process's modules are. */
const nameOf = (path: string) => nameIn(ROOT, join(ROOT, path));

/** Builds them in an empty directory, from which the tests of this run then take them. */
export async function build(directory: string): Promise<void> {
  // The service serves the console that lies beside it: it has to be of these sources, not an older build.
  await buildConsole(ROOT);
  const processes = PROCESSES.map((path) => [nameOf(path), path]);
  await bundle({
    root: ROOT,
    entries: Object.fromEntries([['platen', MAIN], ...processes]),
    into: join(directory, 'app'),
  });
  cpSync(join(ROOT, 'package.json'), join(directory, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  mkdirSync(join(directory, 'service'));
  const launcher = readFileSync(join(ROOT, LAUNCHER), 'utf8').replace(MAIN, 'app/platen.js');
  writeFileSync(join(directory, LAUNCHER), launcher, { mode: 0o755 });
  // Some tests run it as another user.
  chmodSync(directory, 0o755);
  process.env[VARIABLE] = directory;
}

/** The command line. */
export const PLATEN = join(process.env[VARIABLE] ?? ROOT, LAUNCHER);

/**
 * Flags for Node processes that run for seconds: with further threads for collecting garbage and compiling,
 * the start of a process takes a fifth more CPU time.
 */
export const SHORT_LIVED = ['--single-threaded', '--min-semi-space-size=16'] as const;

/** The file that Node runs for this process. */
export function processFile(path: (typeof PROCESSES)[number]): string {
  const built = process.env[VARIABLE];
  return built === undefined ? join(ROOT, path) : join(built, 'app', `${nameOf(path)}.js`);
}

/** Folders with modules that name files which are in the bundle. */
const NAMING = ['src', 'test/kit'].map((folder) => join(ROOT, folder));

/**
 * Takes the threads that a test's own process starts from the bundle too, with all that is loaded into them:
 * inside such a thread an error is an instance of the bundle's class. The changed source is kept for later
 * runs, so it reads the directory from the environment.
 */
export function builtThreads(): Plugin {
  return {
    name: 'threads made once for a run',
    enforce: 'pre',
    transform(code, id) {
      if (!NAMING.some((folder) => id.startsWith(folder))) return null;
      return code.replaceAll(REFERENCE, (all, specifier: string) => {
        if (!specifier.endsWith('.ts')) return all;
        const name = nameIn(ROOT, resolve(dirname(id), specifier));
        const built = `process.env['${VARIABLE}']`;
        return `new URL(${built} ? \`file://\${${built}}/app/${name}.js\` : '${specifier}', import.meta.url)`;
      });
    },
  };
}
