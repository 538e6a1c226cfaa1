import { chmod, rename, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { agentConfigOf, DISCOVER, EVERYWHERE } from './agent-config.ts';
import { virtualPrinters } from './installation.ts';
import { append, numberFrom, positiveNumber } from './option-values.ts';
import { printLine } from './output.ts';
import { placesFromEnv } from './places.ts';
import { runInstallation } from './run-installation.ts';
import { addSamples } from './samples.ts';

interface UpOptions {
  data: string;
  host: string;
  port: number;
  virtual: number;
  virtualIpp: number;
  virtualSpeed: number;
  printer: string[];
  discover?: true;
  agentConfig?: string;
  readyFile?: string;
  samples?: true;
}

/** `platen up` */
export function upCommand(): Command {
  return new Command('up')
    .description('run service, agent and virtual printers in one process')
    .option('--data <dir>', 'where all state is kept', 'data')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 picks one', numberFrom(0, 65_535), 8310)
    .option('--virtual <n>', 'number of virtual printers (ZPL)', numberFrom(0, 100), 1)
    .option('--virtual-ipp <n>', 'number of virtual IPP printers (PDF and ZPL)', numberFrom(0, 100), 0)
    .option('--virtual-speed <ips>', 'how fast they print, inches per second', positiveNumber, 6)
    .option('--printer <uri>', 'a printer to drive, such as socket://10.0.0.7:9100; repeatable', append, [])
    .option('--discover', DISCOVER)
    .option('--agent-config <file>', "the agent's configuration as JSON; the other options win over it")
    .option(
      '--ready-file <file>',
      'write {url, tokenUrl, tenant, audience, scope} there once everything runs',
    )
    .option('--samples', 'import the sample templates and print a curl line to try them')
    .addHelpText(
      'after',
      '\nDATABASE_URL and REDIS_URL name a PostgreSQL and a Redis server to use instead of the embedded database.',
    )
    .action(async (options: UpOptions) => {
      const { data: dataDir, host, port, printer: printers, readyFile, samples } = options;
      const virtual = virtualPrinters(options.virtual, options.virtualIpp, options.virtualSpeed);
      const agent = await agentConfigOf(options.agentConfig, options.discover && EVERYWHERE, { dataDir });
      // Told before anything is started; they stand beside those of the file.
      await agentConfigOf(undefined, undefined, { dataDir, printers: printers.map((uri) => ({ uri })) });
      const places = placesFromEnv();
      await runInstallation(
        { dataDir, host, port, virtualPrinters: virtual, printers, agent, ...places },
        async (installation, ready) => {
          if (samples) printLine(await addSamples(installation.client, dataDir, ready));
          if (readyFile !== undefined) await writeWhole(readyFile, JSON.stringify(ready));
        },
      );
    });
}

/** A reader sees the whole file or none. Anybody may: it holds no secret, and who waits for it may be another user. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await chmod(`${file}.new`, 0o644);
  await rename(`${file}.new`, file);
}
