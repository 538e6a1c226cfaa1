/**
 * What an agent shows of itself when it joins. A number grows each time, so that the service can tell the agent from a copy of
 * its data directory; and the state says whose agent it is. Only this deployment can make one. So a service that was restored
 * from a back-up believes a state even if state and agent are newer than its database.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { origin } from '../../contract/gateway.ts';
import { scope } from '../../contract/lane.ts';
import type { SecretKey } from '../secret-key.ts';

const agentState = z.object({
  agent: z.string(),
  seq: z
    .int()
    .min(1)
    .max(2 ** 31 - 2),
  scope,
  name: z.string(),
  origin,
  /** SHA-256 of its public key. */
  key: z.string(),
});
type AgentState = z.infer<typeof agentState>;

export class AgentStates {
  readonly #key: SecretKey;

  constructor(key: SecretKey) {
    this.#key = key;
  }

  make({ publicKey, ...state }: Omit<AgentState, 'key'> & { publicKey: string }): string {
    const text = Buffer.from(JSON.stringify({ ...state, key: thumbOf(publicKey) })).toString('base64url');
    return `${text}.${this.#key.sign(text)}`;
  }

  /** Undefined: this deployment has not made the state for this agent and key. */
  read(state: string | undefined, agent: string, publicKey: string): AgentState | undefined {
    const [text = '', signature = ''] = state?.split('.') ?? [];
    if (!this.#key.isSigned(text, signature)) return undefined;
    const read = agentState.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString())).data;
    return read?.agent === agent && read.key === thumbOf(publicKey) ? read : undefined;
  }
}

function thumbOf(publicKey: string): string {
  return createHash('sha256').update(publicKey).digest('base64url');
}
