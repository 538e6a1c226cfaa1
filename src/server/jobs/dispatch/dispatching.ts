/** How accepted jobs come into their lanes: on PostgreSQL with their acceptance (`row-lanes.ts`), else by a dispatcher. */
import type { Lane } from '../../../contract/lane.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';

export interface Dispatching {
  /** The statement that accepts a job puts it into its lane. */
  readonly inLanes: boolean;
  start(): void;
  /** Resolves once nothing is being added any more. What was not added yet is the next sweep's. */
  stop(): Promise<void>;
  /** A job whose transaction has committed. */
  accept(job: QueuedJob): void;
  /** Adds what is not in this lane yet and has to be, soon: jobs that go on, were moved, or were left by a crash. */
  dispatch(lane: Lane): void;
}
