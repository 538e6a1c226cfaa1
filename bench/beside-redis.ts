/**
 * What an agent at another site does beside one that is straight on Redis: the same jobs in turns at both, in one run. Each side has
 * a service of its own (`platen server`), PostgreSQL, twenty agents near it with a printer each, and one agent with a round trip of
 * 30 ms to all that it reaches. Client and printers, which print in no time, are in this process.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startServers } from '../test/kit/servers/start-servers.ts';
import { Integrator, PlatenUp, temporaryDirectory } from '../test/kit/service/platen.ts';
import { enrolled, startedAgents } from './agents-apart.ts';
import { CountedJobs, type Target } from './counted-jobs.ts';
import { now, perSecond, round, spread } from './figures.ts';
import { inParallel } from './in-parallel.ts';
import { TEMPLATE } from './label.ts';
import { LabelSink } from './label-sink.ts';
import { LongLine } from './long-line.ts';
import { Poster } from './poster.ts';

const NEAR = 20;
/** Agents of one process. */
const TOGETHER = 5;
/** ms, one way. */
const FAR = 15;
const TURNS = 3;
/** In a turn: jobs one at a time, near and far; and of a load how long, ms, how many at a time, and at most. */
const IDLE = { near: 60, far: 40 };
const LOAD = { ms: 3_000, width: 16, most: 1_500 };
const RECORDS = 1_000;

interface Side {
  jobs: CountedJobs;
  poster: Poster;
  template: string;
  near: readonly Target[];
  far: Target;
}

/** Of all turns: times in ms, rates a second. */
interface Figures {
  near: number[];
  far: number[];
  one: number[];
  twenty: number[];
  labels: number[];
}

/** @returns rows: what, on Redis, over the gateway, the one by the other, the goal */
export async function besideRedis(signal: AbortSignal): Promise<string[][]> {
  await using stack = new AsyncDisposableStack();
  const sides = [await startSide(stack, 'redis', signal), await startSide(stack, 'gateway', signal)] as const;
  const figures = sides.map((): Figures => ({ near: [], far: [], one: [], twenty: [], labels: [] }));
  for (const side of sides) await warmUp(side);
  for (let turn = 0; turn < TURNS; turn += 1) {
    // What is measured second has the caches of the first.
    const order = turn % 2 === 0 ? [0, 1] : [1, 0];
    for (const at of order) {
      const [side, into] = [sides[at], figures[at]];
      if (side !== undefined && into !== undefined) await measureTurn(side, into);
    }
  }
  const [redis, gateway] = figures;
  if (redis === undefined || gateway === undefined) throw new Error('nothing was measured');
  return [
    row('first byte on loopback, p50, ms', [redis.near, gateway.near], { more: 2 }),
    row(`first byte at ${2 * FAR} ms round trip, p50, ms`, [redis.far, gateway.far], { most: 0.8 }),
    row('one-label jobs/s, one agent', [redis.one, gateway.one], { least: 1 }),
    row(`one-label jobs/s, ${NEAR} agents`, [redis.twenty, gateway.twenty], { least: 1 }),
    row(`labels/s of one job with ${RECORDS} records`, [redis.labels, gateway.labels], { least: 0.95 }),
  ];
}

/** @param goal of the ratio, or `more` ms */
function row(
  what: string,
  [straight, joined]: readonly [number[], number[]],
  { more, most, least }: { more?: number; most?: number; least?: number },
): string[] {
  const [redis, gateway] = [spread(straight).p50, spread(joined).p50];
  const ratio = gateway / redis;
  const [goal, isReached] =
    more !== undefined
      ? [`≤ ${more} ms more`, gateway - redis <= more]
      : most !== undefined
        ? [`≤ ${most} ×`, ratio <= most]
        : [`≥ ${least} ×`, ratio >= (least ?? 0)];
  const by = more === undefined ? '' : `, ${gateway < redis ? '' : '+'}${round(gateway - redis)} ms`;
  return [
    what,
    String(redis),
    String(gateway),
    `${round(ratio)} ×${by}`,
    `${goal}: ${isReached ? 'reached' : 'missed'}`,
  ];
}

async function startSide(
  stack: AsyncDisposableStack,
  kind: 'redis' | 'gateway',
  signal: AbortSignal,
): Promise<Side> {
  const directory = stack.use(await temporaryDirectory()).path;
  const { redisUrl, databaseUrl, stop } = await startServers({ durable: true });
  stack.defer(stop);
  const up = await PlatenUp.start({
    ...{ command: 'server', dataDir: directory },
    env: {
      DATABASE_URL: databaseUrl,
      PLATEN_MAX_REQUESTS_PER_SECOND: '1000000',
      ...(kind === 'redis' && { REDIS_URL: redisUrl }),
    },
  });
  stack.defer(async () => void (await up.stop()));
  const place = new URL(kind === 'redis' ? redisUrl : up.url);
  const line = new LongLine({ host: place.hostname, port: Number(place.port) }, FAR);
  const farPlace = new URL(place);
  farPlace.port = String(await line.start());
  stack.defer(() => line.stop());

  const sinks = Array.from(
    { length: NEAR + 1 },
    (_, at) => new LabelSink(at < NEAR ? `NEAR${at + 1}` : 'FAR'),
  );
  for (const sink of sinks) stack.defer(() => sink.stop());
  const uris = await Promise.all(sinks.map((sink) => sink.start()));
  const start = async (first: number, agents: number, at: URL) => {
    const of = { directory, first, agents };
    if (kind === 'gateway') await enrolled(up, of, at.origin);
    const lanes = kind === 'gateway' ? ('enrolled' as const) : { redisUrl: at.href };
    const printers = uris.slice(first, first + agents).map((uri) => [uri]);
    await startedAgents(stack, { ...of, lanes, printers });
  };
  for (let first = 0; first < NEAR; first += TOGETHER) await start(first, TOGETHER, place);
  await start(NEAR, 1, farPlace);

  const jobs = new CountedJobs(up, sinks, signal);
  const targets = await jobs.step('finding the printers', (limit) => jobs.targets(limit));
  const far = targets.at(-1);
  if (far === undefined) throw new Error('no printer');
  const { id: template } = await up.admin.importTemplate('default', TEMPLATE);
  const poster = new Poster(await Integrator.make(up));
  stack.defer(() => poster.close());
  return { jobs, poster, template, near: targets.slice(0, NEAR), far };
}

async function oneAtATime(
  { jobs, poster, template }: Side,
  target: Target,
  count: number,
): Promise<number[]> {
  return await jobs.step(`jobs at ${target.sink.serial}, one at a time`, async (signal) => {
    const times: number[] = [];
    while (times.length < count) {
      times.push(await jobs.idleJob(poster, jobs.job(template, target), target, signal));
    }
    return times;
  });
}

async function warmUp(side: Side): Promise<void> {
  for (const target of [...side.near, side.far]) await oneAtATime(side, target, 3);
}

async function measureTurn(side: Side, into: Figures): Promise<void> {
  const { near, far } = side;
  const [first] = near;
  if (first === undefined) throw new Error('no printer');
  // Whatever the other side has left to do is over.
  await pause(1_000);
  into.near.push(...(await oneAtATime(side, first, IDLE.near)));
  into.far.push(...(await oneAtATime(side, far, IDLE.far)));
  into.one.push(await load(side, [first]));
  into.twenty.push(await load(side, near));
  into.labels.push(await manyLabels(side, first));
}

/** Jobs a second, from the first request until the service calls all of them printed. */
async function load({ jobs, poster, template }: Side, among: readonly Target[]): Promise<number> {
  return await jobs.step(`jobs at ${among.length} printers`, async (signal) => {
    const start = now();
    const posts = await inParallel({ ...LOAD, signal }, async (number) => {
      const target = among[number % among.length];
      if (target !== undefined) await poster.post(jobs.job(template, target));
    });
    await jobs.allPrinted(signal);
    return perSecond(posts.times.length, now() - start);
  });
}

async function manyLabels({ jobs, poster, template }: Side, target: Target): Promise<number> {
  return await jobs.step(`a job of ${RECORDS} records`, async (signal) => {
    const start = now();
    await poster.post(jobs.job(template, target, RECORDS));
    await jobs.allPrinted(signal);
    return perSecond(RECORDS, target.sink.lastAt - start);
  });
}
