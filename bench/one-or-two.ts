/**
 * `npm run bench:processes`: compares service and agent in one process, as `platen up` runs them, with the
 * same in two processes, on the same PostgreSQL server. Both set-ups run all the time and get their loads in
 * turns, so that other load on the machine affects them alike. The CPU time of a job is shown for each
 * process: on a busy machine it says more than the rates.
 *
 *     npm run bench:processes [-- --rounds 9]
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import type { z } from 'zod';
import { installMissing, SERVERS } from '../test/kit/servers/debian-packages.ts';
import { startServers } from '../test/kit/servers/start-servers.ts';
import { Integrator, PlatenUp, temporaryDirectory } from '../test/kit/service/platen.ts';
import type { agentAlone } from './agent-alone.ts';
import { now, perSecond, round, spread, table } from './figures.ts';
import { inParallel } from './in-parallel.ts';
import { record, TEMPLATE } from './label.ts';
import { LabelSink } from './label-sink.ts';
import { heading, machine } from './machine.ts';
import { resident } from './memory.ts';
import { Poster } from './poster.ts';
import { below, cpuOf } from './processes.ts';

const PRINTERS = 8;
const PARALLEL = 16;
/** How long a load posts, and how many jobs at most. */
const LOAD = { ms: 2_000, most: 400 };
/** Longest that a load may take, ms. */
const STEP_MS = 120_000;

interface SetUp {
  name: string;
  up: PlatenUp;
  /** Process IDs by the name in the table: `service and agent`, or one for each of them. */
  processes: Record<string, number>;
  sinks: LabelSink[];
  poster: Poster;
  template: string;
  printers: string[];
}

interface Load {
  printed: number;
  /** CPU of a job by process, ms. */
  cpu: Record<string, number>;
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
installMissing(SERVERS);
const on = machine();
await using stack = new AsyncDisposableStack();
const servers = await startServers({ durable: true });
stack.defer(servers.stop);
const setUps = [await setUp('one process', false), await setUp('two processes', true)];
const rows: string[][] = [];
for (const printers of [1, PRINTERS]) {
  const loads = new Map(setUps.map((one): [SetUp, Load[]] => [one, []]));
  // The first round warms up.
  for (let count = -1; count < Number(values.rounds); count++) {
    for (const one of setUps) {
      const measured = await load(one, printers);
      if (count >= 0) loads.get(one)?.push(measured);
    }
  }
  for (const [{ name }, all] of loads) {
    const middle = (of: (load: Load) => number) => spread(all.map(of)).p50;
    const names = Object.keys(all[0]?.cpu ?? {});
    const each = names.map((process) => `${process} ${middle(({ cpu }) => cpu[process] ?? 0).toFixed(2)}`);
    const total = middle(({ cpu }) => Object.values(cpu).reduce((sum, ms) => sum + ms, 0));
    const printed = String(round(middle((one) => one.printed)));
    rows.push([
      `${printers} printer${printers > 1 ? 's' : ''}, ${name}`,
      printed,
      total.toFixed(2),
      each.join(', '),
    ]);
  }
  const [one = [], two = []] = [...loads.values()];
  // Compares each two loads that ran one after the other.
  const ratios = two.map(({ printed }, at) => printed / (one[at]?.printed ?? Number.NaN));
  const more = ratios.filter((ratio) => ratio > 1).length;
  rows.push([
    'two by one, in pairs',
    `${round(spread(ratios).p50)} ×`,
    '',
    `more in ${more} of ${ratios.length}`,
  ]);
}
process.stdout.write(`\n${heading(on)}\n\n`);
process.stdout.write(`${table([['', 'printed/s', 'CPU a job, ms', 'of which'], ...rows])}\n\n`);
for (const { name, processes } of setUps) {
  const memory = Object.entries(processes).map(([process, pid]) => {
    const { now: rest, peak } = resident(pid) ?? { now: 0, peak: 0 };
    return `${process} ${Math.round(rest)} MB, at most ${Math.round(peak)} MB`;
  });
  process.stdout.write(`memory, ${name}: ${memory.join('; ')}\n`);
}

async function setUp(name: string, apart: boolean): Promise<SetUp> {
  const directory = stack.use(await temporaryDirectory());
  const databaseUrl = await newDatabase();
  const sinks = Array.from({ length: PRINTERS }, (_, index) => new LabelSink(`${apart}-${index + 1}`));
  for (const sink of sinks) stack.defer(() => sink.stop());
  const uris = await Promise.all(sinks.map((sink) => sink.start()));
  const up = await PlatenUp.start({
    dataDir: directory.path,
    command: apart ? 'server' : 'up',
    args: apart ? [] : ['--virtual', '0', ...uris.flatMap((uri) => ['--printer', uri])],
    env: { DATABASE_URL: databaseUrl },
  });
  stack.defer(async () => void (await up.stop()));
  const processes: SetUp['processes'] = apart
    ? {
        service: up.pid,
        agent: await agent({ dataDir: join(directory.path, 'agent'), databaseUrl, printers: uris }),
      }
    : { 'service and agent': up.pid };
  const { id: template } = await up.admin.importTemplate('default', TEMPLATE);
  const poster = new Poster(await Integrator.make(up));
  stack.defer(() => poster.close());
  const signal = AbortSignal.timeout(STEP_MS);
  for (;;) {
    const known = await up.admin.printers();
    const printers = uris.flatMap(
      (uri) => known.find((one) => one.uri === uri && one.agents.some(({ online }) => online))?.id ?? [],
    );
    if (printers.length === uris.length) return { name, up, processes, sinks, poster, template, printers };
    await pause(50, undefined, { signal });
  }
}

async function newDatabase(): Promise<string> {
  const client = new Client({ connectionString: servers.databaseUrl });
  await client.connect();
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return Object.assign(new URL(servers.databaseUrl), { pathname: `/${name}` }).href;
}

/** Starts an agent; resolves with its process ID once it runs. */
async function agent(plan: z.input<typeof agentAlone>): Promise<number> {
  const program = join(import.meta.dirname, 'agent-alone.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  stack.defer(async () => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout });
  for (;;) {
    const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(STEP_MS) });
    if (line === 'ready') return child.pid ?? 0;
  }
}

/** Posts one-label jobs and waits until all are printed. @throws Error when labels are lost or doubled */
async function load(
  { up, processes, sinks, poster, template, printers }: SetUp,
  among: number,
): Promise<Load> {
  const signal = AbortSignal.timeout(STEP_MS);
  const labels = () => sinks.reduce((sum, sink) => sum + sink.labels, 0);
  const cpu = (): Record<string, number> => ({
    ...Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuOf(pid)])),
    PostgreSQL: below(process.pid)
      .filter(({ name }) => name.startsWith('postgres'))
      .reduce((sum, one) => sum + one.cpu, 0),
  });
  const [start, before, used] = [now(), labels(), cpu()];
  const posts = await inParallel({ width: PARALLEL, ...LOAD, signal }, async (number) => {
    const printerId = printers[number % among] ?? '';
    await poster.post({ idT: template, printerId, data: [record(number)] });
  });
  const jobs = posts.times.length;
  while (labels() - before < jobs) await pause(2, undefined, { signal });
  for (const status of ['printing', 'queued']) {
    while ((await up.admin.jobs({ status, limit: 1 })).length > 0) await pause(10, undefined, { signal });
  }
  const [end, after] = [now(), cpu()];
  if (labels() - before !== jobs) throw new Error('labels were lost or doubled');
  const each = Object.entries(after).map(([name, ms]) => [name, (ms - (used[name] ?? 0)) / jobs]);
  return { printed: perSecond(jobs, end - start), cpu: Object.fromEntries(each) };
}
