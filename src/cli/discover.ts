import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { agentConfig, type PrinterEntry } from '../agent/config.ts';
import { deviceFor } from '../agent/devices.ts';
import { configuredPrinters } from '../agent/discovery/configured.ts';
import { Discovery, type DiscoveryEvent } from '../agent/discovery/discovery.ts';
import type { FoundPrinter } from '../agent/discovery/found-printer.ts';
import { standardDrivers } from '../agent/drivers.ts';
import { createLogger } from '../log.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { append, numberFrom } from './option-values.ts';
import { printJson, printLine, table } from './output.ts';

/** `platen discover` */
export function discoverCommand(): Command {
  return new Command('discover')
    .description('look for printers as an agent on this machine would, and ask each who it is')
    .option('--printer <uri>', 'a printer to ask, such as socket://10.0.0.7:9100; repeatable', append, [])
    .option('--seconds <n>', 'how long to look', numberFrom(1, 3600), 5)
    .option('--json', 'print JSON')
    .action(async (options: { printer: string[]; seconds: number; json?: true }) => {
      const show = options.json
        ? () => {}
        : (event: DiscoveryEvent, printer: FoundPrinter) => {
            const { id, name, state, reasons } = printer.describe();
            process.stderr.write(`${event.padEnd(8)} ${id}  ${name}  ${[state, ...reasons].join(', ')}\n`);
          };
      const found = await look(options.printer, options.seconds * 1000, show);
      if (options.json) return printJson(found);
      const rows = found.map((one) => [
        one.id,
        one.name,
        one.model ?? '',
        one.uri,
        [one.state, ...one.reasons].join(', '),
      ]);
      printLine(table(['ID', 'NAME', 'MODEL', 'ADDRESS', 'STATE'], rows));
    });
}

/** Scans for `forMs`; nothing is kept. */
async function look(
  uris: string[],
  forMs: number,
  onEvent: (event: DiscoveryEvent, printer: FoundPrinter) => void,
) {
  const { printers, timings, transport, access } = configOf(uris.map((uri) => ({ uri })));
  const discovery = new Discovery({
    providers: [configuredPrinters(printers)],
    known: { all: () => [], put: () => {}, forget: () => {} },
    timings: { ...timings, scan: 1_000 },
    device: (candidate) => deviceFor(candidate, { timings, transport, access }, standardDrivers),
    onEvent,
    logger: createLogger({ level: 'error' }),
  });
  discovery.start();
  try {
    await pause(forMs);
    return discovery.printers.map((printer) => printer.describe());
  } finally {
    await discovery.stop();
  }
}

function configOf(printers: Pick<PrinterEntry, 'uri'>[]) {
  const config = agentConfig.safeParse({ dataDir: '.', printers });
  if (!config.success) throw new CommandFailure(z.prettifyError(config.error), EXIT.usage);
  return config.data;
}
