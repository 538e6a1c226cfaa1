/**
 * Hears that lanes of this process have something to take. Each lane has a channel of its own, so that an ACL
 * can keep tenants apart. The subscriptions share the connection of the commands (RESP3), or in a cluster use
 * the client's connection for them. A ring may get lost: the answers about leases also say which lanes have a
 * job.
 */

import type { ErrorLog } from '../queue-log.ts';
import type { Connection } from './script.ts';

/** @param what rings: what was published, or null if it may have been anything */
type Listener = (what: string | null) => void;

export class RedisBell {
  readonly #redis: Connection;
  readonly #errors: ErrorLog;
  readonly #listeners = new Map<string, Set<Listener>>();
  #closed = false;

  constructor(redis: Connection, errors: ErrorLog) {
    this.#redis = redis;
    this.#errors = errors;
    redis.on('message', (channel: string, what: string) => this.ring(channel, what));
    // Rings while the connection was away were not heard.
    redis.on('ready', () => {
      for (const channel of this.#listeners.keys()) this.ring(channel, null);
    });
  }

  /** Calls `ring` when the channel is rung, or may have been. Returns a function that stops it. */
  listen(channel: string, ring: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    listeners.add(ring);
    this.#listeners.set(channel, listeners);
    if (listeners.size === 1) this.#tell('subscribe', channel, () => ring(''));
    return () => {
      if (!listeners.delete(ring) || listeners.size > 0) return;
      this.#listeners.delete(channel);
      this.#tell('unsubscribe', channel);
    };
  }

  ring(channel: string, what: string | null): void {
    for (const ring of this.#listeners.get(channel) ?? []) ring(what);
  }

  close(): void {
    this.#closed = true;
  }

  #tell(what: 'subscribe' | 'unsubscribe', channel: string, done: () => void = () => undefined): void {
    if (this.#closed) return;
    // Rings before this moment were not heard, so `done` rings once.
    this.#redis[what](channel).then(done, (error: unknown) => {
      if (!this.#closed) this.#errors.report('the bell of a lane is not heard', error, { channel });
    });
  }
}
