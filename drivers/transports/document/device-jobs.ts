/**
 * Remembers what happened to this process's jobs on devices that cannot be asked for them afterwards. Kept in
 * memory, apart from the connection, for the last jobs only: after a crash nothing is known.
 */
import { LRUCache } from 'lru-cache';
import type { PrinterJobState } from './document.ts';

/**
 * `open`: created, with nothing of its document sent. `sending`: part of it may have been sent, also where
 * sending was cut short. `delivered`: all of it was taken. `given up`: ended before any of it was sent.
 */
type Stage = 'open' | 'sending' | 'delivered' | 'canceled' | 'given up';

const MOST_JOBS = 1_000;
const PHASES = { open: 'held', delivered: 'completed', canceled: 'canceled', 'given up': 'aborted' } as const;

export class DeviceJobs {
  readonly #outcomes = new LRUCache<string, Stage>({ max: MOST_JOBS });

  set(job: string, outcome: Stage): void {
    this.#outcomes.set(job, outcome);
  }

  get(job: string): Stage | undefined {
    return this.#outcomes.get(job);
  }

  /**
   * The job's state, derived from its outcome; null: unknown.
   * @param connected whether its document can still be sent
   */
  state(job: string, name: string, connected: boolean): PrinterJobState | null {
    const outcome = this.get(job);
    if (outcome === undefined || outcome === 'sending') return null;
    const now = outcome === 'open' && !connected ? 'given up' : outcome;
    return {
      phase: PHASES[now],
      reasons: [],
      name,
      impressions: null,
      incomplete: now === 'open',
      began: now === 'open' || now === 'given up' ? false : null,
    };
  }
}
