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
import type { JournalEntry } from '../journal.ts';

/**
 * Where a job stands that may be under way, as in the journal: no label at or beyond `intent` was sent.
 * `sent` counts the labels that are known to have arrived.
 */
export interface UnderWay extends Pick<JournalEntry, 'base' | 'odometer' | 'printed' | 'sent' | 'intent'> {
  /** So many pages of the job behind this one in the printer's row may be out too. */
  behind?: number | undefined;
  /** The job ahead in the row, by its name in the queue; its note says `behind`. Its labels are counted before these. */
  ahead?: string | undefined;
}

/**
 * What one agent leaves with a job in the queue for the agent that gets it next. It is written before the first
 * byte goes to a printer, so a job without a note has never been sent to one.
 */
export interface HandoverNote {
  agentId: string;
  /** The first label that was not printed, when that is certain; null while labels may be under way. */
  resumeAt: number | null;
  /** Left out: all labels may be under way. */
  underWay?: UnderWay | undefined;
}

/** A job as its lane delivers it, with the note of an agent. */
export interface PickedUpJob extends Delivery<HandoverNote | null> {
  /** Resolves when the queue has stored the note. */
  setNote(note: HandoverNote): Promise<void>;
}

export type JobHandler = (delivery: PickedUpJob) => Promise<HandlerResult>;

interface ConsumeOptions {
  /** A job whose payload could not be read is set aside when this has ended. `issues` hold no values. */
  onUnreadable(queueId: string, issues: string[], note: HandoverNote | null): Promise<void> | void;
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
