import { Command } from 'commander';
import { numberFrom } from './option-values.ts';
import { placesFromEnv } from './places.ts';
import { runInstallation } from './run-installation.ts';

/** `platen server` */
export function serverCommand(): Command {
  return new Command('server')
    .description('run the service alone; agents run elsewhere')
    .option(
      '--data <dir>',
      'where its admin token is kept, and its database when DATABASE_URL is not set',
      'data',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 picks one', numberFrom(0, 65_535), 8310)
    .addHelpText(
      'after',
      '\nDATABASE_URL and REDIS_URL name the PostgreSQL and the Redis that service and agents share;' +
        '\nPLATEN_PUBLIC_URL is the address that callers see when a proxy stands before the service.',
    )
    .action(async (options: { data: string; host: string; port: number }) => {
      await runInstallation({
        dataDir: options.data,
        host: options.host,
        port: options.port,
        virtualPrinters: [],
        printers: [],
        agent: false,
        ...placesFromEnv(),
      });
    });
}
