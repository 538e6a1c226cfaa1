/** A whole site of real processes, in a directory of its own: databases, service, agents, and printers on TCP ports. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { serviceFile } from '../../src/cli/which-service.ts';
import { Clock } from '../kit/programs/clock.ts';
import { placeCluster } from '../kit/servers/made-cluster.ts';
import { freePort } from '../kit/wire/listening.ts';
import { AgentElsewhere, approveAt, enroll } from './agent-elsewhere.ts';
import { type Database, postgresIn, redisIn } from './databases.ts';
import { type Fault, faultsOf } from './fault-plan.ts';
import { Line } from './line.ts';
import { olderVersion } from './older-version.ts';
import { PaperPrinter, type PaperPrinterOptions } from './paper-printer.ts';
import { PlatenProcess } from './platen-process.ts';
import { Poster, TEMPLATE } from './posted-jobs.ts';
import type { Random } from './random.ts';
import type { Round } from './round.ts';

export const SETUPS = ['redis', 'embedded', 'gateway'] as const;
export type Setup = (typeof SETUPS)[number];

export interface SitePrinter {
  name: string;
  printer: PaperPrinter;
  id: string;
}

export interface ChaosSite {
  setup: Setup;
  directory: string;
  /** The version that services and agents have at first, until they are updated; or why none but this one. */
  older?: string;
  printers: readonly SitePrinter[];
  /** What drives printers: two agents, or one `platen up`. */
  agents: readonly PlatenProcess[];
  /** Instances of the service alone; none where it is in the same process as the agent. */
  services: readonly PlatenProcess[];
  /** To the agents at other sites, and what else may go wrong with them. */
  elsewhere: readonly AgentElsewhere[];
  databases: readonly Database[];
  /** The database server that `platen up` started itself. */
  embeddedPostgres(): number | undefined;
  admin: AdminClient;
  poster: Poster;
  /** What may go wrong while a round runs. */
  faults(site: ChaosSite, round: Round, random: Random): Fault[];
  /** From one fault to the next, ms. */
  mostBetweenFaults: number;
  /** Over all printers; undefined: as many as they take. */
  jobsPerSecond?: number;
  /** What a person does who sees that a printer, or an agent with an old state, waits. */
  approve(what: { agentsToo: boolean }): Promise<void>;
  stop(): Promise<void>;
}

const FOUND_TIMEOUT_MS = 600_000;
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
  const services: PlatenProcess[] = [];
  const elsewhere: AgentElsewhere[] = [];
  let admin: AdminClient | undefined;
  const dataDir = join(directory, 'data');
  const port = await freePort();
  const processOf = (
    name: string,
    args: string[],
    env: Record<string, string>,
    ready: RegExp,
    more: { program?: string | undefined; clock?: Clock } = {},
  ) => {
    const logFile = join(directory, `${name}.log`);
    const made = new PlatenProcess({ name, args, env, ready, logFile, ...more });
    undo.defer(() => made.kill());
    return made;
  };
  const listening = /platen is ready at /;
  if (setup !== 'embedded') {
    databases.push(await postgresIn(directory));
    if (setup === 'redis') databases.push(await redisIn(directory, random.pick(['everysec', 'always'])));
    for (const database of databases) {
      await database.start();
      undo.defer(() => database.end('SIGINT'));
    }
  }
  const before = setup === 'gateway' ? olderVersion(directory) : undefined;
  if (setup === 'gateway') {
    const program = typeof before === 'object' ? before.platen : undefined;
    const ports = [port, await freePort()];
    const lineTo = async (name: string) => {
      const line = new Line(name, ports);
      await line.start();
      undo.defer(() => line.stop());
      return line;
    };
    const front = await lineTo('front');
    const adminToken = randomBytes(24).toString('base64url');
    const env = {
      ...{ DATABASE_URL: databases[0]?.url ?? '', PLATEN_PUBLIC_URL: front.url },
      ...{ PLATEN_ADMIN_TOKEN: adminToken, PLATEN_KEY: randomBytes(32).toString('base64') },
    };
    for (const [index, at] of ports.entries()) {
      const name = `server-${index + 1}`;
      const args = ['server', '--data', join(directory, name), '--port', String(at)];
      const service = processOf(name, args, env, listening, { program });
      services.push(service);
      await service.start();
    }
    admin = new AdminClient({ url: front.url, adminToken });
    for (const name of ['agent-a', 'agent-b']) {
      const data = join(directory, name);
      mkdirSync(data);
      const line = await lineTo(`line of ${name}`);
      await enroll(admin, line, name, data);
      const clock = new Clock(join(directory, `${name}.clock`));
      const args = ['agent', '--config', configFile, '--data', data];
      const agent = processOf(name, args, {}, /agent \S+ runs/, { program, clock });
      const copied = ['agent', '--config', configFile, '--data', `${data}-copy`];
      const copy = processOf(`a copy of ${name}`, copied, {}, /agent \S+ runs/, { clock });
      agents.push(agent);
      elsewhere.push(new AgentElsewhere({ name, agent, copy, data, line, clock, admin }));
      await agent.start();
    }
  } else if (setup === 'redis') {
    const [DATABASE_URL = '', REDIS_URL = ''] = databases.map(({ url }) => url);
    const serverArgs = ['server', '--data', dataDir, '--port', String(port)];
    const service = processOf('server', serverArgs, { DATABASE_URL, REDIS_URL }, listening);
    services.push(service);
    await service.start();
    for (const name of ['agent-a', 'agent-b']) {
      mkdirSync(join(directory, name));
      const args = ['agent', '--config', configFile, '--data', join(directory, name), '--name', name];
      const agent = processOf(name, args, { REDIS_URL }, /agent \S+ runs/);
      agents.push(agent);
      await agent.start();
    }
  } else {
    await placeCluster(dataDir);
    const args = ['up', '--data', dataDir, '--port', String(port), '--virtual', '0'];
    const up = processOf('up', [...args, '--agent-config', configFile], {}, listening);
    agents.push(up);
    await up.start();
  }
  admin ??= new AdminClient(
    serviceFile.parse(JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8'))),
  );
  return await furnished(admin, devices, {
    setup,
    directory,
    ...(before !== undefined && { older: typeof before === 'string' ? before : before.commit }),
    agents,
    services,
    elsewhere,
    databases,
    embeddedPostgres: () =>
      setup === 'embedded' ? postmaster(join(dataDir, 'postgres', 'data')) : undefined,
    faults: (site, round, random) => [...faultsOf(site, random), round.cancellation()],
    mostBetweenFaults: 1_500,
    stop: () => undo.disposeAsync(),
  });
}

/** The site with a template, an integrator's account, and printers that its agents have found. */
export async function furnished(
  admin: AdminClient,
  devices: readonly PaperPrinter[],
  site: Omit<ChaosSite, 'admin' | 'approve' | 'printers' | 'poster'>,
): Promise<ChaosSite> {
  const { id: templateId } = await admin.importTemplate('default', TEMPLATE);
  const account = await admin.createIntegration('default', { name: 'chaos' });
  const approve = (what: { agentsToo: boolean }) => approveAt(admin, what);
  const printers = await found(admin, devices, () => approve({ agentsToo: false }));
  return { ...site, admin, approve, printers, poster: new Poster(account, templateId) };
}

async function found(
  admin: AdminClient,
  devices: readonly PaperPrinter[],
  approve: () => Promise<void>,
): Promise<SitePrinter[]> {
  const signal = AbortSignal.timeout(FOUND_TIMEOUT_MS);
  for (;;) {
    await approve();
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
