/**
 * The reports of one agent on Redis: a stream of its own, in the order in which it published them. Its name holds the
 * agent and its scope, so that an ACL can let an agent write this one and no other, and whoever reads it knows whose it
 * is, whatever is in it.
 *
 *   agent ── XADD, PUBLISH the name ──▶ `…:{@reports/<tenant>/<agent>}:stream` ── XRANGE, applied, XDEL ──▶ service
 */
import { z } from 'zod';
import { type Scope, scope } from '../contract/lane.ts';
import { agentId, type Report } from '../contract/report.ts';
import { type Connection, RedisScript } from './redis-script.ts';

/** Whose reports are in a stream. */
export interface ReportOrigin {
  scope: Scope;
  agentId: string;
}

/** Where a report is among its agent's others, which tells the agent what the server has lost of them. */
export interface ReportPlace {
  /** Of which these are places. */
  stream: string;
  /** Comes later in the order of texts than that of any report before. */
  at: string;
  /** The newest that the server knew before: what came after it is lost. */
  before: string;
}

/** An agent that is gone, and whose reports nobody reads, is forgotten after this long, ms. */
const KEPT = 14 * 24 * 3_600_000;
/** From so many unread reports on, older reports of the agent's own state are dropped: the newest is complete. */
const BACKLOG = 50;

const origin = z.object({ scope, agentId });
/** Of both together: anybody on Redis can ring the bell, with megabytes. */
const LONGEST_NAME = 200;

/** Called out when the reader need not hurry: no stream's name. How many hear it, it says all the same. */
const NO_HURRY = '';

/**
 * A stream knows its newest ID also when that was deleted; a server that took the place of one that died may know an older
 * one. A user made for a version before must not ask.
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
  readonly redis: Connection;
  /** Where a name is called out when there is something to read. */
  readonly bell: string;
  readonly #prefix: string;
  readonly #onPublished: (services: number) => void;
  readonly #lastState = new Map<string, { id: string; content: string }>();

  /** @param onPublished told after each report how many services are there to hear of it */
  constructor(redis: Connection, prefix: string, onPublished: (services: number) => void) {
    this.redis = redis;
    this.#onPublished = onPublished;
    this.#prefix = prefix;
    this.bell = `${prefix}:@reports`;
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

  async publish(report: Report, of: Scope): Promise<ReportPlace | null> {
    const name = nameOf({ scope: of, agentId: report.agentId });
    const key = this.keyOf(name, 'stream');
    // A heartbeat that says nothing new is read with all others, some seconds later.
    const content = report.kind === 'agent' ? JSON.stringify({ ...report, at: '' }) : '';
    const before = report.kind === 'agent' ? this.#lastState.get(name) : undefined;
    const called = content !== '' && content === before?.content ? NO_HURRY : name;
    const told = await PUBLISH.run(this.redis, [key], [JSON.stringify(report), this.bell, called]);
    const [id, length, services, newest] = published.parse(told);
    // In a cluster the server counts those alone that hear it from itself.
    if (!this.redis.isCluster) this.#onPublished(services);
    if (report.kind === 'agent') {
      if (before !== undefined && length > BACKLOG) await this.redis.xdel(key, before.id);
      this.#lastState.set(name, { id, content });
    }
    return newest === '' ? null : { stream: name, at: ordered(id), before: ordered(newest) };
  }

  /** How many reports of an agent nobody has handled yet. */
  async unread(of: ReportOrigin): Promise<number> {
    return await this.redis.xlen(this.keyOf(nameOf(of), 'stream'));
  }
}

/** `<ms>-<number>`, both of 64 bits, so that the order of texts is theirs. */
function ordered(id: string): string {
  return id
    .split('-')
    .map((part) => part.padStart(20, '0'))
    .join('-');
}

/** `<tenant>/<agent>`, and of an agent of shared printers `/<agent>`. */
export function nameOf(of: ReportOrigin): string {
  return `${of.scope ?? ''}/${of.agentId}`;
}

/** null: no name of such a stream. */
export function parseName(name: string): ReportOrigin | null {
  if (name.length > LONGEST_NAME) return null;
  const [tenant = '', agent, ...more] = name.split('/');
  const parsed = origin.safeParse({ scope: tenant === '' ? null : tenant, agentId: agent });
  return parsed.success && more.length === 0 ? parsed.data : null;
}
