/**
 * Which agent serves a printer, when several of one scope reach it: a lease, kept where the lane is.
 *
 *          ask                              ask, until it ends: longer
 *   free ───────▶ held by one agent's term ◀──────┐
 *     ▲               │        └──────────────────┘
 *     └───────────────┴── given back, or not asked for again in time
 *
 * It is decided by the queue's server alone, in one statement (PostgreSQL) or script (Redis), by the server's clock.
 * The agent counts its time from the moment at which it asked, which is before the server counted it, and so never
 * believes longer than the server that it holds one; clocks need not agree, only run alike.
 *
 * Whoever does not get it is remembered for a while as the rival. Without one a lease is longer: an agent that is
 * alone on its printer gets over a short absence of the queue. When a rival comes, the long one is made shorter in two
 * steps, since any answer might be lost: the holder is told, and from then on counts on the shorter one; with its next
 * question, at once, it says what it still counts on, and only then does the server let the rest go.
 */
import type { Lane } from '../contract/lane.ts';

export interface LeaseAsk {
  lane: Lane;
  /**
   * `<process>.<n>`, a new one each time that a process begins to serve a printer, so that a late message is told
   * from a new one.
   */
  term: string;
  /**
   * The process has not served the printer yet: it may take the place of an earlier process of the same agent, which
   * was killed. Of two that live (a copied directory) the newer one gets the printer, and keeps it.
   */
  fresh: boolean;
  /**
   * What the agent still counts on of what it was granted before, ms from when it asks: the lease is made as short as
   * that, or as what is granted now, but not by a question that gets there late. `question`: which one of its process's
   * this is, from 1. Left out: all of it.
   */
  keeps?: { ms: number; question: number } | undefined;
  /** The agent reaches the printer. One that does not gets no lease while a rival waits that does. */
  reaches: boolean;
}

export interface LeaseAnswer {
  lane: Lane;
  /** How long the lease is this agent's, ms, counted from before it asked; null: another agent has it. */
  granted: number | null;
  /** Another agent, which reaches the printer, waits for it. */
  wanted: boolean;
  /** Where it is granted: jobs of the lane, by their names in the queue, that are not to be printed any more. */
  canceled: string[];
  /** Where it is granted: a person holds the lane, and no further job is to be taken. */
  held: boolean;
}

/** As a lane's store has it, which knows marks alone: names of jobs, and `HELD`. */
export type StoredAnswer = Omit<LeaseAnswer, 'held'>;
/** No job is called so: the mark of a lane that a person holds. Agents that do not know it look for such a job in vain. */
export const HELD = 'held';

/** Length of a lease, ms, while somebody else wants it, and while nobody does. */
export interface LeaseLength {
  contended: number;
  alone: number;
}

/** What `postgres-lease.ts` and `redis-lease.ts` each provide. */
export interface LeaseStore {
  /** Lanes that the server does not let us ask about are left out. */
  ask(agentId: string, asks: readonly LeaseAsk[], length: LeaseLength): Promise<StoredAnswer[]>;
  /** Ends this term at once; another term stays as it is. */
  giveBack(agentId: string, lane: Lane, term: string): Promise<void>;
  /** Names a job, or `HELD`, in every answer that grants the lane's lease, or does no more. */
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
