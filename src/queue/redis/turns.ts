/**
 * Makes a turn of one lane in Redis, on BullMQ's own keys: the lists `wait` and `active`, and a hash for each
 * job. The hash also gets the `term` and the `turn` under which the job was taken, the `order` of its last
 * note, and whether it has `ended`.
 *
 *   wait ──taken: one more delivery──▶ active ──ended──▶ its hash alone, for 48 h, without its payload
 *     ▲                                  │
 *     └──handed back, to the front───────┘
 *
 * Both lists have their first job at the right end. Of two jobs in hand, the first is the one that was taken earlier. A job
 * that is handed back while another is active keeps its place in `active`; its empty term says that it waits. The lease is the
 * fence: the agent that holds it is alone on the lane, and first takes the jobs that are active, whichever agent had them in
 * hand. Whatever an agent says of a job names the agent's term and the job's delivery. It counts only while the lane still has
 * that term and the job that delivery. A command that is sent twice, because its answer was lost with the connection, counts
 * once.
 */
import { z } from 'zod';
import type { Lane } from '../../contract/lane.ts';
import { KNOWN_MS } from '../lane-store.ts';
import type { TakenJob, TurnStore } from '../turns.ts';
import { isRefusal } from './connection.ts';
import { type RedisConnection, RedisScript } from './script.ts';
import type { RedisTemplates } from './templates.ts';

/**
 * A longer payload (bytes) is fetched by a command of its own, one at a time: a server cuts off a subscribed
 * connection for which more than 32 MB of answers wait.
 */
const LONG = 65_536;
/** Agents write their lanes' keys: a payload (bytes) or a note that is longer than any of ours is not read. */
const MOST_PAYLOAD = 32 * 1024 * 1024;
const MOST_NOTE = 4_096;

/** `<agent>/<term>/<question>`, see `lease.ts`. */
export const TERM_OF_LEASE = `
  local function termOf(lease) return lease and string.match(lease, '^[^/]*/([^/]*)/') end`;

const TURN = new RedisScript(`
  local wait, active, base, said = KEYS[2], KEYS[3], KEYS[4], cjson.decode(ARGV[1])
  ${TERM_OF_LEASE}
  local term = termOf(redis.call('GET', KEYS[1]))
  local ended, back, taken = {}, {}, {}
  local function isTheirs(one)
    if term and term ~= one.term then return false end
    local job = redis.call('HMGET', base .. one.id, 'term', 'ats')
    return job[1] == one.term and tonumber(job[2]) == one.delivery
  end
  for at, one in ipairs(said.ended) do
    ended[at] = 0
    if isTheirs(one) then
      ended[at] = 1
      if redis.call('LREM', active, 0, one.id) == 0 then redis.call('LREM', wait, 0, one.id) end
      redis.call('HSET', base .. one.id, 'ended', 1, 'data', '{"json":""}')
      redis.call('PEXPIRE', base .. one.id, ${KNOWN_MS})
    end
  end
  for at, one in ipairs(said.back) do
    back[at] = 0
    if isTheirs(one) then
      back[at] = 1
      if #redis.call('LRANGE', active, 0, 1) > 1 then
        redis.call('HSET', base .. one.id, 'term', '')
      else
        if redis.call('LREM', active, 0, one.id) > 0 then redis.call('RPUSH', wait, one.id) end
        redis.call('HDEL', base .. one.id, 'term')
      end
    end
  end
  local take = said.take[1]
  -- What is in hand was taken first, and is the last in the list.
  local function first()
    local inHand = {}
    for _, id in ipairs(take.beside) do inHand[id] = true end
    local ids = redis.call('LRANGE', active, -1 - #take.beside, -1)
    for at = #ids, 1, -1 do
      if not inHand[ids[at]] then return ids[at] end
    end
    return redis.call('RPOPLPUSH', wait, active)
  end
  while take and term == take.term do
    local id = first()
    if not id then break end
    local job = redis.call('HMGET', base .. id, 'data', 'ats', 'term', 'turn', 'progress', 'ended')
    if not job[1] or job[6] then
      redis.call('LREM', active, 0, id)
    else
      local delivery = tonumber(job[2]) or 0
      if not (delivery >= 0 and delivery < 2 ^ 31) then delivery = 0 end
      delivery = math.floor(delivery)
      local turn = job[3] == term and tonumber(job[4]) or 0
      -- A question that gets there after a later one.
      if turn > take.number then break end
      if turn < take.number then
        delivery = delivery + 1
        redis.call('HSET', base .. id, 'ats', delivery, 'term', term, 'turn', take.number, 'order', 0)
      end
      local data, note = job[1], job[5] or ''
      if #data > ${MOST_PAYLOAD} then data = 'too long' elseif #data > ${LONG} then data = '' end
      -- It says all the same that somebody has begun.
      if #note > ${MOST_NOTE} then note = '{"too":"long"}' end
      taken = {id, delivery, data, note}
      break
    end
  end
  return {ended, back, taken}`);

const DATA = new RedisScript(`
  local data = redis.call('HGET', KEYS[1], 'data') or ''
  return #data > ${MOST_PAYLOAD} and '' or data`);
const NOTES = new RedisScript(`
  ${TERM_OF_LEASE}
  local term, stored = termOf(redis.call('GET', KEYS[1])), {}
  for at, one in ipairs(cjson.decode(ARGV[1])) do
    local key = KEYS[2] .. one.id
    local job = redis.call('HMGET', key, 'term', 'ats', 'order', 'ended')
    stored[at] = 0
    if term == one.term and job[1] == term and tonumber(job[2]) == one.delivery and not job[4]
      and tonumber(job[3]) <= one.order then
      redis.call('HSET', key, 'progress', ARGV[at + 1], 'order', one.order)
      stored[at] = 1
    end
  end
  return stored`);

const flags = z.array(z.int());
const answer = z.tuple([
  flags,
  flags,
  z.union([z.tuple([z.string(), z.int(), z.string(), z.string()]), z.tuple([])]),
]);
/** What BullMQ keeps of a job; `template`: the hash of the template that is not in its JSON. */
const storedJob = z.object({ template: z.string().optional(), json: z.string() });
export type StoredJob = z.infer<typeof storedJob>;

export class RedisTurns {
  readonly #redis: RedisConnection;
  readonly #keyOf: (lane: Lane, name: string) => string;
  readonly #templates: RedisTemplates;
  #long: Promise<unknown> = Promise.resolve();

  constructor(
    redis: RedisConnection,
    keyOf: (lane: Lane, name: string) => string,
    templates: RedisTemplates,
  ) {
    this.#redis = redis;
    this.#keyOf = keyOf;
    this.#templates = templates;
  }

  of(lane: Lane): TurnStore<never> {
    const keyOf = (name: string) => this.#keyOf(lane, name);
    return {
      turn: async ({ ended, back, take }) => {
        const keys = ['lease', 'wait', 'active', ''].map(keyOf);
        const said = JSON.stringify({ ended, back, take });
        const [endedToo, backToo, taken] = answer.parse(await TURN.run(this.#redis, keys, [said]));
        return {
          ended: endedToo.map((flag) => flag === 1),
          back: backToo.map((flag) => flag === 1),
          taken: [taken.length === 0 ? null : await this.#taken(lane, take[0]?.term ?? '', taken)],
        };
      },
      notes: async (notes) => {
        const said = notes.map(({ inHand: { id, term, delivery }, order }) => ({
          id,
          term,
          delivery,
          order,
        }));
        const given = [JSON.stringify(said), ...notes.map(({ note }) => note)];
        const stored = await NOTES.run(this.#redis, ['lease', ''].map(keyOf), given);
        return flags.parse(stored).map((flag) => flag === 1);
      },
      isAway: (error) => !isRefusal(error),
    };
  }

  async #taken(
    lane: Lane,
    term: string,
    [id, delivery, data, progress]: readonly [string, number, string, string],
  ): Promise<TakenJob> {
    const job = storedIn(data === '' ? await this.#longData(this.#keyOf(lane, id)) : data);
    const template = job.template === undefined ? undefined : await this.#templates.of(lane, job.template);
    return { lane, id, delivery, term, json: job.json, template, ofRow: false, note: storedNote(progress) };
  }

  #longData(key: string): Promise<string> {
    const data = this.#long.then(async () => z.string().parse(await DATA.run(this.#redis, [key], [])));
    this.#long = data.catch(() => undefined);
    return data;
  }
}

/** The payload in what BullMQ stores of a job. */
function storedIn(data: string): StoredJob {
  try {
    return storedJob.parse(JSON.parse(data));
  } catch {
    // Data that is no payload is set aside like a payload that cannot be read.
    return { json: '' };
  }
}

/** The job's note; null: none. BullMQ's own default of `progress` is 0, or an empty object. */
export function storedNote(progress: string): string | null {
  return progress.startsWith('{') && progress !== '{}' ? progress : null;
}
