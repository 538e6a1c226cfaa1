/**
 * The yardstick: BullMQ alone, as its documentation says to use it, on the same server as the road. It stores a
 * payload of 1 KB and does nothing with it; no HTTP, no job table, no label.
 */
import { randomUUID } from 'node:crypto';
import {
  createPostgresBackend,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  Worker,
} from 'bullmq';
import { Redis } from 'ioredis';
import type { EmbeddedConnection } from '../src/server/store/embedded-roles.ts';
import { perSecond, type Spread, spread } from './figures.ts';
import { inParallel } from './in-parallel.ts';

export type QueueServer = { redisUrl: string } | { database: EmbeddedConnection };

export interface BareQueue {
  parallel: number;
  /** Jobs added a second, one at a time. */
  addOne: number;
  /** Jobs added a second, with `parallel` under way at a time. */
  addParallel: number;
  /** Jobs that one worker takes a second, one at a time, doing nothing. */
  process: number;
  /** From `add` to the first line of an idle worker's handler, ms. */
  wakeUp: Spread;
}

type Adds = {
  add(name: string, data: Payload, options: { jobId: string }): Promise<unknown>;
  close(): Promise<void>;
};
type Takes = { close(): Promise<void>; waitUntilReady(): Promise<unknown> };
type Payload = { json: string };

const PAYLOAD: Payload = { json: 'x'.repeat(1_000) };
const WAKE_UPS = 100;

export async function measureBareQueue(
  server: QueueServer,
  options: { ms: number; parallel: number; signal: AbortSignal },
): Promise<BareQueue> {
  const { ms, parallel, signal } = options;
  await using stack = new AsyncDisposableStack();
  const { queue, worker } = open(server, stack);
  const add = (to: Adds) => to.add('job', PAYLOAD, { jobId: randomUUID() });

  const busy = queue('bare-busy');
  await add(busy);
  const one = await inParallel({ width: 1, ms, signal }, () => add(busy));
  const many = await inParallel({ width: parallel, ms, signal }, () => add(busy));

  // More jobs were added than a worker takes in this time.
  let taken = 0;
  const taker = worker('bare-busy', () => {
    taken++;
  });
  await taker.waitUntilReady();
  const [began, before] = [performance.now(), taken];
  await new Promise((resolve) => setTimeout(resolve, ms));
  const processed = perSecond(taken - before, performance.now() - began);
  await taker.close();

  const quiet = queue('bare-quiet');
  let woken = (): void => undefined;
  const idle = worker('bare-quiet', () => woken());
  await idle.waitUntilReady();
  const times: number[] = [];
  while (times.length < WAKE_UPS) {
    const { promise, resolve } = Promise.withResolvers<number>();
    woken = () => resolve(performance.now());
    signal.throwIfAborted();
    const start = performance.now();
    await add(quiet);
    times.push((await promise) - start);
    // Lets the worker complete the job and wait for the next one.
    await new Promise((done) => setTimeout(done, 10));
  }
  return {
    parallel,
    addOne: perSecond(one.times.length, one.ms),
    addParallel: perSecond(many.times.length, many.ms),
    process: processed,
    wakeUp: spread(times),
  };
}

function open(
  server: QueueServer,
  stack: AsyncDisposableStack,
): { queue: (name: string) => Adds; worker: (name: string, work: () => void) => Takes } {
  if ('redisUrl' in server) {
    const connection = new Redis(server.redisUrl, { maxRetriesPerRequest: null });
    stack.defer(() => connection.disconnect());
    return {
      queue: (name) => {
        const queue = new Queue<Payload, null, string>(name, { connection });
        queue.on('error', ignored);
        stack.defer(() => queue.close());
        return queue;
      },
      worker: (name, work) => {
        const worker = new Worker<Payload, null, string>(name, async () => none(work), { connection });
        worker.on('error', ignored);
        stack.defer(() => worker.close());
        return worker;
      },
    };
  }
  const connection: PostgresConnectionOptions = { ...server.database, migrate: true };
  return {
    queue: (name) => {
      const queue = new Queue<
        Payload,
        null,
        string,
        Payload,
        null,
        string,
        PostgresQueueBackend,
        PostgresConnectionOptions
      >(name, { connection }, createPostgresBackend);
      queue.on('error', ignored);
      stack.defer(() => queue.close());
      return queue;
    },
    worker: (name, work) => {
      const worker = new Worker<
        Payload,
        null,
        string,
        PostgresQueueBackend,
        object,
        PostgresConnectionOptions
      >(name, async () => none(work), { connection }, createPostgresBackend);
      worker.on('error', ignored);
      stack.defer(() => worker.close());
      return worker;
    },
  };
}

/** Ignores errors of connections the server or `close` ended: a broken queue shows as missing figures. */
function ignored(): void {}

function none(work: () => void): null {
  work();
  return null;
}
