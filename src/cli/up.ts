import { rename, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { createLogger } from '../log.ts';
import { Installation, placesFromEnv, virtualPrinters } from './installation.ts';
import { append, numberFrom, positiveNumber } from './option-values.ts';
import { printLine } from './output.ts';
import { addSamples } from './samples.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';

interface UpOptions {
  data: string;
  host: string;
  port: number;
  virtual: number;
  virtualSpeed: number;
  printer: string[];
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
    .option('--virtual <n>', 'number of virtual printers', numberFrom(0, 100), 1)
    .option('--virtual-speed <ips>', 'how fast they print, inches per second', positiveNumber, 6)
    .option('--printer <uri>', 'a printer to drive, such as socket://10.0.0.7:9100; repeatable', append, [])
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
      const logger = createLogger();
      const installation = new Installation({
        dataDir: options.data,
        host: options.host,
        port: options.port,
        virtualPrinters: virtualPrinters(options.virtual, options.virtualSpeed),
        printers: options.printer,
        agent: true,
        ...placesFromEnv(),
        logger,
      });
      const stopSignal = untilToldToStop(logger);
      try {
        const ready = await installation.start(stopSignal);
        if (options.samples) printLine(await addSamples(installation.client, options.data, ready));
        if (options.readyFile !== undefined) await writeWhole(options.readyFile, JSON.stringify(ready));
        printLine(`platen is ready at ${ready.url}`);
        await stopped(stopSignal);
      } catch (error) {
        if (!stopSignal.aborted) throw error;
      } finally {
        await installation.stop();
      }
    });
}

/** A reader sees the whole file or none. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}
