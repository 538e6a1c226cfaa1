/** What an attack is, and what attacks do: callers in loops, and an honest caller who is watched meanwhile. */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Reply, Target } from './target.ts';

export type Attack = {
  name: string;
  /** It reaches others on this machine too: not for the run of all tests. */
  alone?: true;
  /** Bytes by which one page of a document may make the process grow; on top of what any attack may. */
  page?: number;
  /**
   * `share`: of the full size, 0 to 1; `patience`: ms in which an honest caller is to have each answer.
   * @returns what is wrong, one line each
   */
  run: (target: Target, options: { seconds: number; share: number; patience: number }) => Promise<string[]>;
};

export function filled(piece: string, length: number): string {
  return piece.repeat(Math.max(1, Math.floor(length / piece.length)));
}

/** Runs `count` callers that each send again and again. @returns the number of answers by status, and code of a problem */
export async function loops(
  count: number,
  seconds: number,
  send: (agent: Agent, caller: number, round: number) => Promise<Reply>,
): Promise<Map<string, number>> {
  const until = performance.now() + seconds * 1000;
  const seen = new Map<string, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  await Promise.all(
    Array.from({ length: count }, async (_, caller) => {
      for (let round = 0; round === 0 || performance.now() < until; round++) {
        const { status, text } = await send(agent, caller, round);
        const code = status < 400 ? undefined : /"code":"([a-z-]{1,40})"/.exec(text)?.[1];
        const answer = code === undefined ? `${status}` : `${status} ${code}`;
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }
    }),
  );
  agent.destroy();
  return seen;
}

/**
 * @param expected statuses, or statuses with the code that the problem must have
 * @returns a line for each answer that is not one of those expected
 */
export function only(seen: ReadonlyMap<string, number>, ...expected: (number | string)[]): string[] {
  return [...seen]
    .filter(([answer]) => !expected.some((one) => answer === `${one}` || answer.startsWith(`${one} `)))
    .map(([answer, count]) => `${count} answers with status ${answer}, expected ${expected.join(' or ')}`);
}

/** Checks that the honest caller gets each answer within `patience` ms while `other` goes on. @param large bytes of each request */
export async function honestly(
  target: Target,
  other: Promise<unknown>,
  patience: number,
  large?: number,
): Promise<string[]> {
  const wrong: string[] = [];
  let over = false;
  const ended = other.finally(() => {
    over = true;
  });
  while (!over) {
    const { status, ms } = await target.honestRequest(large);
    if (status !== 200) wrong.push(`the honest caller got ${status}`);
    if (ms > patience) wrong.push(`the honest caller waited ${Math.round(ms)} ms`);
    await pause(50);
  }
  await ended;
  return wrong.slice(0, 5);
}
