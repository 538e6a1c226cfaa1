import { hostname } from 'node:os';
import { Command } from 'commander';
import type { Sighting } from '../agent/discovery/provider.ts';
import { configuredPrinters } from '../agent/discovery/providers/configured.ts';
import { providersOf } from '../agent/discovery/providers/index.ts';
import type { ProviderScan } from '../agent/discovery/scans.ts';
import { standardDrivers } from '../agent/drivers.ts';
import type { Printer } from '../agent/printer/printer.ts';
import { type PrinterEvent, Printers } from '../agent/printer/printers.ts';
import { createLogger } from '../log.ts';
import { agentConfigOf, EVERYWHERE } from './agent-config.ts';
import { confirmedText, HELD } from './confirmed-by.ts';
import { explain } from './explain.ts';
import { append, numberFrom } from './option-values.ts';
import { printJson, printLine, printParagraph, table } from './output.ts';
import { shortIds } from './short-id.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';

interface DiscoverOptions {
  printer: string[];
  interface: string[];
  zebra: string[];
  snmp: string[];
  config?: string;
  seconds: number;
  follow?: true;
  json?: true;
}

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
    .option('--config <file>', "an agent's configuration as JSON; the other options win over it")
    .option('--seconds <n>', 'how long to look', numberFrom(1, 3600), 5)
    .option('--follow', 'go on until stopped, and say what changes')
    .option('--json', 'print JSON; with --follow a line for each event')
    .action(async (options: DiscoverOptions) => {
      const told = untilToldToStop(createLogger());
      const enough = AbortSignal.timeout(options.seconds * 1000);
      await look(options, options.follow ? told : AbortSignal.any([told, enough]));
    });
}

/** Looks until the signal is aborted, and says what there is; nothing is kept. */
async function look(options: DiscoverOptions, end: AbortSignal): Promise<void> {
  const { printer, interface: interfaces, zebra, snmp } = options;
  const search = {
    ...EVERYWHERE,
    ...(interfaces.length > 0 && { interfaces }),
    ...(zebra.length > 0 && { zebra: { targets: zebra } }),
    ...(snmp.length > 0 && { snmp: { targets: snmp } }),
  };
  const config = await agentConfigOf(options.config, search, {
    dataDir: '.',
    ...(printer.length > 0 && { printers: printer.map((uri) => ({ uri })) }),
  });
  const printers: Printers = new Printers({
    config,
    drivers: standardDrivers,
    // The ID of a printer at an address of this computer is made with `host`. An agent has its own ID there.
    host: hostname(),
    busy: () => false,
    providers: [
      configuredPrinters(config.printers),
      ...providersOf(config.discovery, standardDrivers.transports),
    ],
    known: { all: () => [], put: () => {}, forget: () => {} },
    onEvent: (event, found) => tell(event, described(found, printers), options),
    logger: createLogger({ level: 'silent' }),
  });
  printers.start();
  try {
    await stopped(end);
    const found = printers.all.map((printer) => described(printer, printers));
    if (options.json && !options.follow) {
      printJson({
        printers: found,
        providers: printers.lastScans.map((scan) => scanOf(scan, printers.unreachedAt)),
      });
    } else if (!options.follow) sum(found, printers.lastScans, printers.unreachedAt);
  } finally {
    await printers.stop();
    await Promise.all(printers.all.map(({ device }) => device.drop()));
  }
}

/** The printer, with every address at which it is. */
function described(printer: Printer, printers: Printers) {
  return { ...printer.describe(), ways: printers.addressesOf(printer) };
}
type Described = ReturnType<typeof described>;

/** Reports an event: on stdout where events are the result, else on stderr, to leave stdout to the result. */
function tell(event: PrinterEvent, printer: Described, { follow, json }: DiscoverOptions): void {
  if (json && follow) {
    printLine(JSON.stringify({ event, at: new Date().toISOString(), printer }));
  } else if (!json) {
    const { id, name, ways, uri } = printer;
    const others = ways.length > 1 ? `, ${ways.length} ways` : '';
    const line = `${event.padEnd(8)} ${id}  ${name}  ${uri}${others}  ${stateOf(printer)}\n`;
    (follow ? process.stdout : process.stderr).write(line);
  }
}

type Unreached = (uri: string) => string | null;

function scanOf({ provider, found: findings, error }: ProviderScan, unreached: Unreached) {
  const found = findings.map((finding) => {
    const why = unreached(finding.uri);
    return why === null ? finding : { ...finding, unreached: why };
  });
  return error === null ? { provider, found } : { provider, found, error: explain(error) };
}

function sum(printers: Described[], scans: ProviderScan[], unreached: Unreached): void {
  const short = shortIds(printers.map(({ id }) => id));
  const rows = printers.map((one) => [
    short.get(one.id) ?? one.id,
    one.name,
    one.model ?? '',
    one.uri,
    stateOf(one),
    confirmedText(one.confirmedBy),
  ]);
  printLine(table(['ID', 'NAME', 'MODEL', 'ADDRESS', 'STATE', 'CONFIRMED BY'], rows));
  if (printers.some(({ confirmedBy }) => confirmedBy === 'person')) printParagraph(HELD);
  for (const { provider, found, error } of scans) {
    const lines =
      error === null ? found.map((one) => saidOf(one, unreached(one.uri))) : [`! ${explain(error)}`];
    printLine(`\n${provider}${lines.length === 0 ? ': nothing' : ''}`);
    for (const line of lines) printLine(`  ${line}`);
  }
}

function stateOf({ state, reasons }: Described): string {
  return [state, ...reasons].join(', ');
}

/** An address, and what was reported about the printer there. */
function saidOf({ uri, name, evidence, status }: Sighting, unreached: string | null): string {
  const said = Object.entries(evidence).map(([key, value]) => `${key} ${value}`);
  const how = status === undefined ? [] : [[status.state, ...status.reasons].join(', ')];
  const why = unreached === null ? [] : [`! ${unreached}`];
  return [uri, ...(name === undefined ? [] : [`"${name}"`]), ...said, ...how, ...why].join('  ');
}
