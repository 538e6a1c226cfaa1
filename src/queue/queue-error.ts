/** What can go wrong with the queue, in one table. Messages carry a host and a port at most, never a password. */
import { defineFaults } from '../contract/define-faults.ts';

export class QueueError extends defineFaults('QueueError', {
  /** The queue's server does not answer. What was asked for may still happen: every command may be repeated. */
  unavailable: { retrySafe: true },
  /** The server answers and refuses us: wrong password, missing permission, unusable address. */
  refused: {},
  /** An ID that the queue cannot hold. */
  'invalid-id': {},
  /** `close` has been called. */
  closed: {},
  /** The reason of an aborted delivery: the queue gave the job up, and may deliver it again. */
  'lock-lost': {},
  /** The reason of an aborted delivery: the consumer was stopped before the handler was done. */
  stopped: {},
}) {}

/** The part of a driver's error that may be logged; the rest may hold commands, and so passwords. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // An AggregateError (all addresses of a name failed) has no message of its own.
  return [code, error.message].filter((part) => part !== undefined && part !== '').join(' ') || error.name;
}
