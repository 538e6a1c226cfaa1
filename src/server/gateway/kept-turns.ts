/**
 * The turns of an agent's session: one for each lane and term, like the one that an agent's own consumer has. So all that a
 * frame says of the lane goes in one command. Each lasts as long as the session.
 */
import { MOST_LANES } from '../../contract/gateway.ts';
import type { Lane } from '../../contract/lane.ts';
import type { AgentLanes } from '../../queue/index.ts';

export class KeptTurns {
  readonly #kept = new Map<string, ReturnType<AgentLanes['turnsOf']>>();

  of(lanes: AgentLanes, { lane, term }: { lane: Lane; term: string }, over: AbortSignal) {
    const name = `${lane} ${term}`;
    const known = this.#kept.get(name);
    if (known !== undefined) return known;
    if (this.#kept.size >= MOST_LANES) this.#kept.clear();
    const turns = lanes.turnsOf(lane, over);
    this.#kept.set(name, turns);
    return turns;
  }
}
