import { Command } from 'commander';
import { platenFile, readConfigFile } from './config-file.ts';
import { hostOption, listenOn, portOption } from './listening.ts';
import { metricsFrom } from './metrics.ts';
import { needsOwner, ownDirectory } from './own-directory.ts';
import { placesFromEnv, placesOver } from './places.ts';
import { runInstallation } from './run-installation.ts';

interface ServerCommandOptions {
  data: string;
  host?: string;
  port?: number;
  config?: string;
}

/** `platen server` */
export function serverCommand(): Command {
  return new Command('server')
    .description('run the service alone; agents run elsewhere')
    .option(
      '--data <dir>',
      'where its admin token is kept, and its database when DATABASE_URL is not set',
      ownDirectory('data'),
    )
    .option('--config <file>', 'platen.json; environment and other options win over it')
    .addOption(hostOption())
    .addOption(portOption())
    .addHelpText(
      'after',
      '\nDATABASE_URL and REDIS_URL name the PostgreSQL and the Redis that service and agents share;' +
        '\nPLATEN_PUBLIC_URL is the address that callers see when a proxy stands before the service.',
    )
    .action(async (options: ServerCommandOptions) => {
      needsOwner('server', options.data);
      const written = options.config === undefined ? null : await readConfigFile(options.config, platenFile);
      await runInstallation({
        dataDir: options.data,
        ...listenOn(options, written),
        metrics: metricsFrom(written?.metrics),
        virtualPrinters: [],
        agent: false,
        folders: written?.folders ?? [],
        ...placesOver(placesFromEnv(), written ?? {}),
      });
    });
}
