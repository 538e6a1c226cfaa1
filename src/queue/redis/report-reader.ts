/**
 * Reads the agents' streams (`report-stream.ts`). One service at a time reads a stream, in order, and deletes
 * what it has handled: if it dies, another service goes on. A message on the bell names a stream with
 * something to read. Messages can be lost, and heartbeats are sent without one; so all known streams are
 * looked at every few seconds, a hundred in one command, and a search for all streams runs every minute.
 *
 * Whoever may write a stream may write anything into it, as much and as fast as they like. So the bytes that are read at once
 * are bounded, and an entry that is too long for a report never reaches this process. A stream that does not end waits behind
 * the others after some batches. A stream with an entry that is no report of its agent is left alone for many times as long as
 * reading it has taken.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { REPORT_BYTES } from '../../contract/report.ts';
import {
  BACKOFF,
  type ReceivedReport,
  type ReportReader,
  type ReportReaderOptions,
  readable,
} from '../report-batch.ts';
import { LONGEST_NAME, parseName } from '../report-name.ts';
import type { StopLimits } from '../stop-limits.ts';
import { isWithin } from '../within.ts';
import { duplicateOf, nodesOf } from './connection.ts';
import { NO_HURRY, type ReportStreams } from './report-stream.ts';
import { type RedisConnection, RedisScript } from './script.ts';

/** Groups of streams read at the same time; streams in a group; and reports read at once. */
const PARALLEL = 8;
const GROUP = 100;
const BATCH = 100;
/**
 * Most bytes of reports that are read at once, and most that the server looks at to find them, with entries that are too long.
 */
const MOST_BYTES = 1024 * 1024;
const LOOKED_AT = 16 * 1024 * 1024;
/** A stream with something unreadable is left alone for `times` as long as reading it took, within these bounds, ms. */
const SET_BACK = { times: 20, least: 100, most: 10_000 };
/** Most batches that are read of a stream before other streams have their turn. */
const MOST_BATCHES = 10;
/**
 * Unknown names: most that wait to be looked up; how often they are looked up, ms; and how long no ring is heard when there are
 * more, ms.
 */
const MOST_STRANGERS = 100;
const STRANGERS = 50;
const DEAF = 1_000;
/**
 * ms until a stream is tried again that another service reads, between two looks at all known streams, and between two
 * searches.
 */
const TAKEN = 200;
const LOOK = 5_000;
const SEARCH = 60_000;

/**
 * For each stream: deletes the entries that were handled, and reads on unless another service reads the stream. Answers with
 * three values for each stream and, at the end, the server's clock. The values are: whether this reader may read the stream (0
 * also if the answer had no room for it), whether the stream exists, and its entries. Of an entry only the first value counts;
 * it is empty if the entry was too long.
 */
const READ = new RedisScript(`
  local me, ms, most, longest, at, answers = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), 5, {}
  local room, looks = ${MOST_BYTES}, ${LOOKED_AT}
  local function next(stream, after)
    for _, entry in ipairs(redis.call('XRANGE', stream, after, '+', 'COUNT', 2)) do
      if entry[1] ~= after then return entry[1], entry[2] end
    end
  end
  local function some(stream)
    local found = {}
    local id, fields = next(stream, '-')
    while id and #found < most do
      local json, bytes = fields[2], 0
      for _, text in ipairs(fields) do bytes = bytes + #text end
      if bytes > longest then json = '' end
      if #json > room or looks <= 0 then return found, true end
      room, looks = room - #json, looks - bytes
      found[#found + 1] = {id, json}
      id, fields = next(stream, id)
    end
    return found, id ~= nil
  end
  for one = 1, #KEYS / 2 do
    local stream, lock = KEYS[one * 2 - 1], KEYS[one * 2]
    local handled = tonumber(ARGV[at])
    if handled > 0 then redis.call('XDEL', stream, unpack(ARGV, at + 1, at + handled)) end
    at = at + 1 + handled
    local found, more = some(stream)
    local reader = (#found > 0 or handled > 0) and redis.call('GET', lock)
    if #found > 0 and reader and reader ~= me then
      answers[one] = {0, 1, {}}
    elseif #found == 0 and more then
      if reader == me then redis.call('DEL', lock) end
      answers[one] = {0, 1, {}}
    else
      if #found > 0 then redis.call('SET', lock, me, 'PX', ms) end
      if #found == 0 and reader == me then redis.call('DEL', lock) end
      answers[one] = {1, #found > 0 and 1 or redis.call('EXISTS', stream), found}
    end
  end
  return {answers, redis.call('TIME')}`);
const RELEASE = new RedisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

const entries = z.array(z.tuple([z.string(), z.string()]));
const read = z.tuple([
  z.array(z.tuple([z.int(), z.int(), entries])),
  z.tuple([z.coerce.number(), z.coerce.number()]),
]);

export class RedisReportReader implements ReportReader {
  readonly #streams: ReportStreams;
  readonly #options: ReportReaderOptions;
  readonly #redis: RedisConnection;
  #ear: RedisConnection | undefined;
  readonly #id = randomUUID();
  readonly #stopped = new AbortController();
  readonly #known = new Set<string>();
  readonly #waiting = new Set<string>();
  /** Unknown names that were rung: they may be a new agent's, or made up by anybody on Redis. */
  readonly #strangers = new Set<string>();
  /** Rings were missed, maybe of streams that are not known yet. */
  #missed = false;
  /** The streams that are being read, by name, and the reads of their groups. */
  readonly #busy = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  readonly #failures = new Map<string, number>();
  /** Streams that are left alone for a while. */
  readonly #setBack = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #stopping: Promise<void> | undefined;

  constructor(streams: ReportStreams, options: ReportReaderOptions) {
    this.#streams = streams;
    this.#options = options;
    this.#redis = streams.redis;
  }

  start(): void {
    this.#listen(() => this.#search());
    this.#timers.push(
      setInterval(() => {
        this.#lookAtKnown();
        if (this.#missed) this.#search();
      }, LOOK),
      setInterval(() => {
        for (const name of this.#strangers) this.#await(name);
        this.#strangers.clear();
        this.#next();
      }, STRANGERS),
      setInterval(() => this.#search(), SEARCH),
    );
    this.#search();
  }

  /** Waits at most `timeoutMs` for the reports in hand. Idempotent. */
  stop({ timeoutMs = 30_000 }: StopLimits = {}): Promise<void> {
    this.#stopping ??= (async () => {
      this.#stopped.abort();
      for (const timer of this.#timers) clearInterval(timer);
      this.#waiting.clear();
      this.#ear?.disconnect();
      const idle = Promise.allSettled(this.#running);
      await isWithin(idle, timeoutMs);
    })();
    return this.#stopping;
  }

  /** @param onReady called once rings are heard: earlier ones were missed */
  #listen(onReady: () => void): void {
    const { errors } = this.#options;
    const ear = duplicateOf(this.#redis);
    this.#ear = ear;
    ear.on('error', (error) => errors.report('reports are not called out', error));
    ear.on('message', (_channel, name: string) => {
      if (this.#ear === ear) this.#hear(name);
    });
    ear.on('ready', () => {
      ear.subscribe(this.#streams.bell).then(onReady, (error) => {
        if (this.#ear === ear) errors.report('reports are not called out', error);
      });
    });
    // A failure is an 'error' event too, and ioredis tries again.
    ear.connect().catch(() => undefined);
  }

  /**
   * Anybody on Redis can ring any name, as often as they like. After too many unknown names this reader hears nothing for a
   * while.
   */
  #hear(name: string): void {
    if (this.#known.has(name)) this.#ring(name);
    if (this.#known.has(name) || name === NO_HURRY) return;
    if (name.length <= LONGEST_NAME && this.#strangers.size < MOST_STRANGERS) {
      this.#strangers.add(name);
      return;
    }
    this.#ear?.disconnect();
    this.#ear = undefined;
    this.#missed = true;
    this.#options.errors.report(
      'rings that name no agent: none is heard for a moment',
      new Error('too many, or too long'),
    );
    wait(DEAF, undefined, { signal: this.#stopped.signal, ref: false }).then(
      () => this.#listen(() => this.#lookAtKnown()),
      () => undefined,
    );
  }

  #lookAtKnown(): void {
    for (const name of this.#known) this.#await(name);
    this.#next();
  }

  #ring(name: string): void {
    this.#await(name);
    this.#next();
  }

  #await(name: string): void {
    if (this.#stopped.signal.aborted || this.#setBack.has(name)) return;
    if (this.#known.has(name) || parseName(name) !== null) this.#waiting.add(name);
  }

  #next(): void {
    // In a cluster the streams are in different slots.
    const most = this.#redis.isCluster ? 1 : GROUP;
    while (this.#running.size < PARALLEL) {
      const group: string[] = [];
      for (const name of this.#waiting) {
        if (this.#busy.has(name)) continue;
        const alone = this.#failures.has(name);
        if (alone && group.length > 0) continue;
        group.push(name);
        if (alone || group.length === most) break;
      }
      if (group.length === 0) return;
      for (const name of group) {
        this.#waiting.delete(name);
        this.#busy.add(name);
      }
      const mine = new Set(group);
      const done = this.#look(mine).finally(() => {
        for (const name of mine) this.#busy.delete(name);
        this.#running.delete(done);
        this.#next();
      });
      this.#running.add(done);
    }
  }

  #ringLater(name: string, ms: number): void {
    wait(ms, undefined, { signal: this.#stopped.signal, ref: false }).then(
      () => {
        this.#setBack.delete(name);
        this.#ring(name);
      },
      () => undefined,
    );
  }

  #search(): void {
    const { errors } = this.#options;
    const streams = this.#streams;
    this.#missed = this.#redis.status !== 'ready';
    if (this.#missed) return;
    for (const node of nodesOf(this.#redis)) {
      const found = node.scanStream({ match: streams.pattern, count: 1_000 });
      found.on('data', (keys: string[]) => {
        for (const key of keys) this.#await(streams.nameIn(key));
        this.#next();
      });
      found.on('error', (error: Error) => errors.report('reports cannot be looked for', error));
    }
  }

  /**
   * Never rejects. If handling fails, each stream of the group is tried again alone, because any of them may
   * be the cause.
   * @param group the streams that this call reads; a stream that is read to its end leaves it
   */
  async #look(group: Set<string>): Promise<void> {
    const { errors } = this.#options;
    try {
      if (this.#redis.status !== 'ready') {
        for (const name of group) this.#ringLater(name, BACKOFF.first);
        return;
      }
      await this.#read(group);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      for (const name of group) {
        const failures = this.#failures.get(name) ?? 0;
        this.#failures.set(name, failures + 1);
        errors.report('report not handled, it is tried again', error, { stream: name });
        this.#ringLater(name, Math.min(BACKOFF.first * 2 ** failures, BACKOFF.most));
      }
    }
  }

  async #read(group: Set<string>): Promise<void> {
    let reading = [...group].map((name): Reading => ({ name, handled: [] }));
    for (let batches = 0; reading.length > 0; batches += 1) {
      const isLast = batches === MOST_BATCHES;
      const [answers, [seconds]] = await this.#ask(reading, isLast);
      const batch: ReceivedReport[] = [];
      const going: Reading[] = [];
      const abused: (Reading & { tookMs: number })[] = [];
      for (const [at, { name }] of reading.entries()) {
        const [mine, exists, found] = answers[at] ?? [0, 0, []];
        if (exists === 1) this.#known.add(name);
        else this.#known.delete(name);
        if (isLast) this.#await(name);
        else if (mine === 0) this.#ringLater(name, TAKEN);
        if (found.length === 0) {
          this.#leave(group, name);
          continue;
        }
        const handled = found.map(([id]) => id);
        const { reports: own, tookMs } = await readable(
          this.#options,
          found.map(([id, json]) => ({
            name,
            id,
            json,
            ageMs: Math.max(0, seconds * 1_000 - Number.parseInt(id, 10)),
          })),
        );
        if (own.length === found.length) going.push({ name, handled });
        else abused.push({ name, handled, tookMs });
        batch.push(...own);
      }
      try {
        const left = going.length + abused.length;
        if (this.#stopped.signal.aborted && left > 0) throw new Error('stopped');
        if (batch.length > 0) await this.#options.handle(batch);
        if (abused.length > 0) await this.#ask(abused, true);
      } catch (error) {
        for (const { name } of [...going, ...abused])
          await RELEASE.run(this.#redis, [this.#lock(name)], [this.#id]);
        throw error;
      }
      for (const { name, tookMs } of abused) {
        this.#setBack.add(name);
        this.#waiting.delete(name);
        const ms = Math.max(tookMs * SET_BACK.times, SET_BACK.least);
        this.#ringLater(name, Math.min(ms, SET_BACK.most));
        this.#leave(group, name);
      }
      reading = going;
    }
  }

  /** Frees the stream at once: other streams of the group may have much more to read. */
  #leave(group: Set<string>, name: string): void {
    group.delete(name);
    this.#failures.delete(name);
    this.#busy.delete(name);
    this.#next();
  }

  /** @param ends true: reads nothing more, but deletes what was handled and gives the streams up */
  async #ask(reading: readonly Reading[], ends: boolean) {
    const keys = reading.flatMap(({ name }) => [this.#streams.keyOf(name, 'stream'), this.#lock(name)]);
    const handled = reading.flatMap(({ handled }) => [handled.length, ...handled]);
    const most = ends ? 0 : Math.ceil(BATCH / reading.length);
    const given = [this.#id, this.#options.lockMs, most, REPORT_BYTES, ...handled];
    return read.parse(await READ.run(this.#redis, keys, given));
  }

  #lock(name: string): string {
    return this.#streams.keyOf(name, 'reader');
  }
}

interface Reading {
  name: string;
  handled: string[];
}
