/**
 * Reads the agents' streams (`report-stream.ts`). One service at a time reads a stream, in order, and deletes what it
 * has handled: if it dies, the next one goes on. A message on the bell names a stream with something to read; since
 * messages can be lost, known streams are looked at every few seconds, and all streams searched for every minute.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Report } from '../contract/report.ts';
import type { Parsed, StopOptions } from './consumer.ts';
import { within } from './queue-error.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import { nameOf, parseName, type ReportStreams } from './report-stream.ts';

export interface ReportReaderPlan {
  streams: ReportStreams;
  parse(json: string): Parsed<Report>;
  /** @param ageMs since it was published */
  handle(report: Report, ageMs: number): Promise<void>;
  /** How long a stream is its reader's after each report, ms: then somebody else goes on. */
  lockMs: number;
  logger: QueueLogger;
  errors: ErrorLog;
  /** Called once when it has stopped. */
  onStopped(): void;
}

/** Streams read at the same time, and reports of one read at once. */
const PARALLEL = 8;
const BATCH = 100;
/** Most names that wait to be read: anybody on Redis can ring the bell with any name. */
const MOST_WAITING = 10_000;
/** A stream that somebody else reads, or whose report could not be handled, is looked at again after so long, ms. */
const TAKEN = 200;
const BACKOFF = { first: 250, most: 30_000 };
const LOOK = 5_000;
const SEARCH = 60_000;

const entries = z.array(z.tuple([z.string(), z.array(z.string())]));
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

export class ReportReader {
  readonly #plan: ReportReaderPlan;
  readonly #redis: Redis;
  readonly #ear: Redis;
  readonly #id = randomUUID();
  readonly #stopped = new AbortController();
  readonly #known = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  readonly #timers: NodeJS.Timeout[] = [];
  #stopping: Promise<void> | undefined;

  constructor(plan: ReportReaderPlan) {
    this.#plan = plan;
    this.#redis = plan.streams.redis;
    this.#ear = this.#redis.duplicate();
  }

  start(): void {
    const { streams, errors } = this.#plan;
    this.#ear.on('error', (error) => errors.report('reports are not called out', error));
    this.#ear.on('message', (_channel, name: string) => this.#ring(name));
    // The bell rang unheard while the connection was away.
    this.#ear.on('ready', () => this.#search());
    this.#ear.subscribe(streams.bell).catch((error) => errors.report('reports are not called out', error));
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
    const { streams, errors } = this.#plan;
    if (this.#redis.status !== 'ready') return;
    const found = this.#redis.scanStream({ match: streams.pattern, count: 1_000 });
    found.on('data', (keys: string[]) => {
      for (const key of keys) this.#ring(streams.nameIn(key));
    });
    found.on('error', (error) => errors.report('reports cannot be looked for', error));
  }

  /** Never rejects. */
  async #look(name: string): Promise<void> {
    const { streams, lockMs, errors } = this.#plan;
    const lock = streams.keyOf(name, 'reader');
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
        await this.#redis.eval(RELEASE, 1, lock, this.#id);
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
    const length = await this.#redis.xlen(this.#plan.streams.keyOf(name, 'stream'));
    if (length > 0 || (await this.#redis.exists(this.#plan.streams.keyOf(name, 'stream'))) > 0)
      this.#known.add(name);
    else this.#known.delete(name);
    return length > 0;
  }

  async #read(name: string): Promise<void> {
    const { streams, lockMs, handle } = this.#plan;
    const key = streams.keyOf(name, 'stream');
    const lock = streams.keyOf(name, 'reader');
    for (;;) {
      const found = entries.parse(await this.#redis.xrange(key, '-', '+', 'COUNT', BATCH));
      if (found.length === 0) return;
      const [seconds] = await this.#redis.time();
      for (const [id, [, json = '']] of found) {
        if (this.#stopped.signal.aborted) return;
        const report = this.#readable(name, id, json);
        const ageMs = Math.max(0, Number(seconds) * 1_000 - Number.parseInt(id, 10));
        if (report !== null) await handle(report, ageMs);
        await this.#redis.pipeline().xdel(key, id).pexpire(lock, lockMs).exec();
      }
    }
  }

  /** null: nothing that can be read, or not from the agent whose stream it is. */
  #readable(name: string, id: string, json: string): Report | null {
    const { parse, logger } = this.#plan;
    const parsed = parse(json);
    if ('issues' in parsed) {
      logger.error({ queue: name, jobId: id, issues: parsed.issues }, 'unreadable payload set aside');
      return null;
    }
    const { value } = parsed;
    const scope = value.kind === 'agent' ? value.tenantId : parseName(name)?.scope;
    if (nameOf({ scope: scope ?? null, agentId: value.agentId }) === name) return value;
    logger.error({ stream: name, agentId: value.agentId }, "report in another agent's name left out");
    return null;
  }
}
