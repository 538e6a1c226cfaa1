export type { Consumer, Delivery, JobInQueue, LaneHandler, Outcome } from './lane-store.ts';
export type { LeaseAnswer, LeaseAsk, LeaseLength } from './lease.ts';
export { lookAtPostgres, lookAtRedis, type ServerLook } from './look.ts';
export { openQueues } from './open.ts';
export type { Unreadable } from './payload.ts';
export { isConnectionError } from './postgres-away.ts';
export { PostgresClient, refuseLentConnections } from './postgres-client.ts';
export { QueueError } from './queue-error.ts';
export type { QueueLogger } from './queue-log.ts';
export {
  type ConsumeOptions,
  Queues,
  type QueuesOptions,
} from './queues.ts';
export type { Reported, ReportHandler } from './report-batch.ts';
export type { ReportPlace } from './report-stream.ts';
export type { StopOptions } from './stop-options.ts';
