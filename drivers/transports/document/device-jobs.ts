/**
 * Remembers what happened to this process's jobs on devices that cannot be asked about them later. This is kept only in memory,
 * apart from the connection, and only for the last jobs. So after a crash nothing is known.
 */
import { LRUCache } from 'lru-cache';
import type { PrinterJobState } from './document.ts';

/**
 * `open`: the job was created, and nothing of its document was sent. `sending`: part of the document may have been sent; this
 * stays if sending was cut short. `delivered`: the device took the whole document. `given up`: the job ended before anything of
 * the document was sent.
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
