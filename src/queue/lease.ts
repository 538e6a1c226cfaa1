/**
 * A lease decides which of several agents of one scope serves a printer. It is kept where the lane is.
 *
 *          asked for                 asked for again in time: extended
 *   free ───────▶ held by one agent's term ◀──────┐
 *     ▲               │        └──────────────────┘
 *     └───────────────┴── given back, or not asked for again in time
 *
 * The queue's server alone decides it, in one statement (PostgreSQL) or script (Redis), by the server's
 * clock. The agent counts its time from the moment at which it asked, which is before the server counted it,
 * so an agent never believes for longer than the server that it holds a lease. The clocks need not agree,
 * only run at the same speed.
 *
 * An agent that asks and does not get the lease is remembered for a while as the rival. Without a rival, a
 * lease is longer: an agent that is alone on its printer survives a short absence of the queue. When a rival
 * comes, the long lease is shortened in two steps, because any answer might be lost. First the holder is
 * told, and from then on counts on the shorter lease only. With its next question, which it asks at once, it
 * says how much it still counts on, and only then does the server shorten the lease.
 */
import type { Lane } from '../contract/lane.ts';

export interface LeaseQuestion {
  lane: Lane;
  /**
   * `<process>.<n>`, a new one each time that a process begins to serve a printer, so that a late message of
   * an earlier term can be recognised.
   */
  term: string;
  /**
   * The process has not served the printer yet: it may take over from an earlier process of the same agent
   * that was killed. If both live (a copied directory), the newer process gets the printer, and keeps it.
   */
  fresh: boolean;
  /**
   * How much of an earlier grant the agent still counts on, ms from when it asks. The server shortens the lease to this, or to
   * what it grants now if that is longer; it does not if a later question has arrived first. It never makes the lease longer by
   * this: whoever has stolen an agent would have the printer for as long as it says. `question`: the number of this
   * question among those of its process, from 1. Left out: the agent counts on all that it was granted.
   */
  keeps?: { ms: number; question: number } | undefined;
  /** The agent reaches the printer. An agent that does not reach it gets no free lease while a rival waits that does. */
  reaches: boolean;
}

export interface LeaseAnswer {
  lane: Lane;
  /** How long the lease is this agent's, ms, counted from before it asked; null: another agent has it. */
  granted: number | null;
  /** Another agent, which reaches the printer, waits for the lease. */
  wanted: boolean;
  /** If granted: jobs of the lane, by their names in the queue, that are not to be printed any more. */
  canceled: string[];
  /** If granted: a person holds the lane, and no further job is to be taken. */
  held: boolean;
}

/** The answer as a store gives it: there `HELD` is one of the marks, beside the names of canceled jobs. */
export type StoredAnswer = Omit<LeaseAnswer, 'held'>;
/** The mark of a lane that a person holds. No job has this name. */
export const HELD = 'held';
/** What is rung when any mark of a lane may have changed. */
export const MARKED = 'marked';

/**
 * What is rung when one mark has changed. It names the mark, so that the lane's agent knows of a canceled job before it asks
 * about its lease.
 */
export function ringOf(mark: string): string {
  return `${MARKED}/${mark}`;
}

/** The mark that a ring names; null: any mark may have changed; undefined: the ring says that a job waits. */
export function markIn(ring: string): string | null | undefined {
  if (ring === MARKED) return null;
  return ring.startsWith(ringOf('')) ? ring.slice(ringOf('').length) : undefined;
}

/** Whether the ring is about marks. */
export function isMark(ring: string): boolean {
  return markIn(ring) !== undefined;
}

/** Length of a lease, ms, while another agent wants it (`contended`), and while none does (`alone`). */
export interface LeaseLimits {
  contended: number;
  alone: number;
}

/** The port that `postgres/lease.ts` and `redis/lease.ts` implement. */
export interface LeaseStore {
  /** Lanes that the server does not let us ask about are left out. */
  ask(agentId: string, asks: readonly LeaseQuestion[], length: LeaseLimits): Promise<StoredAnswer[]>;
  /** Ends this term at once; another term stays as it is. */
  giveBack(agentId: string, lane: Lane, term: string): Promise<void>;
  /** Sets or removes a mark, a job's name or `HELD`, and rings for it. An answer that grants the lane's lease lists its marks. */
  mark(lane: Lane, name: string, on: boolean): Promise<void>;
  /** The agent that holds each lease; free ones are left out. */
  holders(lanes: readonly Lane[]): Promise<Map<Lane, string>>;
}

export function answerOf({ canceled, ...answer }: StoredAnswer): LeaseAnswer {
  return {
    ...answer,
    canceled: canceled.filter((name) => name !== HELD),
    held: canceled.includes(HELD),
  };
}
