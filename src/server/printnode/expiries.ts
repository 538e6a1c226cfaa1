/**
 * Cancels jobs that came by PrintNode's interface, were to wait so long only, and of which nothing was sent yet. Each is looked
 * at once: one whose labels come out at its time goes on.
 */
import { z } from 'zod';
import { statesIn } from '../../contract/job-life.ts';
import type { Cancellations } from '../jobs/outcome/cancellations.ts';
import { ProblemError } from '../problems.ts';
import { inSql, type Pool, rowsOf } from '../store/pool.ts';

/** Jobs that one sweep looks at. */
const LOOKED_AT = 100;

const due = z.object({ job_id: z.string(), account: z.string(), waits: z.boolean() });

export class Expiries {
  readonly #pool: Pool;
  readonly #cancellations: Pick<Cancellations, 'cancel'>;
  readonly #changed: (jobs: string[]) => void;

  constructor(parts: {
    pool: Pool;
    cancellations: Pick<Cancellations, 'cancel'>;
    changed: (jobs: string[]) => void;
  }) {
    this.#pool = parts.pool;
    this.#cancellations = parts.cancellations;
    this.#changed = parts.changed;
  }

  async sweep(): Promise<void> {
    const jobs = await rowsOf(
      this.#pool,
      due,
      `SELECT p.job_id, j.account, j.status IN (${inSql(statesIn('under way'))}) AND j.sent = 0 AS waits
       FROM platen.printnode_jobs p JOIN platen.jobs j ON j.id = p.job_id
       WHERE p.settled IS NULL AND p.expires_at <= now() ORDER BY p.expires_at LIMIT ${LOOKED_AT}`,
    );
    for (const { job_id: id, account, waits } of jobs) {
      const expired = waits && (await this.#cancel(id, account));
      await this.#pool.query('UPDATE platen.printnode_jobs SET settled = $2 WHERE job_id = $1', [
        id,
        expired ? 'expired' : 'over',
      ]);
      if (expired) this.#changed([id]);
    }
  }

  /** @returns whether it was canceled, or its agent was asked to */
  async #cancel(id: string, account: string): Promise<boolean> {
    try {
      await this.#cancellations.cancel(id, false, { who: account, why: 'expireAfter is over' });
      return true;
    } catch (error) {
      // It has ended just now.
      if (!(error instanceof ProblemError)) throw error;
      return false;
    }
  }
}
