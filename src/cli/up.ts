import { chmod, rename, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { agentConfigOf, DISCOVER, EVERYWHERE, PRINTER } from './agent-config.ts';
import { platenFile, readConfigFile } from './config-file.ts';
import { consoleLine } from './console.ts';
import { testPrinters, virtualPrinters } from './installation.ts';
import { hostOption, listenOn, portOption } from './listening.ts';
import { metricsFrom } from './metrics.ts';
import { append, numberFrom, positiveNumber } from './option-values.ts';
import { printLine } from './output.ts';
import { needsOwner, ownDirectory } from './own-directory.ts';
import { placesFromEnv, placesOver } from './places.ts';
import { runInstallation } from './run-installation.ts';
import { addSamples } from './samples.ts';

interface UpOptions {
  data: string;
  host?: string;
  port?: number;
  config?: string;
  virtual?: number;
  virtualIpp: number;
  sandbox?: true;
  virtualSpeed: number;
  printer: string[];
  discover?: true;
  agentConfig?: string;
  readyFile?: string;
  samples?: true;
  signIn?: true;
}

/** `platen up` */
export function upCommand(): Command {
  return new Command('up')
    .description('run service, agent and virtual printers in one process')
    .option('--data <dir>', 'where all state is kept', ownDirectory('data'))
    .option('--config <file>', 'platen.json; environment and other options win over it')
    .addOption(hostOption())
    .addOption(portOption())
    .option(
      '--virtual <n>',
      'number of virtual printers (ZPL); 1 without a configuration',
      numberFrom(0, 100),
    )
    .option('--virtual-ipp <n>', 'number of virtual IPP printers (PDF and ZPL)', numberFrom(0, 100), 0)
    .option('--sandbox', 'virtual printers for test keys, one for each outcome: printed, failed, held, slow')
    .option('--virtual-speed <ips>', 'how fast they print, inches per second', positiveNumber, 6)
    .option('--printer <uri>', PRINTER, append, [])
    .option('--discover', DISCOVER)
    .option('--agent-config <file>', "the agent's configuration as JSON; the other options win over it")
    .option(
      '--ready-file <file>',
      'write {url, tokenUrl, tenant, audience, scope} there once everything runs',
    )
    .option('--samples', 'import the sample templates and print a curl line to try them')
    .option('--sign-in', 'print a link that opens the console and signs in once')
    .addHelpText(
      'after',
      '\nDATABASE_URL and REDIS_URL name a PostgreSQL and a Redis server to use instead of the embedded database.',
    )
    .action(async (options: UpOptions) => {
      const { data: dataDir, readyFile, samples, signIn } = options;
      needsOwner('up', dataDir);
      const written = options.config === undefined ? null : await readConfigFile(options.config, platenFile);
      const zpl = options.virtual ?? (written === null ? 1 : 0);
      const virtual = [
        ...virtualPrinters(zpl, options.virtualIpp, options.virtualSpeed),
        ...(options.sandbox ? testPrinters(options.virtualSpeed) : []),
      ];
      const search = options.discover && EVERYWHERE;
      const file = options.agentConfig ?? written?.agent;
      const agent = await agentConfigOf(file, search, { dataDir }, options.printer);
      const service = { ...listenOn(options, written), ...placesOver(placesFromEnv(), written ?? {}) };
      await runInstallation(
        {
          ...{ dataDir, ...service, metrics: metricsFrom(written?.metrics), virtualPrinters: virtual, agent },
          folders: written?.folders ?? [],
        },
        async (installation, ready) => {
          if (samples) printLine(await addSamples(installation.client, dataDir, ready));
          if (signIn) printLine(consoleLine(await installation.client.signInLink()));
          if (readyFile !== undefined) await writeWhole(readyFile, JSON.stringify(ready));
        },
      );
    });
}

/** Readers see the whole file or none. Any user may read it: it holds no secret, and they may wait for it. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await chmod(`${file}.new`, 0o644);
  await rename(`${file}.new`, file);
}
