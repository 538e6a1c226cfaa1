/** Accepts a job that the service itself has made for a person, with whatever else is written with it. */
import { ProblemError } from '../../problems.ts';
import { type Also, type Pool, type Queryable, transaction } from '../../store/pool.ts';
import { tenantNotFound } from '../../tenant-not-found.ts';
import { quotaExceeded } from '../../tenants/tenants.ts';
import type { Dispatching } from '../dispatch/dispatching.ts';
import { acceptIn, type Candidate, payloadOf } from './acceptance.ts';
import type { Backlog } from './backlog.ts';
import { keyReused } from './idempotency.ts';

export type AloneParts = {
  pool: Pool;
  dispatcher: Pick<Dispatching, 'accept' | 'inLanes'>;
  backlog: Backlog;
};

/**
 * @param before called first in the transaction that accepts the job
 * @param also called with the job's ID in that transaction, unless it is a replay
 * @throws ProblemError `too-many-waiting`, `quota-exceeded`, `idempotency-key-reused`, `tenant-not-found`, `enqueue-failed`
 */
export async function acceptAlone(
  { pool, dispatcher, backlog }: AloneParts,
  candidate: Omit<Candidate, 'ownAccount' | 'answer'>,
  { before, also }: { before?: (db: Queryable) => Promise<unknown>; also?: Also<string> | undefined },
): Promise<{ jobId: string; replayed: boolean }> {
  const { job, checked } = candidate;
  const accepted = await backlog.admit({ ...job, test: checked.test }, payloadOf(job).length, () =>
    transaction(pool, async (client) => {
      await before?.(client);
      const asked = { ...candidate, ownAccount: false, answer: job.jobId };
      const outcome = await acceptIn(client, dispatcher.inLanes, asked);
      if (outcome.outcome === 'accepted') await also?.(client, job.jobId);
      return outcome;
    }),
  );
  switch (accepted.outcome) {
    case 'accepted':
      dispatcher.accept?.(job);
      return { jobId: job.jobId, replayed: false };
    case 'replayed':
      return { jobId: accepted.jobId, replayed: true };
    case 'reused':
      throw keyReused();
    case 'quota':
      throw quotaExceeded(accepted, checked.labels);
    case 'tenant-gone':
      throw tenantNotFound(job.tenantId);
    default:
      throw new ProblemError('enqueue-failed', 'the job was not queued; send it again');
  }
}
