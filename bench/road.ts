/**
 * `npm run bench`: what the whole road costs, beside BullMQ alone on the same server, and beside CUPS and LPrint under the
 * same load, in the same run.
 *
 * Absolute figures depend on the machine and on its load; only the ratios within a run count. In each set-up
 * BullMQ and the other print systems run first and alone, then the road. The servers are started here, on
 * free ports, and sync to disk as in a deployment.
 *
 *     npm run bench [-- --json] [--only embedded|redis]
 *
 * `--json` also writes the figures to bench/results/. CPU profiles of the service and its render threads:
 * `NODE_OPTIONS="--cpu-prof --cpu-prof-dir=/tmp/profiles" node bench/road.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { startEmbedded } from '../src/server/store/embedded.ts';
import { installMissing, SERVERS } from '../test/kit/servers/debian-packages.ts';
import { startServers } from '../test/kit/servers/start-servers.ts';
import { temporaryDirectory } from '../test/kit/service/platen.ts';
import { type BareQueue, measureBareQueue } from './bare-queue.ts';
import { heading, machine } from './machine.ts';
import { measureRoad, PRINTERS } from './measure-road.ts';
import { measurePeers } from './peers.ts';
import { besidePeers, type Measured, report } from './report.ts';

/** How long each rate is measured, ms; requests on their way at the same time, where there are many; and printers. */
const RATES = { ms: 3_000, parallel: 16, printers: PRINTERS };
/** After this time the benchmark gives up, ms. */
const DEADLINE_MS = 400_000;
/** After this further time it exits, even if something has not ended, ms. */
const CLEANUP_MS = 15_000;

const SET_UPS = { embedded: measureEmbedded, redis: measureRedis };
type SetUp = keyof typeof SET_UPS;

async function measureEmbedded(signal: AbortSignal): Promise<Measured> {
  const bare = await bareOnEmbedded(signal);
  const peers = await measurePeers({ ...RATES, signal });
  const road = await measureRoad({ env: {}, ...RATES, signal });
  return { name: 'embedded PostgreSQL', bare, road, peers };
}

/** On a server of its own, of the same kind: it has ended when the road begins. */
async function bareOnEmbedded(signal: AbortSignal): Promise<BareQueue> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const logger = pino({ level: 'error' });
  const embedded = await startEmbedded({ dataDir: directory.path, logger, signal });
  stack.defer(() => embedded.stop());
  return await measureBareQueue({ database: embedded.poolConfig }, { ...RATES, signal });
}

async function measureRedis(signal: AbortSignal): Promise<Measured> {
  await using stack = new AsyncDisposableStack();
  installMissing(SERVERS);
  const { redisUrl, databaseUrl, stop } = await startServers({ durable: true });
  stack.defer(stop);
  const bare = await measureBareQueue({ redisUrl }, { ...RATES, signal });
  const peers = await measurePeers({ ...RATES, signal });
  const env = { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl };
  const road = await measureRoad({ env, ...RATES, signal });
  return { name: 'Redis + PostgreSQL', bare, road, peers };
}

function setUpsFrom(only: string | undefined): SetUp[] {
  if (only === undefined) return ['embedded', 'redis'];
  if (only === 'embedded' || only === 'redis') return [only];
  throw new Error(`--only ${only}: expected embedded or redis`);
}

/** Aborts on SIGINT or SIGTERM, and after `DEADLINE_MS`, so that everything is stopped in order. */
function endSignal(): AbortSignal {
  const told = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => told.abort(new Error(`ended by ${name}`)));
  }
  const end = AbortSignal.any([told.signal, AbortSignal.timeout(DEADLINE_MS)]);
  end.addEventListener('abort', () => {
    setTimeout(() => process.exit(1), CLEANUP_MS).unref();
  });
  return end;
}

const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' } } });
const setUps = setUpsFrom(values.only);
const signal = endSignal();
const on = machine();
const measured: Measured[] = [];
try {
  for (const setUp of setUps) {
    process.stderr.write(`Measuring with ${setUp} …\n`);
    measured.push(await SET_UPS[setUp](signal));
  }
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
if (measured.length > 0) {
  process.stdout.write(`\n${heading(on)}\n`);
  process.stdout.write(`\n${report(measured)}\n\n${besidePeers(measured)}\n`);
}
if (values.json === true && measured.length > 0) {
  const directory = join(import.meta.dirname, 'results');
  mkdirSync(directory, { recursive: true });
  const at = new Date().toISOString();
  const file = join(directory, `road-${at.replaceAll(':', '-')}.json`);
  writeFileSync(file, `${JSON.stringify({ at, machine: on, measured }, null, 2)}\n`);
  process.stdout.write(`\n${relative(process.cwd(), file)}\n`);
}
