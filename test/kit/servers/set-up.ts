/** Vitest's global set-up: the real servers that the tests run against, once per run. Installs what is missing. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { build } from '../programs/built.ts';
import { WINE } from '../programs/wine-prefix.ts';
import { installMissing, type Needed, onPath } from './debian-packages.ts';
import { makeCluster } from './made-cluster.ts';
import { makeMigratedDatabase } from './migrated-database.ts';
import { PEER_PACKAGES } from './peer-packages.ts';
import { makeRunDirectory } from './run-directory.ts';
import { SERVER_PACKAGES, startServers } from './start-servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A real Redis, with a password. Tests share it: use `backends()`, which gives each a prefix of its own. */
    redisUrl: string;
    /** A superuser of a real PostgreSQL server, from which tests make databases of their own. */
    databaseUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  installMissing(NEEDED);
  const removeRunDirectory = makeRunDirectory();
  // The hundreds of processes that tests start take half the time to start when one need not compile what another has.
  const compiled = mkdtempSync(join(tmpdir(), 'platen-test-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = compiled;
  // Tesseract's threads wait for each other busily: a picture takes a quarter of the CPU time on one.
  process.env['OMP_THREAD_LIMIT'] = '1';
  const built = mkdtempSync(join(tmpdir(), 'platen-test-built-'));
  // In watch mode the sources change under way.
  if (!project.vitest.config.watch) await build(built);
  // Nobody needs these databases after a power failure.
  const servers = await startServers({ durable: false });
  const end = async () => {
    await servers.stop();
    removeRunDirectory();
  };
  try {
    await Promise.all([makeMigratedDatabase(servers.databaseUrl), makeCluster()]);
  } catch (error) {
    await end();
    throw error;
  }
  project.provide('redisUrl', servers.redisUrl);
  project.provide('databaseUrl', servers.databaseUrl);
  return end;
}

/** Debian package → whether it is there. The tesseract languages judge labels in those scripts. */
const NEEDED: Needed = {
  ...SERVER_PACKAGES,
  pgbouncer: () => existsSync('/usr/sbin/pgbouncer'),
  'poppler-utils': () => onPath('pdftoppm') !== undefined,
  // Records system calls, and makes a disk fail.
  strace: () => onPath('strace') !== undefined,
  zint: () => onPath('zint') !== undefined,
  'tesseract-ocr': () => onPath('tesseract') !== undefined,
  'tesseract-ocr-eng': () => hasLanguage('eng'),
  'tesseract-ocr-ell': () => hasLanguage('ell'),
  'tesseract-ocr-rus': () => hasLanguage('rus'),
  'tesseract-ocr-jpn': () => hasLanguage('jpn'),
  'tesseract-ocr-heb': () => hasLanguage('heb'),
  'tesseract-ocr-ara': () => hasLanguage('ara'),
  'tesseract-ocr-hin': () => hasLanguage('hin'),
  'tesseract-ocr-tha': () => hasLanguage('tha'),
  'tesseract-ocr-kor': () => hasLanguage('kor'),
  'tesseract-ocr-chi-sim': () => hasLanguage('chi_sim'),
  // hb-view, another eye on what fonts make of a text.
  'libharfbuzz-bin': () => onPath('hb-view') !== undefined,
  ...PEER_PACKAGES,
  // Tests look at the console in a real browser.
  chromium: () => onPath('chromium') !== undefined,
  // The Windows spooler.
  wine64: () => existsSync(WINE),
};

function hasLanguage(language: string): boolean {
  if (onPath('tesseract') === undefined) return false;
  return execFileSync('tesseract', ['--list-langs'], { encoding: 'utf8' }).split('\n').includes(language);
}
