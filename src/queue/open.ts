/** Opens the queues where the configuration says that they are. */
import type { AddedPrinter } from '../contract/added-printer.ts';
import { AgentQueue } from './agent-queue.ts';
import type { JoiningAgent, RetryLimits } from './gateway/connection.ts';
import type { MoveHandler } from './gateway/lanes.ts';
import { QueueError } from './queue-error.ts';
import { ErrorLogger, type QueueLogger } from './queue-log.ts';
import { Queues, type QueuesOptions } from './queues.ts';

/**
 * Connects, to Redis or to PostgreSQL.
 * @throws QueueError `unavailable` after `startTimeoutMs`, `refused`
 */
export async function openQueues(options: QueuesOptions): Promise<Queues> {
  const errors = new ErrorLogger(options.logger);
  const { startTimeoutMs = 10_000, signal } = options;
  signal?.throwIfAborted();
  if (options.redisUrl !== undefined) {
    const { redisUrl: url, logger, prefix = 'platen' } = options;
    // Loaded only where it is used: the client of the other store would be a third of what an agent loads when it starts.
    const { openRedis } = await import('./redis/open.ts');
    return new Queues(
      await openRedis({ url, prefix, logger, errors, startTimeoutMs, signal }),
      options,
      errors,
    );
  }
  if (options.database === undefined)
    throw new QueueError('refused', 'neither a Redis nor a database is given');
  const { database } = options;
  const { openPostgres } = await import('./postgres/lanes.ts');
  return new Queues(await openPostgres({ database, errors, startTimeoutMs, signal }), options, errors);
}

/**
 * The queues of an agent at another site. The agent tries to join its service until the queues are closed, and they answer once
 * it has joined.
 */
export async function openGateway(options: {
  agent: JoiningAgent;
  logger: QueueLogger;
  retry?: Partial<RetryLimits>;
  onJoined?: () => void;
  onPrinters?: (printers: readonly AddedPrinter[]) => void;
  moves?: MoveHandler;
}): Promise<AgentQueue> {
  const errors = new ErrorLogger(options.logger);
  const { GatewayLanes } = await import('./gateway/lanes.ts');
  return new AgentQueue(new GatewayLanes({ ...options, errors }), options, errors);
}
