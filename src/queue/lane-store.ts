/** Where lanes are kept: what `postgres.ts` and `redis.ts` each provide. Every call names the lane, and with it the scope. */
import type { Lane } from '../contract/lane.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { LeaseStore } from './lease.ts';
import type { Parsed } from './payload.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import type { ReportPlan, ReportStore } from './report-batch.ts';
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
  /** Left out of the JSON, to be stored once for many jobs; undefined: it is in there. */
  template: QueuedJob['template'] | undefined;
}

export interface LaneStore {
  readonly kind: 'postgres' | 'redis';
  readonly leases: LeaseStore;
  readonly reports: ReportStore;
  /** Adds jobs of one lane, in this order; one that is known there stays as it is. None after `givenUp` is aborted. */
  add(lane: Lane, jobs: readonly AddedJob[], givenUp: AbortSignal): Promise<void>;
  /** null: not known, or without the template that it needs. */
  look(lane: Lane, queueId: string): Promise<JobInQueue | null>;
  /** Takes out a job that waits. */
  remove(lane: Lane, queueId: string): Promise<boolean>;
  /** Takes out a job that waits, or whose consumer is gone. */
  takeAway(lane: Lane, queueId: string): Promise<boolean>;
  /** Jobs that have not ended. */
  depth(lane: Lane): Promise<number>;
  /** Made stopped. */
  consumer(plan: ConsumerPlan): StartedConsumer;
  /** Reports that a version before has left in a queue of their own. */
  oldReports(plan: ReportPlan): (Pick<Consumer, 'stop'> & { start(): Promise<void> }) | null;
  /** False: fail at once instead of waiting for the server. */
  answers(): boolean;
  /** Resolves when the server has answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Delivery<T> {
  job: T;
  /** Which time the lane hands this job out, from 1. */
  delivery: number;
  /** It was handed out before: look up what became of it then. */
  redelivered: boolean;
  /** What an earlier delivery's handler left with the job by `setNote`; undefined: nothing. */
  note: unknown;
  /** It waited in the lane when it was asked for: more may. */
  waited: boolean;
  /**
   * Stores a note with the job, for its next delivery, wherever that is. Once it resolves, the note is durable, and the
   * job has been this consumer's alone since before it was there.
   * @throws QueueError `unavailable`; `lock-lost`, when somebody else has the job: `signal` is aborted then
   */
  setNote(note: object): Promise<void>;
  /** The lane's next job may come while this one is still in hand: its handler runs beside this one's. */
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
  /** @throws QueueError `unavailable`: call again later, with a new consumer */
  start(): Promise<void>;
  /** The lane's lease is another's. */
  lose(): void;
}

export interface ConsumerPlan {
  lane: Lane;
  /** Of the lane's lease, under which its jobs are taken. */
  term: string;
  logger: QueueLogger;
  errors: ErrorLog;
  /** @param template where it is not in the JSON */
  parse(json: string, template?: QueuedJob['template']): Parsed<QueuedJob>;
  handle: LaneHandler;
  onUnreadable(queueId: string, issues: string[], note: unknown): Promise<void> | void;
  /** Called once when it has stopped. */
  onStopped(): void;
}

/** How soon a lane goes on after its handler has thrown, ms. */
export const HANDLER_BACKOFF = { first: 250, most: 30_000 };
/** How long a command of a consumer may take, ms. */
export const COMMAND_MS = 5_000;
