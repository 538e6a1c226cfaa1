/** Vitest's global set-up: the real servers that the tests run against, once per run. Installs what is missing. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { build } from '../programs/built.ts';
import { installMissing, mayInstall, NEEDED_BY } from './debian-packages.ts';
import { makeCluster } from './made-cluster.ts';
import { makeMigratedDatabase } from './migrated-database.ts';
import { makeRunDirectory } from './run-directory.ts';
import { startServers } from './start-servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * A real Redis, with a password. Tests share it: use `backends()`, which gives each a prefix of its own. Empty: it is
     * not installed, and this user may not install it.
     */
    redisUrl: string;
    /** A superuser of a real PostgreSQL server, from which tests make databases of their own. */
    databaseUrl: string;
    /** The name of the project that runs. */
    project: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const needed = NEEDED_BY[project.name];
  if (needed === undefined)
    throw new Error(`debian-packages.ts does not say what project ${project.name} needs`);
  if (mayInstall()) installMissing(needed);
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
  project.provide('project', project.name);
  project.provide('databaseUrl', servers.databaseUrl);
  return end;
}
