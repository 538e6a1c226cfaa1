/**
 * Hears that there is something to take, for all lanes of a process: each has a channel of its own, so that an ACL can keep
 * tenants apart. It is on the connection that commands are on too (RESP3), or in a cluster on the one that the client has
 * for it. A ring may get lost: the answers about leases say which lanes have something.
 */

import type { ErrorLog } from './queue-log.ts';
import type { Connection } from './redis-script.ts';

export class RedisBell {
  readonly #redis: Connection;
  readonly #errors: ErrorLog;
  readonly #listeners = new Map<string, Set<() => void>>();
  #closed = false;

  constructor(redis: Connection, errors: ErrorLog) {
    this.#redis = redis;
    this.#errors = errors;
    redis.on('message', (channel: string) => this.ring(channel));
    // It rang unheard while the connection was away.
    redis.on('ready', () => {
      for (const channel of this.#listeners.keys()) this.ring(channel);
    });
  }

  /** Calls `ring` when somebody rings there, or may have. Returns what ends that. */
  listen(channel: string, ring: () => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    listeners.add(ring);
    this.#listeners.set(channel, listeners);
    if (listeners.size === 1) this.#tell('subscribe', channel, ring);
    return () => {
      if (!listeners.delete(ring) || listeners.size > 0) return;
      this.#listeners.delete(channel);
      this.#tell('unsubscribe', channel);
    };
  }

  ring(channel: string): void {
    for (const ring of this.#listeners.get(channel) ?? []) ring();
  }

  close(): void {
    this.#closed = true;
  }

  #tell(what: 'subscribe' | 'unsubscribe', channel: string, done: () => void = () => undefined): void {
    if (this.#closed) return;
    // What came before it was heard.
    this.#redis[what](channel).then(done, (error: unknown) => {
      if (!this.#closed) this.#errors.report('the bell of a lane is not heard', error, { channel });
    });
  }
}
