/** An agent at another site, and what may happen to it there: its directory is copied, rolled back, its key revoked. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { AdminClient } from '../../src/cli/admin-client.ts';
import { enrollAgent } from '../../src/cli/enrolment.ts';
import { ServiceRefusal } from '../../src/cli/refusal.ts';
import { invitationMade, waitsOutside } from '../../src/contract/agent-view.ts';
import type { Clock } from '../kit/programs/clock.ts';
import type { Line } from './line.ts';
import type { PlatenProcess } from './platen-process.ts';

/** Between two tries of what a person does while the service is away, ms. */
const AGAIN_MS = 500;
const GIVE_UP_MS = 120_000;

interface Parts {
  name: string;
  agent: PlatenProcess;
  /** The same agent on a copy of its directory. */
  copy: PlatenProcess;
  data: string;
  line: Line;
  clock: Clock;
  admin: AdminClient;
}

export class AgentElsewhere {
  readonly name: string;
  readonly line: Line;
  readonly clock: Clock;
  /** In this round. */
  rolledBack = false;
  readonly #parts: Parts;
  /** What is done while it is down, one thing after the other: the first that is over starts it again. */
  #down: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.name = parts.name;
    this.line = parts.line;
    this.clock = parts.clock;
    this.#parts = parts;
  }

  /** Starts the agent a second time, on a copy of its directory. */
  startCopy(): void {
    const { copy, data } = this.#parts;
    rmSync(`${data}-copy`, { recursive: true, force: true });
    // Files come and go in the directory of an agent that runs.
    if (tryCopy(data, `${data}-copy`)) copy.launch();
  }

  async stopCopy(): Promise<void> {
    await this.#parts.copy.kill();
    this.#parts.copy.falls.length = 0;
  }

  /** Its directory becomes what it was at the last back-up, while the agent is away; and makes the next back-up. */
  async rollBack(): Promise<void> {
    this.rolledBack = true;
    const { data } = this.#parts;
    await this.#whileDown(async () => {
      const [backup, next] = [`${data}-backup`, `${data}-next`];
      renameSync(data, next);
      if (existsSync(backup)) renameSync(backup, data);
      else cpSync(next, data, { recursive: true });
      renameSync(next, backup);
    });
  }

  /** A person revokes it, and lets it in again with another code. @param ms between the two */
  async revoke(ms: number): Promise<void> {
    const { admin, name, data, line } = this.#parts;
    const { id } = (await until(() => admin.agents())).find((one) => one.name === name) ?? {};
    if (id === undefined) throw new Error(`${name} is not known`);
    await until(() => admin.ofAgents(z.unknown(), 'POST', `/${id}/revoke`));
    await pause(ms);
    await this.#whileDown(async () => {
      const invitation = await until(() => enroll(admin, line, name, data));
      await until(() => refusedAgain(invitation, `${data}-thief`));
    });
  }

  /** Whatever else starts the agent meanwhile. */
  async #whileDown(done: () => Promise<void>): Promise<void> {
    const before = this.#down;
    const over = Promise.withResolvers<void>();
    this.#down = over.promise;
    await before;
    const { agent } = this.#parts;
    agent.keptDown = true;
    try {
      await agent.kill();
      await done();
    } finally {
      agent.keptDown = false;
      agent.launch();
      over.resolve();
    }
  }
}

/** Enrols an agent by its own line. @returns what it has enrolled with */
export async function enroll(admin: AdminClient, line: Line, name: string, data: string): Promise<string> {
  const { code } = await admin.ofAgents(invitationMade, 'POST', '/invitations', { name });
  const invitation = `${line.url}#${code}`;
  await enrollAgent(invitation, data);
  return invitation;
}

/** @throws Error where nobody answers; WorkedTwice */
async function refusedAgain(invitation: string, data: string): Promise<void> {
  mkdirSync(data, { recursive: true });
  const refused = await enrollAgent(invitation, data).then(
    () => false,
    (error: unknown) => {
      if (error instanceof ServiceRefusal && error.code === 'invitation-spent') return true;
      throw error;
    },
  );
  rmSync(data, { recursive: true, force: true });
  if (!refused) throw new WorkedTwice();
}

class WorkedTwice extends Error {
  override message = 'a code has let two agents in';
}

/** Approves the printers that wait. @param agentsToo let in agents that were refused for an old state */
export async function approveAt(admin: AdminClient, { agentsToo }: { agentsToo: boolean }): Promise<void> {
  for (const agent of await admin.agents()) {
    const waits = agent.enrolled?.notServed.some(({ state }) => state === 'waiting') === true;
    if (waits) await admin.ofAgents(z.unknown(), 'POST', `/${agent.id}/printers`, { state: 'approved' });
    if (agentsToo && waitsOutside(agent)) await admin.ofAgents(z.unknown(), 'POST', `/${agent.id}/let-in`);
  }
}

/** Has it done, however long the service is away. */
async function until<T>(done: () => Promise<T>): Promise<T> {
  const limit = AbortSignal.timeout(GIVE_UP_MS);
  for (;;) {
    try {
      return await done();
    } catch (error) {
      if (limit.aborted || error instanceof WorkedTwice) throw error;
      await pause(AGAIN_MS);
    }
  }
}

function tryCopy(from: string, to: string): boolean {
  try {
    cpSync(from, to, { recursive: true });
    return true;
  } catch {
    return false;
  }
}
