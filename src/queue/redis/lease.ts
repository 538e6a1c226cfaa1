/**
 * Leases in Redis: `…:lease` holds `<agent>/<term>/<question>` and `…:rival` `<agent>/<reaches>`, each until
 * it expires; `…:canceled` is the set of jobs that are not to be printed any more. They have the prefix and
 * hash tag of the lane's queue: one slot, and one pattern for an ACL.
 */
import { z } from 'zod';
import type { Lane } from '../../contract/lane.ts';
import {
  HELD,
  type LeaseLimits,
  type LeaseQuestion,
  type LeaseStore,
  ringOf,
  type StoredAnswer,
} from '../lease.ts';
import { isRefusal } from './connection.ts';
import { type RedisConnection, RedisScript } from './script.ts';

/** Most marks of a lane that are passed on, and the longest, characters: agents can write anything into their lanes' keys. */
const MOST_MARKS = 10_000;
const LONGEST_MARK = 100;

/**
 * Answers for each lane: the milliseconds granted, or 0; whether a rival that reaches the printer waits; the
 * marks; and whether the lane has a job. An agent's ID has no "/".
 */
const ASK = new RedisScript(`
  local me, contended, alone = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  local function by(value) return value and string.match(value, '^[^/]*') end
  local function ask(key, term, reaches, fresh, keeps, question)
    local lease, rival = redis.call('GET', key[1]), redis.call('GET', key[2])
    local other = rival and by(rival) ~= me
    local wanted = other and string.sub(rival, -2) == '/1'
    local same = by(lease) == me and string.match(lease, '/([^./]*)') == string.match(term, '^[^.]*')
    local mine = same or (by(lease) == me and fresh == '1')
    if mine or (not lease and (reaches == '1' or not wanted)) then
      local ms = other and contended or alone
      local before = same and tonumber(string.match(lease, '/(%d+)$')) or 0
      local left = mine and redis.call('PTTL', key[1]) or 0
      if same and question > before then left = math.min(keeps, left) end
      redis.call('SET', key[1], me .. '/' .. term .. '/' .. math.max(question, before), 'PX', math.max(ms, left))
      local jobs = redis.call('EXISTS', key[4], key[5])
      local marks = {}
      for _, name in ipairs(redis.call('SMEMBERS', key[3])) do
        if #marks < ${MOST_MARKS} and #name <= ${LONGEST_MARK} then marks[#marks + 1] = name end
      end
      return {ms, wanted and 1 or 0, marks, jobs}
    end
    if reaches == '1' or not wanted then
      redis.call('SET', key[2], me .. '/' .. reaches, 'PX', contended)
    end
    return {0, wanted and 1 or 0, {}, 0}
  end
  local answers = {}
  for at = 1, #KEYS / 5 do
    local key, of = {unpack(KEYS, at * 5 - 4, at * 5)}, at * 5 - 1
    answers[at] = ask(key, ARGV[of], ARGV[of + 1], ARGV[of + 2], tonumber(ARGV[of + 3]), tonumber(ARGV[of + 4]))
  end
  return answers`);
const GIVE_BACK = new RedisScript(`
  local lease = redis.call('GET', KEYS[1])
  if lease and string.match(lease, '^(.*)/') == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 1`);

const answers = z.array(z.tuple([z.int(), z.int(), z.array(z.string()), z.int()]));
/** Most lanes in one command: bounds how long the command holds up the server. */
const MOST = 100;
/** An agent's ID ends within so many characters of its lease. */
const LONGEST_ID = 64;

interface LeaseEvents {
  /** Called for each lane whose keys the server refuses, unless it refuses those of all lanes. */
  onRefused(lane: Lane, error: Error): void;
  /** Called for a lane that was granted, and in which a job waits or is in hand. */
  onWaiting(lane: Lane): void;
}

/** @param keyOf the key with this name beside the lane's queue */
export function redisLeases(
  redis: RedisConnection,
  keyOf: (lane: Lane, name: string) => string,
  { onRefused, onWaiting }: LeaseEvents,
): LeaseStore {
  // In a cluster the lanes are in different slots.
  const most = redis.isCluster ? 1 : MOST;

  async function askTogether(
    agentId: string,
    asks: readonly LeaseQuestion[],
    { contended, alone }: LeaseLimits,
  ): Promise<StoredAnswer[]> {
    const names = ['lease', 'rival', 'canceled', 'wait', 'active'];
    const keys = asks.flatMap(({ lane }) => names.map((name) => keyOf(lane, name)));
    const given = asks.flatMap(({ term, reaches, fresh, keeps }) => [
      ...[term, reaches ? '1' : '0', fresh ? '1' : '0'],
      ...[Math.ceil(keeps?.ms ?? 0), keeps?.question ?? 0],
    ]);
    const told = answers.parse(await ASK.run(redis, keys, [agentId, contended, alone, ...given]));
    return asks.flatMap(({ lane }, at) => {
      const [ms, wanted, canceled, jobs] = told[at] ?? [];
      if (ms === undefined || canceled === undefined) return [];
      if (ms > 0 && jobs !== 0) onWaiting(lane);
      return [{ lane, granted: ms === 0 ? null : ms, wanted: wanted === 1, canceled }];
    });
  }

  /** One refused key fails the whole command; then each lane is asked about alone. @throws the first error, if all fail */
  async function ask(
    agentId: string,
    asks: readonly LeaseQuestion[],
    length: LeaseLimits,
  ): Promise<StoredAnswer[]> {
    try {
      if (asks.length <= most) return await askTogether(agentId, asks, length);
    } catch (error) {
      if (asks.length === 1 || !isRefusal(error)) throw error;
    }
    const size = asks.length <= most ? 1 : most;
    const chunks = Array.from({ length: Math.ceil(asks.length / size) }, (_, at) =>
      asks.slice(at * size, (at + 1) * size),
    );
    const all = await Promise.allSettled(chunks.map((chunk) => ask(agentId, chunk, length)));
    if (all[0]?.status === 'rejected' && all.every(({ status }) => status === 'rejected'))
      throw all[0].reason;
    return all.flatMap((one, at) => {
      if (one.status === 'fulfilled') return one.value;
      for (const { lane } of chunks[at] ?? []) onRefused(lane, one.reason);
      return [];
    });
  }

  return {
    ask,
    async giveBack(agentId, lane, term) {
      await GIVE_BACK.run(redis, [keyOf(lane, 'lease')], [`${agentId}/${term}`]);
    },
    async mark(lane, name, on) {
      await redis[on ? 'sadd' : 'srem'](keyOf(lane, 'canceled'), name);
      if (on || name === HELD) await redis.publish(keyOf(lane, 'bell'), ringOf(name));
    },
    async holders(lanes) {
      const read = lanes.map((lane) => redis.getrange(keyOf(lane, 'lease'), 0, LONGEST_ID));
      const leases = await Promise.allSettled(read);
      // Agents write their lanes' keys, and may have broken one: the others can still be read.
      const [first] = leases;
      if (first?.status === 'rejected' && leases.every(({ status }) => status === 'rejected'))
        throw first.reason;
      return new Map(
        leases.flatMap((lease, at): [Lane, string][] => {
          const lane = lanes[at];
          const held = lease.status === 'fulfilled' && lease.value !== '' ? lease.value : undefined;
          return held === undefined || lane === undefined ? [] : [[lane, held.slice(0, held.indexOf('/'))]];
        }),
      );
    },
  };
}
