/** What is used of BullMQ, which has the lanes in Redis. */

import { setTimeout as wait } from 'node:timers/promises';
import {
  type Job,
  type Processor,
  type Queue,
  type QueueOptions,
  Worker,
  type WorkerListener,
  type WorkerOptions,
} from 'bullmq';
import { within } from './queue-error.ts';

/** What BullMQ stores of a job: the payload is one string. */
export interface Stored {
  json: string;
}

export type StoredQueue = Pick<
  Queue<Stored, null, string>,
  'add' | 'addBulk' | 'close' | 'getJob' | 'getJobCountByTypes' | 'getJobState' | 'remove' | 'waitUntilReady'
> & { on(event: 'error', listener: (error: Error) => void): unknown };
export type StoredJob = Job<Stored, null, string>;
type Listener = WorkerListener<Stored, null, string>;
export type StoredWorker = Pick<
  Worker<Stored, null, string>,
  'isPaused' | 'pause' | 'resume' | 'run' | 'waitUntilReady'
> & {
  takeBackStalled(): Promise<void>;
  end(force: boolean): Promise<void>;
  on<E extends 'completed' | 'error' | 'lockRenewalFailed'>(event: E, listener: Listener[E]): unknown;
};
export type WorkerTiming = Pick<WorkerOptions, 'lockDuration' | 'stalledInterval'>;

export interface Note {
  queue: string;
  jobId: string;
  /** Of the lock under which the job is handled. */
  token: string;
  note: object;
  /** How long the lock is renewed, ms. */
  lockMs: number;
}

export interface BullQueues {
  queue(name: string): StoredQueue;
  /**
   * Stores a job's note, as its progress, and renews its lock. False: the lock is another's, and nothing was
   * stored, however late the command gets there; BullMQ's own `updateProgress` does not look.
   */
  setNote(note: Note): Promise<boolean>;
  /** Made stopped: attach listeners, then `run`. */
  worker(name: string, process: Processor<Stored, null, string>, timing: WorkerTiming): StoredWorker;
  /** How often its connection broke: an answer with a job in it may have been lost each time. */
  breaks(): number;
  /** False: fail at once instead of waiting for the server. */
  answers(): boolean;
}

/** How long a worker has to close, ms. */
export const CLOSE_MS = 5_000;
/** How soon a worker asks again after a failure, ms. */
export const RETRY_MS = 1_000;

export const QUEUE_OPTIONS = {
  // Nobody reads the event stream; by default Redis keeps 456 KB of it for each queue.
  streams: { events: { maxLen: 100 } },
} as const satisfies Partial<QueueOptions>;

export const WORKER_OPTIONS = {
  autorun: false,
  concurrency: 1,
  // A job comes back as often as its agent dies; what becomes of it is the agent's journal to say.
  maxStalledCount: 1_000_000,
  runRetryDelay: RETRY_MS,
} as const satisfies Partial<WorkerOptions>;

/**
 * A worker that does not spin. When asking for a job fails, BullMQ's own asks again in the same moment (over
 * 100,000 times in 2 s with a Redis that is loading or out of disk).
 */
export class PacedWorker extends Worker<Stored, null, string> {
  /** Looks once for jobs whose lock has ended, and puts them back. BullMQ's own look is skipped by a paused worker. */
  async takeBackStalled(): Promise<void> {
    await this.backend.moveStalledJobsToWait();
  }

  /**
   * Closes. What is not closed after 5 s is cut off: with its server away BullMQ's own `close` may wait for ever,
   * while its connection is tried again and again, and keeps the process alive.
   * @throws QueueError `unavailable` when it was cut off
   */
  async end(force: boolean): Promise<void> {
    try {
      await within(CLOSE_MS, 'closing', this.close(force));
    } catch (error) {
      await this.lockManager.close();
      await within(CLOSE_MS, 'closing', this.backend.close(true));
      throw error;
    }
  }

  protected override async moveToActive(token: string, name?: string): Promise<StoredJob> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      if (!this.closing) await wait(RETRY_MS);
      throw error;
    }
  }
}
