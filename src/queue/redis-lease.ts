/**
 * Leases in Redis: `…:lease` holds `<agent>/<term>/<question>` and `…:rival` `<agent>/<reaches>`, each with its end;
 * `…:canceled` is the set of jobs that are not to be printed any more. All are beside the lane's queue, with the same prefix and hash tag: one slot, and one pattern for an ACL.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Lane } from '../contract/lane.ts';
import type { LeaseStore } from './lease.ts';

/** An agent's ID has no "/". Returns the milliseconds granted, or 0, and whether a rival waits that reaches the printer. */
const ASK = `
  local me, term, reaches = ARGV[1], ARGV[2], ARGV[3]
  local contended, alone, fresh = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
  local keeps, question = tonumber(ARGV[7]), tonumber(ARGV[8])
  local function by(value) return value and string.match(value, '^[^/]*') end
  local lease, rival = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
  local other = rival and by(rival) ~= me
  local wanted = other and string.sub(rival, -2) == '/1'
  local same = by(lease) == me and string.match(lease, '/([^./]*)') == string.match(term, '^[^.]*')
  local mine = same or (by(lease) == me and fresh == '1')
  if mine or (not lease and (reaches == '1' or not wanted)) then
    local ms = other and contended or alone
    local before = same and tonumber(string.match(lease, '/(%d+)$')) or 0
    local left = mine and redis.call('PTTL', KEYS[1]) or 0
    if same and question > before then left = keeps end
    redis.call('SET', KEYS[1], me .. '/' .. term .. '/' .. math.max(question, before), 'PX', math.max(ms, left))
    return {ms, wanted and 1 or 0, redis.call('SMEMBERS', KEYS[3])}
  end
  if reaches == '1' or not wanted then
    redis.call('SET', KEYS[2], me .. '/' .. reaches, 'PX', contended)
  end
  return {0, wanted and 1 or 0, {}}`;
const GIVE_BACK = `
  local lease = redis.call('GET', KEYS[1])
  if lease and string.match(lease, '^(.*)/') == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 1`;

const answer = z.tuple([z.int(), z.int(), z.array(z.string())]);

/**
 * @param keyOf the key of this name beside the lane's queue
 * @param onRefused called for a lane of which the server refuses the keys, where it does not refuse all
 */
export function redisLeases(
  redis: Redis,
  keyOf: (lane: Lane, name: string) => string,
  onRefused: (lane: Lane, error: Error) => void,
): LeaseStore {
  /** One trip for all. @throws the first error, if all have failed */
  async function all<A extends { lane: Lane }>(
    asked: readonly A[],
    command: (one: A) => (string | number)[],
  ): Promise<{ lane: Lane; result: unknown }[]> {
    const results = (await redis.pipeline(asked.map(command)).exec()) ?? [];
    const [first] = results;
    if (first?.[0] instanceof Error && results.every(([error]) => error !== null)) throw first[0];
    return asked.flatMap(({ lane }, index) => {
      const [error, result] = results[index] ?? [];
      if (error instanceof Error) onRefused(lane, error);
      return error instanceof Error ? [] : [{ lane, result }];
    });
  }
  return {
    async ask(agentId, asks, { contended, alone }) {
      const answers = await all(asks, ({ lane, term, reaches, fresh, keeps }) => {
        const keys = ['lease', 'rival', 'canceled'].map((key) => keyOf(lane, key));
        const [reached, first] = [reaches, fresh].map((yes) => (yes ? '1' : '0'));
        const who = [agentId, term, reached ?? '0', contended, alone, first ?? '0'];
        return ['eval', ASK, 3, ...keys, ...who, Math.ceil(keeps?.ms ?? 0), keeps?.question ?? 0];
      });
      return answers.map(({ lane, result }) => {
        const [ms, wanted, canceled] = answer.parse(result);
        return { lane, granted: ms === 0 ? null : ms, wanted: wanted === 1, canceled };
      });
    },
    async giveBack(agentId, lane, term) {
      await redis.eval(GIVE_BACK, 1, keyOf(lane, 'lease'), `${agentId}/${term}`);
    },
    async mark(lane, name, on) {
      await redis[on ? 'sadd' : 'srem'](keyOf(lane, 'canceled'), name);
    },
    async holders(lanes) {
      const asked = lanes.map((lane) => ({ lane }));
      const leases = await all(asked, ({ lane }) => ['get', keyOf(lane, 'lease')]);
      return new Map(
        leases.flatMap(({ lane, result }): [Lane, string][] => {
          const lease = z.string().nullable().parse(result);
          return lease === null ? [] : [[lane, lease.slice(0, lease.indexOf('/'))]];
        }),
      );
    },
  };
}
