/**
 * Where an agent's jobs come from and its reports go, whatever lies behind it: the process's own queue
 * connection, Redis, or the service's gateway.
 */
import type { Lane, Scope } from '../../contract/lane.ts';
import type { Report } from '../../contract/report.ts';
import type {
  Consumer,
  Delivery,
  HandlerResult,
  LeaseAnswer,
  LeaseAsk,
  LeaseLength,
  ReportPlace,
} from '../../queue/index.ts';
import type { Note } from './note.ts';

/** A job as its lane delivers it, with the note of an agent. */
export interface PickedUpJob extends Delivery<Note | null> {
  setNote(note: Note): Promise<void>;
}

export type JobHandler = (delivery: PickedUpJob) => Promise<HandlerResult>;

interface ConsumeOptions {
  /** A job whose payload could not be read is set aside when this has ended. `issues` hold no values. */
  onUnreadable(queueId: string, issues: string[], note: Note | null): Promise<void> | void;
  /**
   * A person has canceled a job of the lane, or holds the printer: the next answer about its lease says so.
   * @param mark the job, by its name in the queue; null: it may be any
   */
  onMarked(mark: string | null): void;
}

export interface JobSource {
  /** Asks for leases of printers, or for longer ones. Rejects when the answer is not known: ask again. */
  askLeases(agentId: string, asks: readonly LeaseAsk[], length: LeaseLength): Promise<LeaseAnswer[]>;
  /** Lets another agent have the printer at once. */
  giveLeaseBack(agentId: string, lane: Lane, term: string): Promise<void>;
  /**
   * Delivers the jobs of one lane in their order, one at a time unless a job lets the next one `follow`, for
   * as long as the lane's lease is of this term. Rejects when the lane cannot be served yet: call again.
   */
  consume(lane: Lane, term: string, handler: JobHandler, options: ConsumeOptions): Promise<Consumer>;
  /**
   * Resolves when the report is stored durably, with its place among the others; rejects when it may not be stored.
   * `scope`: whose the agent's printers are.
   */
  publish(report: Report, scope: Scope): Promise<ReportPlace | null>;
}
