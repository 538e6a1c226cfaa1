/**
 * The lanes in Redis, one BullMQ queue each. BullMQ adds their jobs, `turns.ts` takes them.
 */
import { Queue } from 'bullmq';
import { z } from 'zod';
import type { Lane, Scope } from '../../contract/lane.ts';
import type { Report } from '../../contract/report.ts';
import { templateHash } from '../../contract/template-hash.ts';
import type { BellHandler } from '../bell.ts';
import { type AddedJob, KNOWN_MS, type LaneJob, type LaneStore } from '../lane-store.ts';
import type { LeaseStore } from '../lease.ts';
import type { ErrorLogger } from '../queue-log.ts';
import type { ReportStore } from '../report-batch.ts';
import type { PublishedReport } from '../report-name.ts';
import { type LaneTurns, Turns } from '../turns.ts';
import { isWithin } from '../within.ts';
import { RedisBell } from './bell.ts';
import { redisLeases } from './lease.ts';
import { RedisReportReader } from './report-reader.ts';
import type { ReportStreams } from './report-stream.ts';
import { type RedisConnection, RedisScript } from './script.ts';
import { RedisTemplates, TEMPLATE_KEPT, templateKey } from './templates.ts';
import { RedisTurns, type StoredJob, storedNote, TERM_OF_LEASE } from './turns.ts';

interface RedisLanesParts {
  redis: RedisConnection;
  prefix: string;
  errors: ErrorLogger;
  streams: ReportStreams;
}

type AddingQueue = { queue: Queue<StoredJob, null, string>; usedAt: number };

/** A lane's BullMQ queue is closed after so long without a new job, and idle queues are looked for as often, ms. */
const IDLE = 60_000;
/** Fewer jobs than this are added one by one, so that none is added after the caller was told of a failure. */
const WORTH_BULK = 6;
/** Nobody reads the event stream; by default Redis keeps 456 KB of it for each queue. */
const STREAMS = { events: { maxLen: 100 } };

const LOOK = new RedisScript(`
  local job = redis.call('HMGET', KEYS[1], 'ats', 'progress', 'ended', 'data', 'term')
  if not job[4] then return {} end
  local state = job[3] and 'ended' or 'waiting'
  for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    if id == ARGV[1] and state == 'waiting' and job[5] ~= '' then state = 'active' end
  end
  local template = string.match(job[4], '^{"template":"(%x+)"')
  local kept = not template or redis.call('PEXPIRE', KEYS[3] .. '${templateKey('')}' .. template, ${TEMPLATE_KEPT}) == 1
  if state == 'waiting' and not kept then return {} end
  return {state, tonumber(job[1]) or 0, string.sub(job[2] or '', 1, 3), redis.call('PTTL', KEYS[1])}`);

const TAKE_OUT = new RedisScript(`
  local job = redis.call('HMGET', KEYS[1], 'data', 'ended', 'term')
  if not job[1] or job[2] then return 0 end
  ${TERM_OF_LEASE}
  for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    if id == ARGV[1] and job[3] ~= '' then
      local term = termOf(redis.call('GET', KEYS[4]))
      if ARGV[2] == '0' or (term and term == job[3]) then return 0 end
    end
  end
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('LREM', KEYS[3], 0, ARGV[1])
  redis.call('DEL', KEYS[1])
  return 1`);

const looked = z.union([
  z.tuple([z.enum(['waiting', 'active', 'ended']), z.int(), z.string(), z.int()]),
  z.tuple([]),
]);

export class RedisLanes implements LaneStore {
  readonly kind = 'redis';
  readonly leases: LeaseStore;
  readonly reports: ReportStore;
  readonly #redis: RedisConnection;
  readonly #parts: RedisLanesParts;
  readonly #adding = new Map<Lane, AddingQueue>();
  readonly #turns: RedisTurns;
  readonly #templates: RedisTemplates;
  readonly #bell: RedisBell;
  readonly #tidy: NodeJS.Timeout;
  readonly #open = new Set<Turns<never>>();

  constructor(parts: RedisLanesParts) {
    const { redis, errors } = parts;
    this.#redis = redis;
    this.#parts = parts;
    this.reports = {
      unread: (of) => parts.streams.unread(of),
      reader: (options) => new RedisReportReader(parts.streams, options),
    };
    const keyOf = (lane: Lane, name: string) => this.#keyOf(lane, name);
    this.#templates = new RedisTemplates(redis, keyOf);
    this.#turns = new RedisTurns(redis, keyOf, this.#templates);
    this.#bell = new RedisBell(redis, errors);
    this.leases = redisLeases(redis, keyOf, {
      onRefused: (lane, error) => errors.report('lease refused', error, { lane }),
      onWaiting: (lane) => this.#bell.ring(this.#keyOf(lane, 'bell'), ''),
    });
    this.#tidy = setInterval(() => this.#letGo(IDLE), IDLE).unref();
  }

  async add(lane: Lane, jobs: readonly AddedJob[], givenUp: AbortSignal) {
    const queue = await this.#queue(lane);
    const templates = jobs.flatMap(({ template }) => template ?? []);
    for (const one of new Map(templates.map((own) => [templateHash(own), own])).values())
      await this.#templates.store(lane, one);
    const added = jobs.map(({ queueId, json, template }) => ({
      name: 'job',
      // The hash comes first, where `LOOK` looks for it.
      data: template === undefined ? { json } : { template: templateHash(template), json },
      opts: { jobId: queueId, attempts: 1 },
    }));
    if (jobs.length >= WORTH_BULK) await queue.addBulk(added);
    else {
      for (const { name, data, opts } of added) {
        // The caller was told that this failed, and may have canceled the job since.
        if (givenUp.aborted) return;
        await queue.add(name, data, opts);
      }
    }
    await this.#redis.publish(this.#keyOf(lane, 'bell'), '');
  }

  async look(lane: Lane, queueId: string): Promise<LaneJob | null> {
    const keys = [queueId, 'active', ''].map((name) => this.#keyOf(lane, name));
    const found = looked.parse(await LOOK.run(this.#redis, keys, [queueId]));
    if (found.length === 0) return null;
    const [state, deliveries, progress, left] = found;
    const endedMs = state === 'ended' && left >= 0 ? KNOWN_MS - left : null;
    return { state, deliveries, begun: storedNote(progress) !== null, endedMs };
  }

  async remove(lane: Lane, queueId: string): Promise<boolean> {
    return await this.#takeOut(lane, queueId, '0');
  }

  async takeAway(lane: Lane, queueId: string): Promise<boolean> {
    return await this.#takeOut(lane, queueId, '1');
  }

  async #takeOut(lane: Lane, queueId: string, abandoned: '0' | '1'): Promise<boolean> {
    const names = [queueId, 'active', 'wait', 'lease'];
    const keys = names.map((name) => this.#keyOf(lane, name));
    return (await TAKE_OUT.run(this.#redis, keys, [queueId, abandoned])) === 1;
  }

  publish(report: Report, of: Scope): Promise<PublishedReport | null> {
    return this.#parts.streams.publish(report, of);
  }

  turnsOf(lane: Lane, over: AbortSignal): LaneTurns {
    const turns = new Turns(this.#turns.of(lane), this.#parts.errors);
    this.#open.add(turns);
    const close = () => {
      turns.close();
      this.#open.delete(turns);
    };
    over.addEventListener('abort', close, { once: true });
    return turns;
  }

  listen(lane: Lane, ring: BellHandler): () => void {
    return this.#bell.listen(this.#keyOf(lane, 'bell'), ring);
  }

  answers(): boolean {
    return this.#redis.status === 'ready';
  }

  async ping(): Promise<void> {
    await this.#redis.ping();
  }

  async close(): Promise<void> {
    clearInterval(this.#tidy);
    for (const turns of this.#open) turns.close();
    this.#bell.close();
    // A queue that was being opened when its server went away would wait for ever.
    await isWithin(this.#letGo(0), 5_000);
    this.#redis.disconnect();
  }

  /** The hash tag keeps the keys of one lane in one slot of a Redis Cluster. */
  #keyOf(lane: string, name: string): string {
    return `${this.#parts.prefix}:{${lane}}:${name}`;
  }

  /** Closes the queues of lanes to which nothing was added for `idleMs`. */
  async #letGo(idleMs: number): Promise<void> {
    const before = performance.now() - idleMs;
    const idle = [...this.#adding].filter(([, { usedAt }]) => usedAt <= before);
    for (const [lane] of idle) this.#adding.delete(lane);
    await Promise.allSettled(idle.map(([, { queue }]) => queue.close()));
  }

  async #queue(lane: Lane): Promise<AddingQueue['queue']> {
    const known = this.#adding.get(lane);
    const { redis: connection, prefix, errors } = this.#parts;
    const queue = known?.queue ?? new Queue(`{${lane}}`, { connection, prefix, streams: STREAMS });
    if (known === undefined)
      queue.on('error', (error) => errors.report('queue failed', error, { queue: lane }));
    this.#adding.set(lane, { queue, usedAt: performance.now() });
    try {
      await queue.waitUntilReady();
    } catch (error) {
      // BullMQ remembers the failure for good: the next command makes another queue.
      this.#adding.delete(lane);
      await queue.close().catch(() => undefined);
      throw error;
    }
    return queue;
  }
}
