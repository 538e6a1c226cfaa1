/** A whole site of real processes, in a directory of its own: databases, service, agents, and printers on TCP ports. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { serviceFile } from '../../src/cli/which-service.ts';
import { freePort } from '../kit/wire/listening.ts';
import { type Database, postgresIn, redisIn } from './databases.ts';
import { PaperPrinter, type PaperPrinterOptions } from './paper-printer.ts';
import { PlatenProcess } from './platen-process.ts';
import { Poster, TEMPLATE } from './posted-jobs.ts';
import type { Random } from './random.ts';

export const SETUPS = ['redis', 'embedded'] as const;
export type Setup = (typeof SETUPS)[number];

export interface SitePrinter {
  name: string;
  printer: PaperPrinter;
  id: string;
}

export interface ChaosSite {
  setup: Setup;
  directory: string;
  printers: readonly SitePrinter[];
  /** What drives printers: two agents, or one `platen up`. */
  agents: readonly PlatenProcess[];
  /** The service alone; none where it is in the same process as the agent. */
  service: PlatenProcess | undefined;
  databases: readonly Database[];
  /** The database server that `platen up` started itself. */
  embeddedPostgres(): number | undefined;
  admin: AdminClient;
  poster: Poster;
  stop(): Promise<void>;
}

const FOUND_TIMEOUT_MS = 60_000;
const PRINTERS: readonly Omit<PaperPrinterOptions, 'labelTime'>[] = [
  { serial: 'CH-COUNTS', answerTime: 1, mute: false, odometer: true, single: false },
  { serial: 'CH-SLOW', answerTime: 60, mute: false, odometer: true, single: true },
  { serial: 'CH-PENDING', answerTime: 1, mute: false, odometer: false, single: false },
  { serial: 'CH-SILENT', answerTime: 1, mute: true, odometer: false, single: false },
];

export async function openSite(setup: Setup, directory: string, random: Random): Promise<ChaosSite> {
  const undo = new AsyncDisposableStack();
  try {
    return await open(setup, directory, random, undo);
  } catch (error) {
    await undo.disposeAsync();
    throw error;
  }
}

async function open(
  setup: Setup,
  directory: string,
  random: Random,
  undo: AsyncDisposableStack,
): Promise<ChaosSite> {
  const devices = PRINTERS.map((options) => {
    return new PaperPrinter({ ...options, labelTime: random.between(15, 80) });
  });
  for (const device of devices) {
    await device.powerOn();
    undo.defer(() => device.powerOff());
  }
  const configFile = join(directory, 'agent.json');
  const entries = devices.map(({ uri, options }) => ({
    uri,
    name: options.serial,
    dpi: 203,
    width: 50,
    height: 25,
    // A printer that answers nothing has no serial number, and both agents have to give it the same ID.
    ...(options.mute && { id: `serial-${options.serial.toLowerCase().replace('-', '')}` }),
  }));
  writeFileSync(configFile, JSON.stringify({ renderThreads: 1, printers: entries }));

  const databases: Database[] = [];
  const agents: PlatenProcess[] = [];
  let service: PlatenProcess | undefined;
  const dataDir = join(directory, 'data');
  const port = await freePort();
  const processOf = (name: string, args: string[], env: Record<string, string>, ready: RegExp) => {
    const made = new PlatenProcess({ name, args, env, ready, logFile: join(directory, `${name}.log`) });
    undo.defer(() => made.kill());
    return made;
  };
  const listening = /platen is ready at /;
  if (setup === 'redis') {
    databases.push(await postgresIn(directory));
    databases.push(await redisIn(directory, random.pick(['everysec', 'always'])));
    for (const database of databases) {
      await database.start();
      undo.defer(() => database.end('SIGINT'));
    }
    const [DATABASE_URL = '', REDIS_URL = ''] = databases.map(({ url }) => url);
    const serverArgs = ['server', '--data', dataDir, '--port', String(port)];
    service = processOf('server', serverArgs, { DATABASE_URL, REDIS_URL }, listening);
    await service.start();
    for (const name of ['agent-a', 'agent-b']) {
      mkdirSync(join(directory, name));
      const args = ['agent', '--config', configFile, '--data', join(directory, name), '--name', name];
      const agent = processOf(name, args, { REDIS_URL }, /agent \S+ runs/);
      agents.push(agent);
      await agent.start();
    }
  } else {
    const args = ['up', '--data', dataDir, '--port', String(port), '--virtual', '0'];
    const up = processOf('up', [...args, '--agent-config', configFile], {}, listening);
    agents.push(up);
    await up.start();
  }
  const admin = new AdminClient(
    serviceFile.parse(JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8'))),
  );
  const { id: templateId } = await admin.importTemplate('default', TEMPLATE);
  const account = await admin.createIntegration('default', { name: 'chaos' });
  const printers = await found(admin, devices);
  return {
    setup,
    directory,
    printers,
    agents,
    service,
    databases,
    embeddedPostgres: () =>
      setup === 'embedded' ? postmaster(join(dataDir, 'postgres', 'data')) : undefined,
    admin,
    poster: new Poster(account, templateId),
    stop: () => undo.disposeAsync(),
  };
}

async function found(admin: AdminClient, devices: readonly PaperPrinter[]): Promise<SitePrinter[]> {
  const signal = AbortSignal.timeout(FOUND_TIMEOUT_MS);
  for (;;) {
    const views = await admin.printers();
    const all = devices.flatMap((printer) => {
      const view = views.find(({ name, agents }) => name === printer.options.serial && agents.length > 0);
      return view === undefined || view.formats.length === 0
        ? []
        : [{ name: view.name, printer, id: view.id }];
    });
    if (all.length === devices.length) return all;
    await pause(100, undefined, { signal });
  }
}

function postmaster(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}
