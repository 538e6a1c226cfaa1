/**
 * What a process says to PostgreSQL about its lanes, as few commands as that takes. One turn (`lanes.turn`) has everything
 * that there is to say at its moment, for all lanes: what comes while one is under way goes with the next. So a job's end,
 * its last report and the next job of its lane are one round trip and one commit.
 *
 * Nobody waits for the disk where the commit may be lost with what depends on it: a job that ended is delivered again if
 * that is lost, and its agent reports again. A lasting report whose job does not end in the same commit is waited for, and
 * so is every note: what it allows is sent to a printer.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Lane } from '../contract/lane.ts';
import { lane as laneSchema } from '../contract/lane.ts';
import { type QueuedJob, queueId } from '../contract/queued-job.ts';
import type { Report } from '../contract/report.ts';
import { isConnectionError } from './postgres-away.ts';
import { PostgresTemplates } from './postgres-templates.ts';
import type { ErrorLog } from './queue-log.ts';

/** A delivery, as its fence is. */
export interface InHand {
  lane: Lane;
  id: string;
  delivery: number;
  term: string;
}

export interface TakenJob extends InHand {
  json: string;
  /** Undefined: it is in the payload. */
  template: QueuedJob['template'] | undefined;
  /** Its payload is the service's own row: scope and printer are the lane's. */
  ofRow: boolean;
  note: string | null;
}

/** How soon a turn is tried again, ms. */
const RETRY_MS = 1_000;
/** Most of each kind in one turn. */
const MOST = 500;

const TURN = {
  name: 'lanes-turn',
  text: 'SELECT * FROM lanes.turn($1, $2, $3, $4, $5, $6, $7)',
};
const NOTES = { name: 'lanes-notes', text: 'SELECT lanes.note($1) AS at' };

const answerRow = z.object({
  what: z.enum(['ended', 'back', 'job', 'row']),
  of_lane: laneSchema,
  id: z.string(),
  delivery: z.int(),
  its_payload: z.string().nullable(),
  its_note: z.string().nullable(),
  its_template: z.string().nullable(),
});
type AnswerRow = z.infer<typeof answerRow>;
const notedRow = z.object({ at: z.int() });

type Settling<T> = { resolve: (value: T) => void; reject: (error: unknown) => void };
type Said = { inHand: InHand; settle: Settling<boolean> };
type Asked = { term: string; settle: Settling<TakenJob | null> };
type Told = { name: string; report: Report; settle: Settling<void> };
type Noted = { inHand: InHand; order: number; note: string; settle: Settling<boolean> };

export class PostgresTurns {
  readonly #pool: Pool;
  readonly #errors: ErrorLog;
  readonly #templates: PostgresTemplates;
  readonly #closed = new AbortController();
  #ended: Said[] = [];
  #back: Said[] = [];
  readonly #asked = new Map<Lane, Asked>();
  #told: Told[] = [];
  #notes: Noted[] = [];
  #number = 0;
  #turning = false;
  #noting = false;

  constructor(pool: Pool, errors: ErrorLog) {
    this.#pool = pool;
    this.#errors = errors;
    this.#templates = new PostgresTemplates(pool);
  }

  /** The job is done with. Tried until the server has answered; false: it was not this one's any more. */
  ended(inHand: InHand): Promise<boolean> {
    return this.#say(this.#ended, inHand);
  }

  /** The job goes back to its place. As `ended`. */
  handedBack(inHand: InHand): Promise<boolean> {
    return this.#say(this.#back, inHand);
  }

  /**
   * The lane's first job that has not ended. Tried until the server has answered; null: none waits, or the lease is not of
   * this term, or `forget` was called.
   */
  take(lane: Lane, term: string): Promise<TakenJob | null> {
    const { promise, resolve, reject } = Promise.withResolvers<TakenJob | null>();
    this.forget(lane);
    this.#asked.set(lane, { term, settle: { resolve, reject } });
    this.#turnSoon();
    return promise;
  }

  /** Nobody wants the lane's next job any more; one that is being taken comes all the same. */
  forget(lane: Lane): void {
    this.#asked.get(lane)?.settle.resolve(null);
    this.#asked.delete(lane);
  }

  publish(name: string, report: Report): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#told.push({ name, report, settle: { resolve, reject } });
    this.#turnSoon();
    return promise;
  }

  /** Resolves when it is durable; false: the job or the lease is another's, or a later note is there. */
  note(inHand: InHand, order: number, note: string): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#notes.push({ inHand, order, note, settle: { resolve, reject } });
    if (!this.#noting) void this.#writeNotes();
    return promise;
  }

  /** What has not been said by now is not said. */
  close(): void {
    this.#closed.abort();
  }

  #say(to: Said[], inHand: InHand): Promise<boolean> {
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
    // What belongs together is said in one go: a job's end, its report, and the question for the next.
    await new Promise(setImmediate);
    while (this.#ended.length + this.#back.length + this.#asked.size + this.#told.length > 0) {
      if (signal.aborted) return;
      if (await this.#turn()) continue;
      await wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#turning = false;
  }

  /** False: the server could not be reached. */
  async #turn(): Promise<boolean> {
    const ended = this.#ended.splice(0, MOST);
    const back = this.#back.splice(0, MOST);
    const told = this.#told.splice(0, MOST);
    const asked = [...this.#asked];
    this.#asked.clear();
    this.#number += 1;
    try {
      const { rows } = await this.#pool.query({
        ...TURN,
        values: [
          told.map(({ name }) => name),
          told.map(({ report }) => JSON.stringify(report)),
          ended.length > 0 ? JSON.stringify(ended.map(({ inHand }) => inHand)) : null,
          back.length > 0 ? JSON.stringify(back.map(({ inHand }) => inHand)) : null,
          JSON.stringify(asked.map(([lane, { term }]) => ({ lane, term }))),
          this.#number,
          told.some(({ report }) => isLasting(report, [...ended, ...back])),
        ],
      });
      const answers = rows.map((row) => answerRow.parse(row));
      const names = answers.flatMap(({ its_template }) => its_template ?? []);
      const templates = await this.#templates.of(new Set(names));
      for (const { settle } of told) settle.resolve();
      settleSaid(ended, answers, 'ended');
      settleSaid(back, answers, 'back');
      for (const [lane, { term, settle }] of asked) settle.resolve(takenOf(answers, templates, lane, term));
      return true;
    } catch (error) {
      for (const { settle } of told) settle.reject(error);
      this.#ended = [...ended, ...this.#ended];
      this.#back = [...back, ...this.#back];
      for (const [lane, one] of asked) {
        if (this.#asked.has(lane)) one.settle.resolve(null);
        else this.#asked.set(lane, one);
      }
      const away = isConnectionError(error) || this.#closed.signal.aborted;
      this.#errors.report(away ? 'the lanes cannot be reached' : 'a turn of the lanes failed', error);
      return false;
    }
  }

  async #writeNotes(): Promise<void> {
    this.#noting = true;
    while (this.#notes.length > 0) {
      const batch = this.#notes.splice(0, MOST);
      const sent = batch.map(({ inHand, order, note }, at) => ({ at, ...inHand, order, note }));
      try {
        const { rows } = await this.#pool.query({ ...NOTES, values: [JSON.stringify(sent)] });
        const stored = new Set(rows.map((row) => notedRow.parse(row).at));
        for (const [at, { settle }] of batch.entries()) settle.resolve(stored.has(at));
      } catch (error) {
        for (const { settle } of batch) settle.reject(error);
      }
    }
    this.#noting = false;
  }
}

function settleSaid(said: readonly Said[], answers: readonly AnswerRow[], what: 'ended' | 'back'): void {
  for (const { inHand, settle } of said) {
    const { lane, id, delivery } = inHand;
    const found = answers.some(
      (row) => row.what === what && row.of_lane === lane && row.id === id && row.delivery === delivery,
    );
    settle.resolve(found);
  }
}

function takenOf(
  answers: readonly AnswerRow[],
  templates: ReadonlyMap<string, QueuedJob['template']>,
  lane: Lane,
  term: string,
): TakenJob | null {
  const row = answers.find(({ what, of_lane }) => of_lane === lane && (what === 'job' || what === 'row'));
  if (row === undefined) return null;
  const { id, delivery, its_payload: json, its_note: note } = row;
  const template = templates.get(row.its_template ?? '');
  return { lane, id, delivery, term, json: json ?? '', template, ofRow: row.what === 'row', note };
}

/** Whether the report must not be lost while what is said of its job is kept. */
function isLasting(report: Report, leaving: readonly Said[]): boolean {
  if (report.kind !== 'job' || report.status === 'printing') return false;
  const id = queueId(report.jobId, report.round ?? 0);
  return !leaving.some(({ inHand }) => inHand.id === id);
}
