/** How accepted jobs come into their lanes: on PostgreSQL with their acceptance (`row-lanes.ts`), else by a dispatcher. */
import type { Lane } from '../../../contract/lane.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';

export interface Dispatching {
  /** Whether the statement that accepts a job also puts it into its lane. */
  readonly inLanes: boolean;
  start(): void;
  /** Resolves once nothing is being added any more. A later sweep adds what was not added yet. */
  stop(): Promise<void>;
  /** To be called with each accepted job, once its transaction has committed; not there if the job is in its lane by then. */
  accept?(job: QueuedJob): void;
  /** Soon adds the lane's jobs that are not in it yet: they go on, were moved, or were left by a crash. */
  dispatch(lane: Lane): void;
}
