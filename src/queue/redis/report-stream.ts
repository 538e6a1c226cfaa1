/**
 * The reports of an agent on Redis: a stream for each agent, in the order in which it published them. The
 * stream's name holds the agent and its scope, so that an ACL can let an agent write its own stream only, and
 * a reader knows whose reports they are, whatever they contain.
 *
 *   agent ── XADD, PUBLISH the name ──▶ `…:{@reports/<tenant>/<agent>}:stream` ── XRANGE, applied, XDEL ──▶ service
 */
import { z } from 'zod';
import type { Scope } from '../../contract/lane.ts';
import type { Report } from '../../contract/report.ts';
import { nameOf, type PublishedReport, type ScopedAgent } from '../report-name.ts';
import { type RedisConnection, RedisScript } from './script.ts';

/** A stream to which nothing was published for so long is deleted, ms: its agent is gone. */
const KEPT = 14 * 24 * 3_600_000;
/** Above this many unread reports, an agent's older state reports are dropped: the newest is complete. */
const BACKLOG = 50;

/** Rung instead of the stream's name when the reader need not hurry; PUBLISH still counts who hears it. */
export const NO_HURRY = '';

/**
 * A stream knows its newest ID even after that entry was deleted. A server that took over from a dead one may know an older ID
 * only. A Redis user that may not use XINFO gets an empty `before`.
 */
const PUBLISH = new RedisScript(`
  local before, about = '', redis.pcall('XINFO', 'STREAM', KEYS[1])
  if about.err and string.find(about.err, 'no such key', 1, true) then before = '0-0' end
  for at = 1, #about, 2 do
    if about[at] == 'last-generated-id' then before = about[at + 1] end
  end
  local id = redis.call('XADD', KEYS[1], '*', 'json', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ${KEPT})
  return {id, redis.call('XLEN', KEYS[1]), redis.call('PUBLISH', ARGV[2], ARGV[3]), before}`);
const entry = z.string().regex(/^\d+-\d+$/);
const published = z.tuple([entry, z.int(), z.int(), entry.or(z.literal(''))]);

export class ReportStreams {
  readonly redis: RedisConnection;
  /** As `bellOf`. */
  readonly bell: string;
  readonly #prefix: string;
  readonly #onPublished: (services: number) => void;
  /** The last report of an agent's state, by its stream and the printer after which the report's list begins. */
  readonly #lastState = new Map<string, { id: string; content: string }>();

  /** @param onPublished called after each report with the number of services that hear of it */
  constructor(redis: RedisConnection, prefix: string, onPublished: (services: number) => void) {
    this.redis = redis;
    this.#onPublished = onPublished;
    this.#prefix = prefix;
    this.bell = bellOf(prefix);
  }

  /** Matches the keys of all streams. */
  get pattern(): string {
    // A prefix may hold characters that are special in a pattern.
    return `${this.#prefix.replaceAll(/[\\*?[\]^]/g, '\\$&')}:{@reports/*}:stream`;
  }

  keyOf(name: string, key: 'stream' | 'reader'): string {
    return `${this.#prefix}:{@reports/${name}}:${key}`;
  }

  /** The name in the key of a stream. */
  nameIn(key: string): string {
    return key.slice(`${this.#prefix}:{@reports/`.length, -'}:stream'.length);
  }

  async publish(report: Report, of: Scope): Promise<PublishedReport | null> {
    const name = nameOf({ scope: of, agentId: report.agentId });
    const key = this.keyOf(name, 'stream');
    // A heartbeat that says nothing new does not ring: it is read at the next look, some seconds later.
    const content = report.kind === 'agent' ? JSON.stringify({ ...report, at: '' }) : '';
    const said = report.kind === 'agent' ? `${name} ${report.stretch?.after ?? ''}` : '';
    const before = this.#lastState.get(said);
    const called = content !== '' && content === before?.content ? NO_HURRY : name;
    const told = await PUBLISH.run(this.redis, [key], [JSON.stringify(report), this.bell, called]);
    const [id, length, services, newest] = published.parse(told);
    // A server of a cluster counts only its own subscribers.
    if (!this.redis.isCluster) this.#onPublished(services);
    if (report.kind === 'agent') {
      if (before !== undefined && length > BACKLOG) await this.redis.xdel(key, before.id);
      this.#lastState.set(said, { id, content });
    }
    return newest === '' ? null : { stream: name, at: ordered(id), before: ordered(newest) };
  }

  /** How many reports of an agent nobody has handled yet. */
  async unread(of: ScopedAgent): Promise<number> {
    return await this.redis.xlen(this.keyOf(nameOf(of), 'stream'));
  }
}

/** The channel on which the name of a stream with something to read is rung. */
export function bellOf(prefix: string): string {
  return `${prefix}:@reports`;
}

/** Pads a stream ID `<ms>-<number>`, both of 64 bits, so that IDs sort as texts. */
function ordered(id: string): string {
  return id
    .split('-')
    .map((part) => part.padStart(20, '0'))
    .join('-');
}
