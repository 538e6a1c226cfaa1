/** The Redis user of an agent, made with the command in docs/deployment.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/deployment.md'), 'utf8');
/** The tenant and the ID of the agent in the document. */
export const DOCUMENTED = { tenant: 'acme', agentId: 'agent-dock-3' };

/** Makes the user for that agent, under the prefix of the keys. @throws Error when the document has no such command */
export async function makeAgentUser(
  admin: Redis,
  { user, password, prefix }: { user: string; password: string; prefix: string },
): Promise<void> {
  const command = /redis-cli ACL SETUSER dock-3 ((?:.*\\\n)*.*)/.exec(DOCUMENT)?.[1] ?? '';
  const words = command
    .replaceAll(/[\\']/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length < 30) throw new Error(`docs/deployment.md has no command for an agent's user: ${command}`);
  await admin.acl(
    'SETUSER',
    user,
    ...words.map((word) => word.replace('>SECRET', `>${password}`).replace('platen:', `${prefix}:`)),
  );
}
