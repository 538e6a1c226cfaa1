/**
 * Templates beside the lanes in Redis: each is stored once for all jobs of its lane that print it, by the
 * hash of its JSON. So a large template neither fills the server with each job that waits, nor is sent with
 * each job that is taken.
 *
 * A template is stored before the first job that needs it, and kept for two weeks after such a job was last added or looked up.
 * The service looks up waiting jobs every few minutes. Readers check the hash.
 */
import { z } from 'zod';
import type { Lane } from '../../contract/lane.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { template } from '../../contract/template.ts';
import { hashOf, templateHash } from '../../contract/template-hash.ts';
import { keptTemplates } from '../kept-templates.ts';
import { type RedisConnection, RedisScript } from './script.ts';

/** How long a template is kept after its last use, ms. */
export const TEMPLATE_KEPT = 14 * 24 * 3_600_000;

/** Most bytes of a template's JSON. Agents write their lanes' keys; anything longer was not written by us. */
const LONGEST = 32 * 1024 * 1024;
const READ = new RedisScript(`
  local json = redis.call('GET', KEYS[1]) or ''
  return #json > ${LONGEST} and '' or json`);

export class RedisTemplates {
  readonly #redis: RedisConnection;
  readonly #keyOf: (lane: Lane, name: string) => string;
  readonly #known = keptTemplates();
  #fetching: Promise<unknown> = Promise.resolve();

  constructor(redis: RedisConnection, keyOf: (lane: Lane, name: string) => string) {
    this.#redis = redis;
    this.#keyOf = keyOf;
  }

  /** Resolves when it is there. */
  async store(lane: Lane, own: QueuedJob['template']): Promise<void> {
    const key = this.#keyOf(lane, templateKey(templateHash(own)));
    if ((await this.#redis.pexpire(key, TEMPLATE_KEPT)) === 1) return;
    await this.#redis.set(key, JSON.stringify(own), 'PX', TEMPLATE_KEPT);
  }

  /** Undefined: the template is not there, or its text does not have this hash. */
  async of(lane: Lane, hash: string): Promise<QueuedJob['template'] | undefined> {
    return this.#known.get(hash) ?? (await this.#fetched(lane, hash));
  }

  /** One at a time: a server cuts off a subscribed connection for which more than 32 MB of answers wait. */
  #fetched(lane: Lane, hash: string): Promise<QueuedJob['template'] | undefined> {
    const fetched = this.#fetching.then(async () => {
      const json = z.string().parse(await READ.run(this.#redis, [this.#keyOf(lane, templateKey(hash))], []));
      // An agent may have written something else: these are its lane's keys.
      if (hashOf(json) !== hash) return undefined;
      const { data } = template.safeParse(JSON.parse(json));
      if (data !== undefined) this.#known.set(hash, data, { size: json.length });
      return data;
    });
    this.#fetching = fetched.catch(() => undefined);
    return fetched;
  }
}

/** The template's part of its key, beside the lane's other keys. */
export function templateKey(hash: string): string {
  return `template:${hash}`;
}
