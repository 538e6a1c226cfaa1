/** The two ports to a store of lanes, the agent's and the service's: `postgres/lanes.ts` and `redis/lanes.ts` implement both. */
import type { Lane, Scope } from '../contract/lane.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { Report } from '../contract/report.ts';
import type { BellHandler } from './bell.ts';
import type { LeaseStore } from './lease.ts';
import type { NotificationConnection } from './postgres/notification-connection.ts';
import type { ReportStore } from './report-batch.ts';
import type { PublishedReport } from './report-name.ts';
import type { StopLimits } from './stop-limits.ts';
import type { LaneTurns } from './turns.ts';

/** A job as its lane knows it. */
export interface LaneJob {
  state: 'waiting' | 'active' | 'ended';
  /** How often it was given to a consumer. */
  deliveries: number;
  /** A consumer has left a note with the job. */
  begun: boolean;
  /** How long ago the job ended, ms; null: it has not ended, or the time is not known. */
  endedMs: number | null;
}

export interface AddedJob {
  queueId: string;
  json: string;
  /** The template, if it is stored once for many jobs and not in `json`; undefined: `json` contains it. */
  template: QueuedJob['template'] | undefined;
}

/** All that an agent knows of a store. */
export interface AgentLanes {
  readonly leases: Pick<LeaseStore, 'ask' | 'giveBack'>;
  /**
   * Resolves when the report is as durable as the server makes it.
   * @returns its place, by which lost reports are found; null: the server loses no report without its job, or does not tell places
   */
  publish(report: Report, of: Scope): Promise<PublishedReport | null>;
  /** The turns of one consumer of the lane, until `over` is aborted. What has not been sent by then may be dropped. */
  turnsOf(lane: Lane, over: AbortSignal): LaneTurns;
  /** Calls `ring` when the lane may have something to take, or its marks may have changed. Returns a function that stops it. */
  listen(lane: Lane, ring: BellHandler): () => void;
  /** False: the server is away, and a command is to fail at once instead of waiting for it. */
  answers(): boolean;
  /** Resolves when the server has answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** All that the service knows of a store. */
export interface ServiceLanes {
  readonly kind: 'postgres' | 'redis';
  /** The notifications of the database that the lanes are in; undefined on Redis. */
  readonly notifications?: NotificationConnection;
  readonly leases: Pick<LeaseStore, 'mark' | 'holders'>;
  readonly reports: ReportStore;
  /** Adds jobs to one lane, in this order; a known job stays as it is. Adds no more once `givenUp` aborts. */
  add(lane: Lane, jobs: readonly AddedJob[], givenUp: AbortSignal): Promise<void>;
  /** null: the lane does not know the job, or the template that the job needs is gone. */
  look(lane: Lane, queueId: string): Promise<LaneJob | null>;
  /** Takes out a job that waits. */
  remove(lane: Lane, queueId: string): Promise<boolean>;
  /** Takes out a job that waits, or whose consumer is gone. */
  takeAway(lane: Lane, queueId: string): Promise<boolean>;
}

export type LaneStore = AgentLanes & ServiceLanes;

/** A job in a handler's hands. @template Note what is known of the note */
export interface Delivery<Note = unknown> {
  job: QueuedJob;
  /** How often the job has been handed out, this time included. Above 1, look up how far the delivery before got. */
  delivery: number;
  /** What an earlier delivery's handler left with the job by `setNote`; undefined: nothing. */
  note: Note;
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
  /** Called by the handler each time before bytes of the job go to a printer. */
  sends?: () => void;
  /** Aborted, with a QueueError `lock-lost` or `stopped`, when the job is no longer this consumer's alone. */
  signal: AbortSignal;
}

/**
 * `hand-back`: the job goes to the front of its lane, to be delivered again. `not-mine`: the job is in the wrong lane
 * and is taken out of it; the service adds it to the right one.
 */
export type DeliveryOutcome = 'done' | 'hand-back' | 'not-mine';
export type LaneHandler = (delivery: Delivery) => Promise<DeliveryOutcome>;

export interface Consumer {
  /** Takes no further job; what is being handled goes on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /**
   * Takes no further job, waits `timeoutMs` (30 s) for the handlers, aborts their signals, waits `graceMs` (5 s) more,
   * and leaves. A job whose handler is still not done then is delivered again elsewhere. Idempotent.
   */
  stop(options?: StopLimits): Promise<void>;
}

/** How long an ended job is known, ms: longer than callers repeat a request (24 h). */
export const KNOWN_MS = 48 * 3_600_000;
