/**
 * An embedded database as a first start leaves it, made once for a run: copying it takes a tenth of the CPU
 * time, and most tests that start an installation are not about its first start.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbedded } from '../../../src/server/store/embedded.ts';
import { putSchemas } from './migrated-database.ts';

const VARIABLE = 'PLATEN_TEST_CLUSTER';

export async function makeCluster(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'platen-test-cluster-'));
  const database = await startEmbedded({ dataDir: directory });
  try {
    await putSchemas(database.poolConfig);
  } finally {
    await database.stop();
  }
  process.env[VARIABLE] = directory;
}

/** Puts a copy where an installation has no database yet. Without a run's set-up the installation makes its own. */
export async function placeCluster(dataDir: string): Promise<void> {
  const made = process.env[VARIABLE];
  if (made === undefined || existsSync(join(dataDir, 'postgres'))) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const parts = ['postgres', 'postgres.key'].map((name) => join(made, name));
  await promisify(execFile)('cp', ['-a', ...parts, dataDir], { timeout: 30_000 });
}
