/**
 * Agents say again and again how they are, whether or not anything has changed. A thousand agents would cause more than a
 * hundred commits a second. So the reports that say nothing new wait for each other, and share a commit.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { AgentStateReport } from '../../contract/report.ts';

/** How long the first one waits, ms. */
const GATHER = 1_000;

export class Heartbeats {
  /** By session: the hash of what it has said last. */
  readonly #last = new WeakMap<object, string>();
  #next: Promise<void> | undefined;

  /** Resolves when the report may go, in one tick for all that have waited for each other. */
  async gather(session: object, { at: _at, counts: _counts, ...state }: AgentStateReport): Promise<void> {
    const hash = createHash('sha256').update(JSON.stringify(state)).digest('base64');
    if (hash === this.#last.get(session)) await this.#beat();
    this.#last.set(session, hash);
  }

  #beat(): Promise<void> {
    this.#next ??= wait(GATHER, undefined, { ref: false }).then(() => {
      this.#next = undefined;
    });
    return this.#next;
  }
}
