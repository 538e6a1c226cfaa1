/**
 * Reads the agents' streams (`report-stream.ts`). One service at a time reads a stream, in order, and deletes what it
 * has handled: if it dies, the next one goes on. A message on the bell names a stream with something to read; since
 * messages can be lost, known streams are looked at every few seconds, and all streams searched for every minute.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { within } from './queue-error.ts';
import { duplicateOf, nodesOf } from './redis-connection.ts';
import { type Connection, RedisScript } from './redis-script.ts';
import { BACKOFF, type Reported, type ReportPlan, type ReportSource, readable } from './report-batch.ts';
import { parseName, type ReportStreams } from './report-stream.ts';
import type { StopOptions } from './stop-options.ts';

/** Streams read at the same time, and reports of one read at once. */
const PARALLEL = 8;
const BATCH = 100;
/** Most names that wait to be read: anybody on Redis can ring the bell with any name. */
const MOST_WAITING = 10_000;
/** A stream that somebody else reads, or whose report could not be handled, is looked at again after so long, ms. */
const TAKEN = 200;
const LOOK = 5_000;
const SEARCH = 60_000;

const entries = z.array(z.tuple([z.string(), z.array(z.string())]));
const RELEASE = new RedisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

/** What `XRANGE` and `TIME` answer in one go, each after the error that it has instead. */
const looked = z.tuple([
  z.tuple([z.null(), entries]),
  z.tuple([z.null(), z.tuple([z.coerce.number(), z.coerce.number()])]),
]);

export class ReportReader implements ReportSource {
  readonly #streams: ReportStreams;
  readonly #plan: ReportPlan;
  readonly #redis: Connection;
  readonly #ear: Connection;
  readonly #id = randomUUID();
  readonly #stopped = new AbortController();
  readonly #known = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  readonly #timers: NodeJS.Timeout[] = [];
  #stopping: Promise<void> | undefined;

  constructor(streams: ReportStreams, plan: ReportPlan) {
    this.#streams = streams;
    this.#plan = plan;
    this.#redis = streams.redis;
    this.#ear = duplicateOf(this.#redis);
  }

  start(): void {
    const { errors } = this.#plan;
    this.#ear.on('error', (error) => errors.report('reports are not called out', error));
    this.#ear.on('message', (_channel, name: string) => this.#ring(name));
    // The bell rang unheard while the connection was away.
    this.#ear.on('ready', () => this.#search());
    this.#ear
      .subscribe(this.#streams.bell)
      .catch((error) => errors.report('reports are not called out', error));
    this.#timers.push(
      setInterval(() => {
        for (const name of this.#known) this.#ring(name);
      }, LOOK),
      setInterval(() => this.#search(), SEARCH),
    );
    this.#search();
  }

  /** Waits for the reports in hand, at most so long. Idempotent. */
  stop({ timeoutMs = 30_000 }: StopOptions = {}): Promise<void> {
    this.#stopping ??= (async () => {
      this.#stopped.abort();
      for (const timer of this.#timers) clearInterval(timer);
      this.#waiting.clear();
      this.#ear.disconnect();
      const idle = Promise.allSettled(this.#running.values());
      await within(timeoutMs, 'reports in hand', idle).catch(() => undefined);
      this.#plan.onStopped();
    })();
    return this.#stopping;
  }

  #ring(name: string): void {
    if (this.#stopped.signal.aborted || this.#waiting.size >= MOST_WAITING) return;
    if (parseName(name) === null) return;
    this.#waiting.add(name);
    this.#next();
  }

  #next(): void {
    for (const name of this.#waiting) {
      if (this.#running.size >= PARALLEL) return;
      if (this.#running.has(name)) continue;
      this.#waiting.delete(name);
      const done = this.#look(name).finally(() => {
        this.#running.delete(name);
        this.#next();
      });
      this.#running.set(name, done);
    }
  }

  #ringLater(name: string, ms: number): void {
    wait(ms, undefined, { signal: this.#stopped.signal, ref: false }).then(
      () => this.#ring(name),
      () => undefined,
    );
  }

  #search(): void {
    const { errors } = this.#plan;
    const streams = this.#streams;
    if (this.#redis.status !== 'ready') return;
    for (const node of nodesOf(this.#redis)) {
      const found = node.scanStream({ match: streams.pattern, count: 1_000 });
      found.on('data', (keys: string[]) => {
        for (const key of keys) this.#ring(streams.nameIn(key));
      });
      found.on('error', (error: Error) => errors.report('reports cannot be looked for', error));
    }
  }

  /** Never rejects. */
  async #look(name: string): Promise<void> {
    const { lockMs, errors } = this.#plan;
    const lock = this.#streams.keyOf(name, 'reader');
    try {
      if (this.#redis.status !== 'ready') return this.#ringLater(name, BACKOFF.first);
      // Mostly there is nothing to read; that costs one command.
      if (!(await this.#exists(name))) return;
      if ((await this.#redis.set(lock, this.#id, 'PX', lockMs, 'NX')) === null) {
        return this.#ringLater(name, TAKEN);
      }
      try {
        await this.#read(name);
      } finally {
        await RELEASE.run(this.#redis, [lock], [this.#id]);
      }
      this.#failures.delete(name);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      const failures = this.#failures.get(name) ?? 0;
      this.#failures.set(name, failures + 1);
      errors.report('report not handled, it is tried again', error, { stream: name });
      this.#ringLater(name, Math.min(BACKOFF.first * 2 ** failures, BACKOFF.most));
    }
  }

  async #exists(name: string): Promise<boolean> {
    const length = await this.#redis.xlen(this.#streams.keyOf(name, 'stream'));
    if (length > 0 || (await this.#redis.exists(this.#streams.keyOf(name, 'stream'))) > 0)
      this.#known.add(name);
    else this.#known.delete(name);
    return length > 0;
  }

  async #read(name: string): Promise<void> {
    const { lockMs, handle } = this.#plan;
    const key = this.#streams.keyOf(name, 'stream');
    const lock = this.#streams.keyOf(name, 'reader');
    while (!this.#stopped.signal.aborted) {
      const answer = await this.#redis.pipeline().xrange(key, '-', '+', 'COUNT', BATCH).time().exec();
      const [[, found], [, [seconds]]] = looked.parse(answer);
      if (found.length === 0) return;
      const batch = found.flatMap(([id, [, json = '']]): Reported[] => {
        const report = readable(this.#plan, { name, id, json });
        return report === null
          ? []
          : [{ report, ageMs: Math.max(0, seconds * 1_000 - Number.parseInt(id, 10)) }];
      });
      if (batch.length > 0) await handle(batch);
      const ids = found.map(([id]) => id);
      await this.#redis
        .pipeline()
        .xdel(key, ...ids)
        .pexpire(lock, lockMs)
        .exec();
    }
  }
}
