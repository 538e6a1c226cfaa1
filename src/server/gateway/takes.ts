/**
 * The jobs that an agent's session takes: those that the agent asks for, and, while a question of the agent waits, the one that its
 * lane is rung for. That job is sent with the ring, so the agent need not ask across a long line.
 *
 * However often a question is asked, it takes one job at most (`lanes.turn`). A job that was taken but did not reach the agent comes
 * with the agent's next question. So a job that is sent with a ring may be lost or late without harm.
 */
import { type FrameEntry, MOST_LANES, type TakenJobFrame } from '../../contract/gateway.ts';
import type { Lane } from '../../contract/lane.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import type { AgentLanes } from '../../queue/index.ts';

type Ask = Extract<FrameEntry, { what: 'take' }>;
type LaneTurns = Pick<ReturnType<AgentLanes['turnsOf']>, 'take'>;

/** A job that was taken in the agent's place, for the question that it answers. */
interface Brought {
  term: string;
  number: number;
  job: TakenJobFrame;
}

/** The JSON of templates that many jobs share. */
const templates = new WeakMap<QueuedJob['template'], string>();

export class Takes {
  readonly #turnsOf: (of: Ask) => LaneTurns;
  /** Each lane's last question; whether it waits for a job, or a job is being taken for it. */
  readonly #asked = new Map<Lane, { ask: Ask; now: 'answered' | 'waits' | 'takes' }>();

  constructor(turnsOf: (of: Ask) => LaneTurns) {
    this.#turnsOf = turnsOf;
  }

  async take(ask: Ask): Promise<TakenJobFrame | null> {
    const { lane } = ask;
    if (this.#asked.size >= MOST_LANES) this.#asked.clear();
    const asked = { ask, now: 'answered' as const };
    this.#asked.set(lane, asked);
    const job = await this.#taken(ask);
    const waits = job === null && ask.waits === true && this.#asked.get(lane) === asked;
    if (waits) this.#asked.set(lane, { ask, now: 'waits' });
    return job;
  }

  /**
   * The lane was rung. Null: the agent has to ask itself; undefined: it need not be told, since a job is being taken for it.
   * @throws what the lanes fail with
   */
  async rung(lane: Lane): Promise<Brought | null | undefined> {
    const asked = this.#asked.get(lane);
    if (asked?.now === 'takes') return undefined;
    if (asked?.now !== 'waits') return null;
    const { ask } = asked;
    const taking = { ask, now: 'takes' as const };
    this.#asked.set(lane, taking);
    try {
      const job = await this.#taken(ask);
      return job && { term: ask.term, number: ask.number, job };
    } finally {
      if (this.#asked.get(lane) === taking) this.#asked.delete(lane);
    }
  }

  /** The agent takes no job of the lane, or has to look at more than that. */
  forget(lane: Lane): void {
    this.#asked.delete(lane);
  }

  async #taken(ask: Ask): Promise<TakenJobFrame | null> {
    const { lane, term, beside, number } = ask;
    const taken = await this.#turnsOf(ask).take({ lane, term, beside, number });
    if (taken === null) return null;
    const { id, delivery, json, template, ofRow, note } = taken;
    return { id, delivery, json, ofRow, note, ...(template && { template: jsonOf(template) }) };
  }
}

function jsonOf(template: QueuedJob['template']): string {
  const known = templates.get(template) ?? JSON.stringify(template);
  templates.set(template, known);
  return known;
}
