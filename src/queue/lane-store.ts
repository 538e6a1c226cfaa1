/** The port to a store of lanes, which `postgres/lanes.ts` and `redis/lanes.ts` implement. A lane names its scope. */
import type { Lane } from '../contract/lane.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { LeaseStore } from './lease.ts';
import type { Parsed } from './payload.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import type { ReportStore } from './report-batch.ts';
import type { StopOptions } from './stop-options.ts';

/** A job as its lane knows it. */
export interface JobInQueue {
  state: 'waiting' | 'active' | 'ended';
  /** How often it was given to a consumer. */
  deliveries: number;
  /** A consumer has left a note with it. */
  begun: boolean;
  /** How long ago it ended, ms; null: it has not, or that is not known. */
  endedMs: number | null;
}

export interface AddedJob {
  queueId: string;
  json: string;
  /** The template, if it is stored once for many jobs and not in `json`; undefined: `json` contains it. */
  template: QueuedJob['template'] | undefined;
}

export interface LaneStore {
  readonly kind: 'postgres' | 'redis';
  readonly leases: LeaseStore;
  readonly reports: ReportStore;
  /** Adds jobs to one lane, in this order; a known job stays as it is. Adds none once `givenUp` aborts. */
  add(lane: Lane, jobs: readonly AddedJob[], givenUp: AbortSignal): Promise<void>;
  /** null: the lane does not know the job, or the template that the job needs is gone. */
  look(lane: Lane, queueId: string): Promise<JobInQueue | null>;
  /** Takes out a job that waits. */
  remove(lane: Lane, queueId: string): Promise<boolean>;
  /** Takes out a job that waits, or whose consumer is gone. */
  takeAway(lane: Lane, queueId: string): Promise<boolean>;
  /** Jobs that have not ended. */
  depth(lane: Lane): Promise<number>;
  /** The consumer that it returns has not started. */
  consumer(plan: ConsumerPlan): StartedConsumer;
  /** False: the server is away, and a command is to fail at once instead of waiting for it. */
  answers(): boolean;
  /** Resolves when the server has answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Delivery<T> {
  job: T;
  /** Number of this delivery of the job, from 1; of a later one: look up how far the one before got. */
  delivery: number;
  /** What an earlier delivery's handler left with the job by `setNote`; undefined: nothing. */
  note: unknown;
  /** This job was waiting when the consumer asked for it, so more jobs may wait behind it. */
  waited: boolean;
  /**
   * Stores a note with the job for its next delivery, wherever that is. Once it resolves, the note is
   * durable, and no other consumer had the job when the note was stored.
   * @throws QueueError `unavailable`; `lock-lost`, when another consumer has the job: `signal` is aborted
   *   then
   */
  setNote(note: object): Promise<void>;
  /** Lets the lane's next job come while this one is still in hand: both handlers then run side by side. */
  follow(): void;
  /** Aborted, with a QueueError `lock-lost` or `stopped`, when the job is no longer this consumer's alone. */
  signal: AbortSignal;
}

export type Outcome = 'done' | 'hand-back' | 'not-mine';
export type LaneHandler = (delivery: Delivery<QueuedJob>) => Promise<Outcome>;

export interface Consumer {
  /** Takes no further job; what is being handled goes on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  readonly paused: boolean;
  /**
   * Takes no further job, waits `timeoutMs` (30 s) for the handlers, aborts their signals, waits `graceMs` (5 s) more,
   * and leaves. A job whose handler is still not done then is delivered again elsewhere. Idempotent.
   */
  stop(options?: StopOptions): Promise<void>;
}

export interface StartedConsumer extends Consumer {
  /** @throws QueueError `unavailable`: call again later, with a new consumer; `closed`: stopped meanwhile */
  start(): Promise<void>;
  /** Another agent holds the lane's lease: aborts the deliveries in hand. */
  lose(): void;
}

export interface ConsumerPlan {
  lane: Lane;
  /** The term of the lane's lease, under which its jobs are taken. */
  term: string;
  logger: QueueLogger;
  errors: ErrorLog;
  /** @param template the job's template, where `json` does not contain it */
  parse(json: string, template?: QueuedJob['template']): Parsed<QueuedJob>;
  handle: LaneHandler;
  onUnreadable(queueId: string, issues: string[], note: unknown): Promise<void> | void;
  /** The lane's marks may have changed: the next answer about its lease has them. */
  onMarked(): void;
  /** Called once when it has stopped. */
  onStopped(): void;
}

/** How long an ended job is known, ms: longer than callers repeat a request (24 h). */
export const KNOWN_MS = 48 * 3_600_000;
/** How soon a lane goes on after its handler has thrown, ms. */
export const HANDLER_BACKOFF = { first: 250, most: 30_000 };
/** How long a command of a consumer may take, ms. */
export const COMMAND_MS = 5_000;
