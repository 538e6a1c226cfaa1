/**
 * The first start after a restore, where the lanes are in Redis: they are newer than the database, and jobs that wait there
 * may be held here, or unknown. The lanes in PostgreSQL are made anew with the database.
 */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lanesWithJobs } from '../queue/index.ts';
import { giveToOwner } from '../server/store/embedded-lock.ts';
import { CommandFailure } from './failure.ts';
import type { Places } from './places.ts';

const MARK = 'restored';
const REDIS_MS = 30_000;

export async function noteRestored(dataDir: string): Promise<void> {
  const file = join(dataDir, MARK);
  await writeFile(file, `${new Date().toISOString()}\n`, { mode: 0o600, flush: true });
  giveToOwner(file);
}

/** @throws CommandFailure while jobs of before are in the lanes; QueueError */
export async function afterRestore(
  dataDir: string,
  { redisUrl, queuePrefix = 'platen' }: Places,
): Promise<void> {
  const mark = join(dataDir, MARK);
  if (!existsSync(mark)) return;
  if (redisUrl !== undefined) {
    const lanes = await lanesWithJobs(redisUrl, queuePrefix, REDIS_MS);
    if (lanes > 0) {
      throw new CommandFailure(
        `The database was restored, and ${lanes} lanes in Redis still have jobs under the prefix "${queuePrefix}". Let the agents ` +
          'print those first, or start service and agents with another PLATEN_QUEUE_PREFIX, where nothing of before is printed.',
      );
    }
  }
  await rm(mark);
}
