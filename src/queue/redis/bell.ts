/**
 * Hears that lanes of this process have something to take. Each lane has a channel of its own, so that an ACL
 * can keep tenants apart. The subscriptions share the connection of the commands (RESP3), or in a cluster use
 * the client's connection for them. A ring may get lost: the answers about leases also say which lanes have a
 * job.
 */
import { Bell } from '../bell.ts';
import type { ErrorLogger } from '../queue-log.ts';
import type { RedisConnection } from './script.ts';

export class RedisBell extends Bell {
  readonly #redis: RedisConnection;
  readonly #errors: ErrorLogger;
  #closed = false;

  constructor(redis: RedisConnection, errors: ErrorLogger) {
    super();
    this.#redis = redis;
    this.#errors = errors;
    redis.on('message', (channel: string, what: string) => this.ring(channel, what));
    // Rings while the connection was away were not heard.
    redis.on('ready', () => this.ringAll());
  }

  close(): void {
    this.#closed = true;
  }

  protected override begin(channel: string): void {
    // Rings before the subscription were not heard.
    this.#tell('subscribe', channel, () => this.ring(channel, ''));
  }

  protected override end(channel: string): void {
    this.#tell('unsubscribe', channel);
  }

  #tell(what: 'subscribe' | 'unsubscribe', channel: string, done: () => void = () => undefined): void {
    if (this.#closed) return;
    this.#redis[what](channel).then(done, (error: unknown) => {
      if (!this.#closed) this.#errors.report('the bell of a lane is not heard', error, { channel });
    });
  }
}
