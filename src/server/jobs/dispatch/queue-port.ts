/**
 * The service's port to the queue. `src/queue/` implements it; the service knows nothing else of the queue.
 */
import type { Lane, Scope } from '../../../contract/lane.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import type { Report } from '../../../contract/report.ts';

export interface JobQueue {
  /** On `postgres` a job is in its lane with the statement that accepts it; elsewhere the dispatcher adds it. */
  readonly backend: 'postgres' | 'redis';
  /** Resolves when the queue's server answers; rejects within seconds when it does not. */
  ping(): Promise<void>;
  /**
   * Adds jobs to their lanes, in this order, if the lanes are not in the service's database. A job that is
   * there already, in any state, stays as it is.
   */
  enqueueMany(jobs: readonly QueuedJob[]): Promise<void>;
  /** Takes a waiting job out. False: it was not waiting (being printed, done, or unknown). */
  remove(lane: Lane, queueId: string): Promise<boolean>;
  /** What the queue knows of a job; null: nothing. */
  look(lane: Lane, queueId: string): Promise<JobInQueue | null>;
  /** Takes out a job that waits, or whose agent is gone. False: an agent has it, or it is done or unknown. */
  takeAway(lane: Lane, queueId: string): Promise<boolean>;
  /** Tells whoever serves the lane that a job is not to be printed any more, or takes that back. May be repeated. */
  markCanceled(lane: Lane, queueId: string, canceled: boolean): Promise<void>;
  /** Tells whoever serves the lane to take no further job, or takes that back. May be repeated. */
  markHeld(lane: Lane, held: boolean): Promise<void>;
  /** By lane, the agent that serves it at this moment; lanes that no agent serves are left out. */
  leaseHolders(lanes: readonly Lane[]): Promise<Map<Lane, string>>;
  /** Whether reports of an agent wait to be handled. */
  hasUnread(agentId: string, scope: Scope): Promise<boolean>;
  /**
   * Passes reports to the handler, many at once, those of one agent in order, until the consumer is stopped;
   * the same ones again if the handler throws. Rejects when the queue cannot be reached: call again.
   */
  consumeReports(handler: (batch: readonly Reported[]) => Promise<void>): Promise<ReportConsumer>;
}

interface JobInQueue {
  state: 'waiting' | 'active' | 'ended';
  /** How often it was given to an agent. */
  deliveries: number;
  /** An agent has left a note with it: some of it may have been sent. */
  begun: boolean;
  /** How long ago it ended, ms; null: it has not, or that is not known. */
  endedMs: number | null;
}

export interface Reported {
  report: Report;
  /** ms since the report was published; 0 where that is not known. */
  ageMs: number;
}

export interface ReportConsumer {
  /** Waits for the reports in hand, `timeoutMs` ms at most. */
  stop(options?: { timeoutMs?: number }): Promise<void>;
}
