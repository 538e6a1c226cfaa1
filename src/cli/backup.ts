import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { ClientConfig } from 'pg';
import { createLogger } from '../log.ts';
import { checkBackup, makeBackup, restoreBackup } from '../server/store/backup/backup.ts';
import { startEmbedded } from '../server/store/embedded.ts';
import { EmbeddedError } from '../server/store/embedded-error.ts';
import { ownerOf, reachEmbedded } from '../server/store/embedded-reach.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { printJson, printLine, table } from './output.ts';
import { ownDirectory } from './own-directory.ts';
import { placesFromEnv } from './places.ts';
import { keepFilesPrivate } from './private-files.ts';
import { noteRestored } from './restored.ts';
import { untilToldToStop } from './stop-signal.ts';

interface BackupOptions {
  data: string;
  json?: true;
}

const OWN_SERVER =
  'The back-up is for the embedded database. One of your own (DATABASE_URL) has its own tools, such as pg_dump';

/** `platen backup` */
export function backupCommand(): Command {
  return new Command('backup')
    .description('write all that the embedded database holds to a file, while the service runs')
    .argument('<file>', 'the file, which must not be there; its owner alone can read it')
    .option('--data <dir>', 'data directory of the service', ownDirectory('data'))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe key that seals secrets (platen.key in the data directory, or PLATEN_KEY) is not in the file: keep it elsewhere.',
    )
    .action(async (file: string, options: BackupOptions) => {
      keepFilesPrivate();
      const { data, json } = options;
      if (!hasDatabase(data)) {
        throw new CommandFailure(`${data} has no embedded database. ${OWN_SERVER}.`, EXIT.usage);
      }
      const signal = untilToldToStop(createLogger());
      const made = await onDatabase(data, signal, (database) => makeBackup(database, file, signal));
      if (json) return printJson({ file, ...made });
      printLine(`${file}: ${made.tables} tables, as they were at ${made.at}`);
    });
}

/** `platen restore` */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('make the embedded database of a back-up; jobs that may have been printed since are held')
    .argument('<file>', 'what "platen backup" wrote')
    .option('--data <dir>', 'data directory of the service, which must not run', ownDirectory('data'))
    .option('--force', 'replace the data that is there')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe key of the service that wrote the file (platen.key) belongs in the data directory, or in PLATEN_KEY, first: without it' +
        '\nwebhooks need new secrets.',
    )
    .action(async (file: string, options: BackupOptions & { force?: true }) => {
      keepFilesPrivate();
      const { data, force = false, json } = options;
      if (placesFromEnv().databaseUrl !== undefined) throw new CommandFailure(`${OWN_SERVER}.`, EXIT.usage);
      const { at } = await checkBackup(file);
      const database = await startEmbedded({ dataDir: data }).catch((error: unknown) => {
        if (!(error instanceof EmbeddedError) || error.code !== 'directory-in-use') throw error;
        throw new CommandFailure(
          `${error.message}: stop it first. A database is restored while no service runs.`,
        );
      });
      try {
        const service = database.poolConfig;
        const { held } = await restoreBackup({ owner: await ownerOf(data, service), service, force }, file);
        await noteRestored(data);
        if (json) return printJson({ file, at, held });
        printLine(`The database is as it was at ${at}.`);
        if (held.length === 0) return printLine('No job is held: all had ended.');
        printLine(
          `Of ${held.length} jobs nobody knows what was printed since; they are held until somebody decides:\n`,
        );
        const rows = held.map((job) => [
          job.id,
          job.tenant,
          job.template,
          job.printer,
          `${job.printed}/${job.total}`,
        ]);
        printLine(table(['JOB', 'TENANT', 'TEMPLATE', 'PRINTER', 'PRINTED THEN'], rows));
      } finally {
        await database.stop();
      }
    });
}

function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, 'postgres/data/PG_VERSION'));
}

/** Works on the database of a directory: of the service that runs there, else it is started for that long. */
async function onDatabase<T>(
  dataDir: string,
  signal: AbortSignal,
  work: (database: ClientConfig) => Promise<T>,
): Promise<T> {
  try {
    const own = await startEmbedded({ dataDir, signal });
    try {
      return await work(own.poolConfig);
    } finally {
      await own.stop();
    }
  } catch (error) {
    if (!(error instanceof EmbeddedError) || error.code !== 'directory-in-use') throw error;
  }
  await using running = await reachEmbedded(dataDir);
  return await work(running.service);
}
