/** What somebody may try who has an agent's Redis user: its own stream of reports, the bell, and its tenant's lanes. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { DOCUMENTED, makeAgentUser } from '../kit/queue/agent-user.ts';
import type { Attack } from './callers.ts';

const { tenant, agentId } = DOCUMENTED;
const PREFIX = 'platen';
const NAME = `${tenant}/${agentId}`;

export class StolenAgent {
  readonly #redis: Redis;

  private constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** @param owner the address with which the service is at its Redis */
  static async take(owner: string): Promise<StolenAgent> {
    const [user, password] = ['dock-3', randomUUID()];
    const admin = new Redis(owner);
    await makeAgentUser(admin, { user, password, prefix: PREFIX });
    admin.disconnect();
    const redis = new Redis(Object.assign(new URL(owner), { username: user, password }).href);
    await once(redis, 'ready');
    return new StolenAgent(redis);
  }

  /** One entry in its stream, and a ring. */
  async say(json: string): Promise<void> {
    const stream = `${PREFIX}:{@reports/${NAME}}:stream`;
    // The attack is on the service, not on the memory of the machine.
    if ((await this.#redis.xlen(stream)) > 40) await this.#redis.del(stream);
    await this.#redis.xadd(stream, '*', 'json', json);
    await this.ring(NAME);
  }

  async ring(name: string): Promise<void> {
    await this.#redis.publish(`${PREFIX}:@reports`, name);
  }

  [Symbol.dispose](): void {
    this.#redis.disconnect();
  }
}

/** Reports without end. @param report as JSON, of about so many bytes; `n`: how many there were before */
function reports(name: string, bytes: number, report: (bytes: number, n: number) => string): Attack {
  return {
    name,
    run: async ({ stolenAgent }, { seconds, share }) => {
      const until = performance.now() + seconds * 1_000;
      for (let n = 0; n === 0 || performance.now() < until; n += 1)
        await stolenAgent.say(report(Math.max(90_000, bytes * share), n));
      return [];
    },
  };
}

function state(printers: string): string {
  const who = `"kind":"agent","agentId":"${agentId}","tenantId":"${tenant}","name":"dock","version":"1","online":true`;
  return `{${who},"at":"${new Date().toISOString()}","printers":[${printers}]}`;
}

const many = (piece: string, bytes: number) =>
  Array(Math.floor(bytes / (piece.length + 1)))
    .fill(piece)
    .join(',');
const FORMAT = '{"id":"a","name":"a","language":"zpl","dpi":203,"width":50,"height":25}';

/** A valid description, of another printer each time. */
function printer(n: number): string {
  const id = `serial-${n.toString(16).padStart(12, '0')}`;
  const rest = '"evidence":"serial","uri":"socket://10.0.0.1","state":"idle","reasons":[]';
  return `{"id":"${id}","name":"${id}",${rest},"formats":[${FORMAT}]}`;
}

/** Rings without end, of which some are under way at a time. */
function rings(name: string, nameOf: (share: number, n: number) => string): Attack {
  return {
    name,
    run: async ({ stolenAgent }, { seconds, share }) => {
      const until = performance.now() + seconds * 1_000;
      let n = 0;
      const ringing = async () => {
        while (performance.now() < until) await stolenAgent.ring(nameOf(share, n++));
      };
      await Promise.all(Array.from({ length: nameOf(share, 0).length > 1_000 ? 2 : 500 }, ringing));
      return [];
    },
  };
}

export const BY_STOLEN_AGENT: readonly Attack[] = [
  reports('reports of a stolen agent that cannot be read', 7.6e6, (bytes) => state(many('0', bytes))),
  reports('reports of a stolen agent as long as they may be, that cannot be read', 90_000, (bytes) =>
    state(many('0', bytes)),
  ),
  reports('reports of a stolen agent that are no JSON, or only lists in lists', 90_000, (bytes, n) =>
    (n % 2 === 0 ? '[' : '{"a":').repeat(bytes / 5),
  ),
  reports('reports of a stolen agent that has other printers each time', 90_000, (_bytes, n) =>
    state(Array.from({ length: 300 }, (_, one) => printer(n * 300 + one)).join(',')),
  ),
  rings('rings of a stolen agent by the thousand', (_share, n) => `${tenant}/agent-${n}-of-many`),
  rings('rings of a stolen agent by the megabyte', (share) => '/'.repeat(8e6 * share)),
];
