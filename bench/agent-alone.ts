/**
 * An agent in a process of its own on the queues in PostgreSQL, for `one-or-two.ts`: what `platen up` would start beside its
 * service if it were two processes.
 */
import { once } from 'node:events';
import { z } from 'zod';
import { Agent } from '../src/agent/agent.ts';
import { createLogger } from '../src/log.ts';
import { openQueues } from '../src/queue/index.ts';

export const agentAlone = z.object({
  dataDir: z.string(),
  databaseUrl: z.string(),
  printers: z.array(z.string()),
});

const { dataDir, databaseUrl, printers } = agentAlone.parse(JSON.parse(process.argv[2] ?? '{}'));
const logger = createLogger();
await using stack = new AsyncDisposableStack();
const queues = await openQueues({ database: { connectionString: databaseUrl }, logger });
stack.defer(() => queues.close());
const agent = new Agent({
  config: { dataDir, printers: printers.map((uri) => ({ uri })) },
  queue: queues,
  logger,
});
await agent.start();
stack.defer(() => agent.stop());
process.stdout.write('ready\n');
await once(process, 'SIGTERM');
