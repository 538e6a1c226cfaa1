/** Two instances behind haproxy, PostgreSQL and squid; and offices, each with a network, a line, an agent and printers. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { type Network, openNetwork } from '../kit/programs/network.ts';
import { type Program, Programs } from '../kit/programs/programs.ts';
import { SQUID_USER, startHaproxy, startSquid } from '../kit/programs/web-proxies.ts';
import { freePort } from '../kit/wire/listening.ts';
import { postgresIn } from './databases.ts';
import { type Fault, processFaults } from './fault-plan.ts';
import { PaperPrinter } from './paper-printer.ts';
import { PlatenProcess } from './platen-process.ts';
import type { Random } from './random.ts';
import { type ChaosSite, furnished } from './site.ts';

/** RFC 5737: addresses for documentation, which no real network has. */
export const SERVICE_ADDRESS = '192.0.2.1';
const SQUID_ADDRESS = '192.0.2.2';
const SQUID_PORT = 3128;
const URL_OF_SERVICE = `https://${SERVICE_ADDRESS}`;
const LINE = join(import.meta.dirname, 'office-line.py');
/** One way: ms, and bytes a ms. The slow one: 300 ms there and back, 1 Mbit/s. */
const LINES = { good: ['2', '12500'], slow: ['150', '125'] };
const MOST_CUT_MS = 40_000;

interface Office {
  name: string;
  network: Network;
  line: Program;
  env: Record<string, string>;
}

export interface OfficesAsked {
  agents: number;
  printers: number;
  rate: number;
  rolling: boolean;
  say(text: string): void;
}

/** A quarter of the offices is behind squid, with no other way out, and a quarter over a slow line. */
export async function openOffices(directory: string, asked: OfficesAsked): Promise<ChaosSite> {
  const undo = new AsyncDisposableStack();
  try {
    return await open(directory, asked, undo);
  } catch (error) {
    await undo.disposeAsync();
    throw error;
  }
}

async function open(
  directory: string,
  { agents: number, printers, rate, rolling, say }: OfficesAsked,
  undo: AsyncDisposableStack,
): Promise<ChaosSite> {
  const programs = new Programs();
  undo.defer(() => programs.end());
  for (const address of [SERVICE_ADDRESS, SQUID_ADDRESS]) {
    execFileSync('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
  }
  const database = await postgresIn(directory);
  await database.start();
  undo.defer(() => database.end('SIGINT'));
  const [one, two] = [await freePort(), await freePort()];
  const process = (
    name: string,
    words: Pick<ConstructorParameters<typeof PlatenProcess>[0], 'args' | 'env' | 'ready' | 'within'>,
  ) => {
    const made = new PlatenProcess({ name, ...words, logFile: join(directory, `${name}.log`) });
    undo.defer(() => made.kill());
    return made;
  };
  const adminToken = randomBytes(24).toString('base64url');
  const env = {
    ...{ DATABASE_URL: database.url, PLATEN_PUBLIC_URL: URL_OF_SERVICE, PLATEN_TRUST_PROXY: '1' },
    PLATEN_DRAIN_SECONDS: '5',
    ...{ PLATEN_ADMIN_TOKEN: adminToken, PLATEN_KEY: randomBytes(32).toString('base64') },
  };
  const services = [one, two].map((port, at) => {
    const name = `server-${at + 1}`;
    const args = ['server', '--data', join(directory, name), '--port', String(port)];
    return process(name, { args, env, ready: /platen is ready at / });
  });
  for (const service of services) await service.start();
  const proxies = join(directory, 'proxies');
  mkdirSync(proxies);
  const tls = { address: SERVICE_ADDRESS, file: join(directory, 'both.pem') };
  await startHaproxy(programs, { root: proxies, port: 443, one, two, tls });
  await startSquid(programs, proxies, SQUID_PORT, SQUID_ADDRESS);
  await bothServe();
  const admin = new AdminClient({ url: URL_OF_SERVICE, adminToken });

  const offices: Office[] = [];
  const agents: PlatenProcess[] = [];
  const devices: PaperPrinter[] = [];
  for (let at = 0; at < number; at++) {
    const office = await openOffice(at, offices, programs);
    undo.defer(() => office.network.close());
    offices.push(office);
    const data = join(directory, office.name);
    mkdirSync(data);
    const { url } = await admin.ofAgents(invitationMade, 'POST', '/invitations', {
      name: office.name,
      printers: 'any',
    });
    const enrolling = programs.start(PLATEN, ['agent', 'enroll', url, '--data', data], {
      ...{ within: office.network.within, env: { ...globalThis.process.env, ...office.env } },
    });
    if ((await enrolling.exited(60_000)) !== 0) throw new Error(`${office.name}: ${enrolling.said()}`);
    const own = Array.from({ length: Math.floor((printers + at) / number) }, (_, index) => {
      const serial = `${office.name.toUpperCase()}-P${index + 1}`;
      const manners = { labelTime: 60, answerTime: 2, mute: false, odometer: true, single: false };
      return new PaperPrinter({ serial, ...manners, host: office.network.outside });
    });
    for (const device of own) {
      await device.powerOn();
      undo.defer(() => device.powerOff());
    }
    devices.push(...own);
    const entries = own.map(({ uri, options: { serial } }) => {
      return { uri, name: serial, dpi: 203, width: 50, height: 25 };
    });
    const config = join(directory, `${office.name}.json`);
    writeFileSync(config, JSON.stringify({ renderThreads: 1, printers: entries }));
    const args = ['agent', '--config', config, '--data', data];
    const agent = process(office.name, {
      ...{ args, env: office.env, within: office.network.within, ready: /agent \S+ runs/ },
    });
    agents.push(agent);
    await agent.start();
    say(`${office.name} has enrolled`);
  }
  return await furnished(admin, devices, {
    ...{ setup: 'gateway', directory, agents, services, elsewhere: [], databases: [database] },
    embeddedPostgres: () => undefined,
    faults: (_site, _round, random) =>
      rolling ? [rollingRestart(services)] : faultsOf({ agents, services, offices }, random),
    mostBetweenFaults: rolling ? 10_000 : 5_000,
    jobsPerSecond: rate,
    stop: () => undo.disposeAsync(),
  });
}

async function openOffice(at: number, others: readonly Office[], programs: Programs): Promise<Office> {
  const bySquid = at % 4 === 0;
  const isSlow = at % 4 === 1;
  let network = openNetwork();
  while (others.some((other) => other.network.outside === network.outside)) {
    network.close();
    network = openNetwork();
  }
  const [name, base] = [`office-${at + 1}`, `10.77.${at + 1}`];
  const { name: user, password } = SQUID_USER;
  const proxy = `http://${user}:${password}@${SQUID_ADDRESS}:${SQUID_PORT}`;
  const line = programs.start('python3', [
    ...[LINE, network.within.at(-1) ?? '', `line-${at}-o`, `line-${at}-i`, `${base}.1`, `${base}.2`],
    ...[bySquid ? SQUID_ADDRESS : SERVICE_ADDRESS, ...LINES[isSlow ? 'slow' : 'good']],
  ]);
  await line.until(() => line.said().includes('ready'));
  const kind = bySquid ? '-squid' : isSlow ? '-slow' : '';
  return { name: name + kind, network, line, env: bySquid ? { HTTPS_PROXY: proxy } : {} };
}

function faultsOf(
  of: { agents: readonly PlatenProcess[]; services: readonly PlatenProcess[]; offices: readonly Office[] },
  random: Random,
): Fault[] {
  const { agents, services, offices } = of;
  const often = agents.length / services.length;
  return [
    ...agents.flatMap((agent) => processFaults(agent, random)),
    // As often as those of all agents would be too often: nobody could post.
    ...services.flatMap((service) =>
      processFaults(service, random).map((fault) => ({ ...fault, weight: (fault.weight * often) / 3 })),
    ),
    ...offices.map(({ name, line }) => ({
      name: `line: ${name} is cut off`,
      weight: 3,
      begin: async () => {
        line.kill('SIGUSR1');
        await pause(random.between(500, MOST_CUT_MS));
        return async () => line.kill('SIGUSR2');
      },
    })),
  ];
}

/** As docs/deployment.md says: one after the other, and the next one when haproxy knows that the first is back. */
function rollingRestart(services: readonly PlatenProcess[]): Fault {
  return {
    name: 'rolling restart',
    weight: 1,
    alone: true,
    begin: async () => {
      for (const service of services) {
        await service.stop();
        await service.start();
        await bothServe();
      }
      return async () => {};
    },
  };
}

/** Resolves when haproxy lets requests go to each instance. */
async function bothServe(): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  const seen = new Set<string | null>();
  while (seen.size < 2) {
    const answer = await fetch(`${URL_OF_SERVICE}/healthz`, { signal });
    await answer.body?.cancel();
    if (answer.ok) seen.add(answer.headers.get('x-server'));
    else seen.clear();
    await pause(50, undefined, { signal });
  }
}
