/**
 * What the service asks of the queue; agents at other sites get their lanes by `AgentLanes`. `backend`: on PostgreSQL the
 * statement that accepts a job puts it into its lane.
 */
import type { Queues } from '../../../queue/index.ts';

export type JobQueue = Pick<
  Queues,
  | 'backend'
  | 'ping'
  | 'enqueue'
  | 'remove'
  | 'look'
  | 'takeAway'
  | 'markCanceled'
  | 'markHeld'
  | 'leaseHolders'
  | 'hasUnread'
  | 'consumeReports'
> &
  Partial<Pick<Queues, 'notifications'>>;
