/**
 * Agents say again and again how they are, whether or not anything has changed. A thousand agents would cause more than a
 * hundred commits a second. So the reports that say nothing new wait for each other, and share a commit. An agent that says
 * something new each time has so many in a second.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { AgentStateReport } from '../../contract/report.ts';

/** How long the first one waits, ms. */
const GATHER = 1_000;
/**
 * States of one agent in a second, and at once. Each is a commit for whoever applies it, and reports are applied in the order in
 * which all agents have told them. An agent says one at a time, and one with 5,000 printers says a hundred in a row.
 */
const STATES = { perSecond: 20, atOnce: 100 };
/** How long one may wait for its turn, ms: longer than all that an agent may have without an answer. */
const LATEST = 5_000;

export class Heartbeats {
  /** By session: the hash of what it has said last. */
  readonly #last = new WeakMap<object, string>();
  /** By agent: when (`performance.now`) it would have said all its states, so many a second. */
  readonly #said = new Map<string, number>();
  #next: Promise<void> | undefined;

  /**
   * Resolves when the report may go, in one tick for all that have waited for each other.
   * @throws Error where the agent says far more than it may
   */
  async gather(session: object, { at: _at, counts: _counts, ...state }: AgentStateReport): Promise<void> {
    await this.#turn(state.agentId);
    const hash = createHash('sha256').update(JSON.stringify(state)).digest('base64');
    if (hash === this.#last.get(session)) await this.#beat();
    this.#last.set(session, hash);
  }

  async #turn(agentId: string): Promise<void> {
    const [now, each] = [performance.now(), 1_000 / STATES.perSecond];
    const said = Math.max(now, this.#said.get(agentId) ?? 0) + each;
    const late = said - now - STATES.atOnce * each;
    if (late > LATEST) throw new Error('the agent tells its state more often than it may');
    this.#said.set(agentId, said);
    if (late > 0) await wait(late, undefined, { ref: false });
  }

  #beat(): Promise<void> {
    this.#next ??= wait(GATHER, undefined, { ref: false }).then(() => {
      this.#next = undefined;
    });
    return this.#next;
  }
}
