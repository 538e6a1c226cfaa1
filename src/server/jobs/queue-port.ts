/**
 * What the service needs of the queue. `src/queue/` provides it; nothing here knows what it is made of.
 */
import type { Lane } from '../../contract/lane.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import type { Report } from '../../contract/report.ts';

export interface JobQueue {
  /** Adds jobs to their lanes, in this order. A job that is there already, in any state, stays as it is. */
  enqueueMany(jobs: readonly QueuedJob[]): Promise<void>;
  /** Takes a waiting job out. False: it was not waiting (being printed, done, or unknown). */
  remove(lane: Lane, queueId: string): Promise<boolean>;
  /** Whether the queue knows the job: waiting, being printed, or finished within the last 48 h. */
  has(lane: Lane, queueId: string): Promise<boolean>;
  /** Whether an agent has had a job that is in the queue. */
  handedOut(lane: Lane, queueId: string): Promise<boolean>;
  /** By lane, the agent that serves it at this moment; one that none serves is left out. */
  leaseHolders(lanes: readonly Lane[]): Promise<Map<Lane, string>>;
  /**
   * Hands over reports one after the other until the consumer is stopped. A report whose handler throws is
   * delivered again. Rejects when the queue cannot be reached: to be called again.
   */
  consumeReports(handler: (report: Report) => Promise<void>): Promise<ReportConsumer>;
}

export interface ReportConsumer {
  /** Waits for the report in hand, at most so long (ms). */
  stop(options?: { timeoutMs?: number }): Promise<void>;
}
