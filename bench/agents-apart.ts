/** Starts agents in processes of their own (`scale-agents.ts`), and has them enrol before. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { enrollAgent } from '../src/cli/enrolment.ts';
import { invitationMade } from '../src/contract/agent-view.ts';
import type { PlatenUp } from '../test/kit/service/platen.ts';
import { inParallel } from './in-parallel.ts';

const SCRIPT = join(import.meta.dirname, 'scale-agents.ts');
/** Limit for the start of everything, ms. */
export const START_MS = 600_000;
/** Agents that enrol at a time: one address may not try more often at once. */
const ENROLLING = 5;

export const scaleAgents = z.object({
  directory: z.string(),
  /**
   * Where the agents have their lanes: in a Redis, or at the service with which they have enrolled. null: there are no agents, and
   * the addresses of the printers are written.
   */
  lanes: z.union([z.object({ redisUrl: z.string() }), z.literal('enrolled')]).nullable(),
  first: z.int(),
  agents: z.int(),
  /** How many are made for each agent, or the addresses of those that each has. */
  printers: z.union([z.int(), z.array(z.array(z.string()))]),
});

export function dataDirOf(directory: string, agent: number): string {
  return join(directory, `agent-${agent}`);
}

/** @param at where they reach the service, if not at its own address */
export async function enrolled(
  up: PlatenUp,
  of: { directory: string; first: number; agents: number },
  at = up.url,
): Promise<void> {
  const limits = { width: ENROLLING, ms: START_MS, most: of.agents, signal: AbortSignal.timeout(START_MS) };
  await inParallel(limits, async (number) => {
    const name = `site-${of.first + number}`;
    const { code } = await up.admin.ofAgents(invitationMade, 'POST', '/invitations', { name });
    await enrollAgent(`${new URL(at).origin}#${code}`, dataDirOf(of.directory, of.first + number));
  });
}

/** Resolves when all is there. @returns the printers' addresses where it starts printers alone */
export async function startedAgents(
  stack: AsyncDisposableStack,
  what: z.input<typeof scaleAgents>,
): Promise<string[]> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(what)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(() => ended(child));
  const line = await firstLine(child, (text) => text === 'ready' || text.startsWith('['));
  return line === 'ready' ? [] : z.array(z.string()).parse(JSON.parse(line));
}

/** @throws Error when it ends before, or takes too long */
export async function firstLine(child: ChildProcess, wanted: (line: string) => boolean): Promise<string> {
  if (child.stdout === null) throw new Error('it has no output');
  const signal = AbortSignal.timeout(START_MS);
  for await (const line of createInterface({ input: child.stdout, signal })) {
    if (wanted(line)) {
      child.stdout.resume();
      return line;
    }
  }
  throw new Error(`a program was not ready, and ended with ${child.exitCode}`);
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const limit = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exit;
  clearTimeout(limit);
}
