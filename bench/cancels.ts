/**
 * `npm run bench:cancel`: how long a press of cancel takes to reach the loop of the printer, and how many labels come out
 * after it: on each kind of queue, at printers that can forget what waits in them and at others, with an integrator's
 * press and a person's in turn. Needs redis-server; takes four minutes.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { z } from 'zod';
import { Agent } from '../src/agent/agent.ts';
import type { RawAgentConfig } from '../src/agent/config.ts';
import { PrinterLease } from '../src/agent/lease/printer-lease.ts';
import { enrollAgent } from '../src/cli/enrolment.ts';
import { Installation } from '../src/cli/installation.ts';
import { invitationMade } from '../src/contract/agent-view.ts';
import { openGateway } from '../src/queue/index.ts';
import { VirtualZplPrinter } from '../src/virtual/zpl/zpl-printer.ts';
import { installMissing, SERVERS } from '../test/kit/servers/debian-packages.ts';
import { makeCluster, placeCluster } from '../test/kit/servers/made-cluster.ts';
import { startRedisAlone } from '../test/kit/servers/start-servers.ts';
import { temporaryDirectory } from '../test/kit/service/platen.ts';
import { now, table } from './figures.ts';
import { record, TEMPLATE } from './label.ts';
import { heading, machine } from './machine.ts';

const LABELS_A_SECOND = [1, 5];
const PRESSES = 4;
/** How long it has printed before the press, s. */
const BEFORE = 5;
/** Longest that a step may take, on a machine that has much else to do, ms. */
const STEP_MS = 600_000;

const logger = pino({ level: 'error' });

/** When the loop of a job was told, by what the job is called in its lane. */
const heard = new Map<string, number>();
const { canceled } = PrinterLease.prototype;
PrinterLease.prototype.canceled = function (this: PrinterLease, queueId) {
  const asked = canceled.call(this, queueId);
  asked.addEventListener('abort', () => heard.set(queueId, now()), { once: true });
  return asked;
};

interface Spot {
  printer: VirtualZplPrinter;
  perSecond: number;
  forgets: boolean;
}

/** What is measured of a press: ms until the loop knows, and labels that came out after it. */
interface Press {
  heardMs: number;
  after: number;
}

type Presses = Map<Spot, Press[]>;

function spotsIn(directory: string): Spot[] {
  return LABELS_A_SECOND.flatMap((perSecond) =>
    [true, false].map((forgets) => {
      const name = `${perSecond}-${forgets ? 'counts' : 'says what is pending'}`;
      const outDir = join(directory, name);
      mkdirSync(outDir, { recursive: true });
      const options = { name, outDir, dpi: 203, width: 38, height: 19, countsLabels: forgets } as const;
      const printer = new VirtualZplPrinter({ ...options, faults: { slow: 1_000 / perSecond } });
      return { printer, perSecond, forgets };
    }),
  );
}

/** Runs service and agent, and presses cancel at each printer. */
async function measure(redisUrl: string | undefined, elsewhere: boolean): Promise<Presses> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const spots = spotsIn(directory.path);
  for (const { printer } of spots) {
    await printer.start();
    stack.defer(() => printer.stop());
  }
  const agent: Omit<RawAgentConfig, 'dataDir'> = {
    printers: spots.map(({ printer }) => ({ uri: printer.uri, name: printer.name })),
  };
  const own = join(directory.path, 'service');
  await placeCluster(own);
  const installation = new Installation({
    ...{ redisUrl, databaseUrl: undefined, dataDir: own, port: 0, virtualPrinters: [], logger },
    agent: elsewhere ? false : agent,
  });
  const ready = await installation.start(AbortSignal.timeout(STEP_MS));
  stack.defer(() => installation.stop());
  const { client } = installation;
  if (elsewhere) {
    const dataDir = join(directory.path, 'agent');
    mkdirSync(dataDir, { recursive: true });
    const asked = { name: 'elsewhere', printers: 'any' };
    const { url } = await client.ofAgents(invitationMade, 'POST', '/invitations', asked);
    const enrolment = await enrollAgent(url, dataDir);
    const queue = await openGateway({ agent: { ...enrolment, version: '0' }, logger });
    stack.defer(() => queue.close());
    const config = { ...agent, dataDir, id: enrolment.agentId };
    const away = new Agent({ config, queue, logger });
    await away.start();
    stack.defer(() => away.stop());
  }
  const { id: idT } = await client.importTemplate('default', TEMPLATE);
  const { apiKey, apiSecret } = await client.createIntegration('default', {
    name: 'bench',
    scope: ['jobs:cancel'],
  });
  const answer = await fetch(ready.tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'client_credentials', client_id: apiKey, client_secret: apiSecret },
      ...{ audience: ready.audience, scope: 'jobs:cancel' },
    }),
  });
  const { access_token: token } = z.object({ access_token: z.string() }).parse(await answer.json());
  const headers = { authorization: `Bearer ${token}`, 'x-tenant': 'default' };
  const cancels = [
    (id: string) => fetch(`${ready.url}/v2/jobs/${id}/cancel`, { method: 'POST', headers }),
    (id: string) => client.cancelJob(id),
  ];
  const printers = await found(client, spots);
  const presses: Presses = new Map();
  await Promise.all(
    spots.map(async (spot) => {
      const times: Press[] = [];
      // By the first job, which does not count, the agent learns how long this printer takes for a label.
      for (let press = -1; press < PRESSES; press++) {
        const labels = spot.perSecond * BEFORE * 4;
        const data = Array.from({ length: labels }, (_, at) => record(at));
        const printerId = printers.get(spot) ?? '';
        let out = 0;
        const count = () => void out++;
        spot.printer.on('label', count);
        const { id } = await client.enqueue('default', { idT, printerId, data });
        while (out < spot.perSecond * BEFORE) await once(spot.printer, 'label');
        // Anywhere between two labels.
        await pause((Math.random() * 1_000) / spot.perSecond);
        const [at, before] = [now(), out];
        await cancels[press & 1]?.(id);
        let status = '';
        while (status !== 'canceled') {
          await pause(100, undefined, { signal: AbortSignal.timeout(STEP_MS) });
          ({ status } = await client.job(id));
        }
        // Until nothing of it is in the printer any more.
        while (spot.printer.waiting > 0) await pause(20);
        spot.printer.off('label', count);
        if (press >= 0) times.push({ heardMs: (heard.get(id) ?? Number.NaN) - at, after: out - before });
      }
      presses.set(spot, times);
    }),
  );
  return presses;
}

async function found(client: Installation['client'], spots: readonly Spot[]): Promise<Map<Spot, string>> {
  const signal = AbortSignal.timeout(STEP_MS);
  for (;;) {
    const printers = await client.printers();
    const ids = spots.flatMap((spot) => {
      const one = printers.find(({ name }) => name === spot.printer.name);
      return one?.agents.some(({ online }) => online) ? [[spot, one.id] as const] : [];
    });
    if (ids.length === spots.length) return new Map(ids);
    await pause(100, undefined, { signal });
  }
}

const on = machine();
installMissing(SERVERS);
await makeCluster();
const redis = await startRedisAlone();
const rows = [['queue', 'labels a second', 'printer', 'the loop knows after, ms', 'labels after the press']];
try {
  const ways = [
    ['embedded PostgreSQL', undefined, false],
    ['Redis', redis.redisUrl, false],
    ['the gateway', undefined, true],
  ] as const;
  for (const [name, redisUrl, elsewhere] of ways) {
    process.stderr.write(`Measuring on ${name} …\n`);
    for (const [{ perSecond, forgets }, presses] of await measure(redisUrl, elsewhere)) {
      const printer = forgets ? 'counts, and forgets' : 'only says what is pending';
      const ms = presses.map(({ heardMs }) => heardMs.toFixed(0)).join(', ');
      rows.push([name, String(perSecond), printer, ms, presses.map(({ after }) => after).join(', ')]);
      process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
    }
  }
} finally {
  await redis.stop();
}
process.stdout.write(`\n${heading(on)}\n\n${table(rows)}\n`);
