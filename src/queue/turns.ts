/**
 * Batches what a consumer says to the server of its lanes, so that few commands are needed. A turn says all that
 * there is to say at that moment; what comes up meanwhile goes with the next turn. So a job's end and the question for
 * the next job of its lane are one round trip. `postgres/turns.ts` makes a turn for all lanes of a process,
 * `redis/turns.ts` for one lane.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Lane } from '../contract/lane.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { Report } from '../contract/report.ts';
import { QueueError } from './queue-error.ts';
import type { ErrorLogger } from './queue-log.ts';

/** One delivery of a job. What a consumer says of it counts only while the lane has this term and the job this delivery. */
export interface LaneDelivery {
  lane: Lane;
  id: string;
  delivery: number;
  term: string;
}

/** What it is that is handed out, without what comes with it. */
export function fenceOf({ lane, id, delivery, term }: LaneDelivery): LaneDelivery {
  return { lane, id, delivery, term };
}

export interface TakenJob extends LaneDelivery {
  json: string;
  /** Undefined: the payload contains the template. */
  template: QueuedJob['template'] | undefined;
  /** The payload is the service's own row of the job: its scope and printer are those of the lane. */
  ofRow: boolean;
  note: string | null;
}

interface LaneNote {
  inHand: LaneDelivery;
  /** The note's number among those of this delivery, from 1. */
  order: number;
  note: string;
}

/** Asks for a lane's first job that has not ended, other than the jobs in hand (`beside`). */
export interface JobQuestion {
  lane: Lane;
  term: string;
  beside: readonly string[];
  /** Counted up by the agent with each question under this term. A question that arrives after a later one takes nothing. */
  number: number;
}

/** All that one command says to the server. */
export interface Turn<R extends Report> {
  /** Jobs whose handling has ended. */
  ended: readonly LaneDelivery[];
  /** Jobs that go back to their place. */
  back: readonly LaneDelivery[];
  told: readonly { name: string; report: R }[];
  take: readonly JobQuestion[];
}

/** In the order of the turn's lists: whether each job was still this consumer's, and the jobs taken. */
export interface TurnAnswer {
  ended: readonly boolean[];
  back: readonly boolean[];
  taken: readonly (TakenJob | null)[];
}

/** What a store does with a turn. @template R the reports that go with it; `never`: none do, and nobody can publish one */
export interface TurnStore<R extends Report> {
  // A property, not a method: with a method, TypeScript would accept a store that takes no reports as one that does.
  readonly turn: (turn: Turn<R>) => Promise<TurnAnswer>;
  /**
   * Stores the notes in one atomic command.
   * @returns of each note, whether it is durably stored; false: another agent has the job or the lease, or a later note is
   *   there
   */
  notes(notes: readonly LaneNote[]): Promise<readonly boolean[]>;
  isAway(error: unknown): boolean;
}

/** How soon a turn is tried again, ms. */
const RETRY_MS = 1_000;
/** Most entries of each kind in one turn. */
const MOST = 500;

/** What a consumer has said, and what it is told of that. */
type Unsettled<Said, Answer> = Said & {
  settle: { resolve: (answer: Answer) => void; reject: (error: unknown) => void };
};
type Ending = Unsettled<{ inHand: LaneDelivery }, boolean>;

/** What the consumer of a lane says. */
export type LaneTurns = Pick<Turns<never>, 'ended' | 'handedBack' | 'take' | 'forget' | 'note'>;

export class Turns<R extends Report> {
  readonly #store: TurnStore<R>;
  readonly #errors: ErrorLogger;
  readonly #closed = new AbortController();
  #ended: Ending[] = [];
  #back: Ending[] = [];
  /** By lane and term: several agents of a process may want one lane. */
  readonly #asked = new Map<string, Unsettled<{ question: JobQuestion }, TakenJob | null>>();
  #told: Unsettled<{ name: string; report: R }, void>[] = [];
  #notes: Unsettled<LaneNote, boolean>[] = [];
  #turning = false;
  #noting = false;

  constructor(store: TurnStore<R>, errors: ErrorLogger) {
    this.#store = store;
    this.#errors = errors;
  }

  /**
   * The job has ended. The server is told until it answers. False: the job was no longer this consumer's, or `close` was called
   * first.
   */
  ended(inHand: LaneDelivery): Promise<boolean> {
    return this.#say(this.#ended, inHand);
  }

  /** The job goes back to its place in the lane. As `ended`. */
  handedBack(inHand: LaneDelivery): Promise<boolean> {
    return this.#say(this.#back, inHand);
  }

  /**
   * Takes a job. The question replaces an earlier one for the same lane and term. null: no job waits, the lease is another
   * term's, the question came late, or `forget` or `close` was called.
   * @throws what the server fails with. The server may have handed the job out all the same: the next question gets that job.
   */
  take(question: JobQuestion): Promise<TakenJob | null> {
    const { promise, resolve, reject } = Promise.withResolvers<TakenJob | null>();
    this.forget(question.lane, question.term);
    this.#asked.set(askedBy(question), { question, settle: { resolve, reject } });
    this.#turnSoon();
    return promise;
  }

  /** The lane's next job is not wanted any more. A job that is already being taken is still delivered. */
  forget(lane: Lane, term: string): void {
    const name = askedBy({ lane, term });
    this.#asked.get(name)?.settle.resolve(null);
    this.#asked.delete(name);
  }

  /** @throws what the server fails with; QueueError `closed` */
  publish(name: string, report: R): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#told.push({ name, report, settle: { resolve, reject } });
    this.#turnSoon();
    return promise;
  }

  /** Resolves when the note is durable. False: another agent has the job or the lease, or a later note is there. */
  note(inHand: LaneDelivery, order: number, note: string): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#notes.push({ inHand, order, note, settle: { resolve, reject } });
    if (!this.#noting) void this.#writeNotes();
    return promise;
  }

  /** Sends nothing more. What has not been sent is dropped, and the callers that wait for it are told so. */
  close(): void {
    this.#closed.abort();
  }

  #say(to: Ending[], inHand: LaneDelivery): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    to.push({ inHand, settle: { resolve, reject } });
    this.#turnSoon();
    return promise;
  }

  #turnSoon(): void {
    if (this.#turning) return;
    this.#turning = true;
    void this.#turns();
  }

  async #turns(): Promise<void> {
    const { signal } = this.#closed;
    // A job's end, its report and the request for the next job come in one tick, and go in one turn.
    await new Promise(setImmediate);
    while (this.#ended.length + this.#back.length + this.#asked.size + this.#told.length > 0) {
      if (signal.aborted) this.#drop();
      else if (!(await this.#turn()))
        await wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#turning = false;
  }

  #drop(): void {
    for (const { settle } of [...this.#ended.splice(0), ...this.#back.splice(0)]) settle.resolve(false);
    for (const { settle } of this.#asked.values()) settle.resolve(null);
    this.#asked.clear();
    for (const { settle } of this.#told.splice(0))
      settle.reject(new QueueError('closed', 'the queues are closed'));
  }

  /** False: the server could not be reached. */
  async #turn(): Promise<boolean> {
    const ended = this.#ended.splice(0, MOST);
    const back = this.#back.splice(0, MOST);
    const told = this.#told.splice(0, MOST);
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    try {
      const answer = await this.#store.turn({
        ended: ended.map(({ inHand }) => inHand),
        back: back.map(({ inHand }) => inHand),
        told,
        take: asked.map(({ question }) => question),
      });
      for (const { settle } of told) settle.resolve();
      for (const [at, { settle }] of ended.entries()) settle.resolve(answer.ended[at] === true);
      for (const [at, { settle }] of back.entries()) settle.resolve(answer.back[at] === true);
      for (const [at, { settle }] of asked.entries()) settle.resolve(answer.taken[at] ?? null);
      return true;
    } catch (error) {
      for (const { settle } of told) settle.reject(error);
      this.#ended = [...ended, ...this.#ended];
      this.#back = [...back, ...this.#back];
      const { aborted } = this.#closed.signal;
      for (const { settle } of asked)
        if (aborted) settle.resolve(null);
        else settle.reject(error);
      const away = this.#store.isAway(error) || aborted;
      this.#errors.report(away ? 'the lanes cannot be reached' : 'a turn of the lanes failed', error);
      return false;
    }
  }

  async #writeNotes(): Promise<void> {
    this.#noting = true;
    // The notes of two jobs that are in a printer's row together come in one tick, and must be stored together.
    await Promise.resolve();
    while (this.#notes.length > 0) {
      const batch = this.#notes.splice(0, MOST);
      try {
        const stored = await this.#store.notes(batch);
        for (const [at, { settle }] of batch.entries()) settle.resolve(stored[at] === true);
      } catch (error) {
        for (const { settle } of batch) settle.reject(error);
      }
    }
    this.#noting = false;
  }
}

function askedBy({ lane, term }: Pick<JobQuestion, 'lane' | 'term'>): string {
  return `${lane} ${term}`;
}
