/**
 * A database with the schemas of this version and nothing in them, made once for a run: copying it takes less
 * time than all migrations, and most tests are not about those.
 */
import { Client, type PoolConfig } from 'pg';
import { createLogger } from '../../../src/log.ts';
import { migrate, openQueues } from '../../../src/queue/index.ts';
import { PLATEN } from '../../../src/server/store/schema.ts';

export const MIGRATED = 'migrated';

/** @param databaseUrl of the server, by a superuser */
export async function makeMigratedDatabase(databaseUrl: string): Promise<void> {
  const admin = new Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${MIGRATED}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${MIGRATED}`;
    await putSchemas({ connectionString: url.href });
    // PostgreSQL copies no database to which somebody is connected.
    await admin.query(`ALTER DATABASE ${MIGRATED} ALLOW_CONNECTIONS false`);
  } finally {
    await admin.end();
  }
}

/** The schemas of the queues and of the service, as a start of this version puts them there. */
export async function putSchemas(database: PoolConfig): Promise<void> {
  const logger = createLogger({ level: 'silent' });
  const queues = await openQueues({ database, logger });
  await queues.close({ timeoutMs: 0 });
  await migrate(database, PLATEN);
}
