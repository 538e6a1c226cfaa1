import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { agentConfig } from '../agent/config.ts';
import { deviceFor } from '../agent/devices.ts';
import { configuredPrinters } from '../agent/discovery/configured.ts';
import { Discovery, type DiscoveryEvent } from '../agent/discovery/discovery.ts';
import type { FoundPrinter } from '../agent/discovery/found-printer.ts';
import type { Finding } from '../agent/discovery/provider.ts';
import { providersOf } from '../agent/discovery/providers.ts';
import { standardDrivers } from '../agent/drivers.ts';
import type { PrinterDescription } from '../contract/printer.ts';
import { createLogger } from '../log.ts';
import { CommandFailure, EXIT, explain } from './failure.ts';
import { append, numberFrom } from './option-values.ts';
import { printJson, printLine, table } from './output.ts';

interface DiscoverOptions {
  printer: string[];
  interface: string[];
  zebra: string[];
  snmp: string[];
  seconds: number;
  json?: true;
}

/** What one provider said, whether Platen can drive it or not; or why it said nothing. */
type Said = { provider: string; found: Finding[] } | { provider: string; error: string };

/** `platen discover` */
export function discoverCommand(): Command {
  return new Command('discover')
    .description(
      'look for printers as an agent on this machine would, and ask each who it is; nothing is printed',
    )
    .option('--printer <uri>', 'a printer to ask, such as socket://10.0.0.7:9100; repeatable', append, [])
    .option(
      '--interface <address>',
      'listen for announcements here, and not on all but loopback; repeatable',
      append,
      [],
    )
    .option('--zebra <targets>', "hosts or subnets to ask by Zebra's own discovery; repeatable", append, [])
    .option('--snmp <targets>', 'hosts or subnets to ask by SNMP; repeatable', append, [])
    .option('--seconds <n>', 'how long to look', numberFrom(1, 3600), 5)
    .option('--json', 'print JSON')
    .action(async (options: DiscoverOptions) => {
      const show = options.json
        ? () => {}
        : (event: DiscoveryEvent, printer: FoundPrinter) => {
            const { id, name, state, reasons } = printer.describe();
            process.stderr.write(`${event.padEnd(8)} ${id}  ${name}  ${[state, ...reasons].join(', ')}\n`);
          };
      const { printers, said } = await look(options, show);
      if (options.json) return printJson({ printers, providers: said });
      const rows = printers.map((one) => [
        one.id,
        one.name,
        one.model ?? '',
        one.uri,
        [one.state, ...one.reasons].join(', '),
      ]);
      printLine(table(['ID', 'NAME', 'MODEL', 'ADDRESS', 'STATE'], rows));
      printLine();
      for (const one of said) {
        if ('error' in one) printLine(`${one.provider}: ${one.error}`);
        else printLine(`${one.provider}: ${one.found.map(({ uri }) => uri).join(', ') || 'nothing'}`);
      }
    });
}

/** Scans for as long as asked; nothing is kept. */
async function look(
  options: DiscoverOptions,
  onEvent: (event: DiscoveryEvent, printer: FoundPrinter) => void,
): Promise<{ printers: PrinterDescription[]; said: Said[] }> {
  const config = configOf(options);
  const providers = providersOf(config.discovery);
  const logger = createLogger({ level: 'silent' });
  const discovery = new Discovery({
    host: hostname(),
    busy: () => false,
    providers: [configuredPrinters(config.printers), ...providers],
    known: { all: () => [], put: () => {}, forget: () => {} },
    timings: { ...config.timings, scan: 1_000 },
    device: (candidate) => deviceFor(candidate, config, standardDrivers),
    onEvent,
    logger,
  });
  discovery.start();
  try {
    await pause(options.seconds * 1000);
    const limit = AbortSignal.timeout(config.timings.scanTimeout);
    const said = providers.map(async (provider): Promise<Said> => {
      try {
        return { provider: provider.id, found: await provider.find(limit) };
      } catch (error) {
        return { provider: provider.id, error: explain(error) };
      }
    });
    return {
      said: await Promise.all(said),
      printers: discovery.printers.map((printer) => printer.describe()),
    };
  } finally {
    await discovery.stop();
    await Promise.all(discovery.printers.map(({ device }) => device.drop()));
  }
}

function configOf(options: DiscoverOptions) {
  const config = agentConfig.safeParse({
    dataDir: '.',
    printers: options.printer.map((uri) => ({ uri })),
    discovery: {
      dnsSd: true,
      cups: true,
      usb: true,
      ...(options.interface.length === 0 ? {} : { interfaces: options.interface }),
      ...(options.zebra.length === 0 ? {} : { zebra: { targets: options.zebra } }),
      ...(options.snmp.length === 0 ? {} : { snmp: { targets: options.snmp } }),
    },
  });
  if (!config.success) throw new CommandFailure(z.prettifyError(config.error), EXIT.usage);
  return config.data;
}
