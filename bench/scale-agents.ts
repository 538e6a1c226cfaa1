/**
 * Agents with idle printers in a process of their own, for `scale.ts`: real agents, each with a connection of
 * its own; several share a process to save memory. The printers answer like a Zebra and print nothing. Writes
 * `ready` once each agent has reported to the queue that all its printers are there.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { Agent } from '../src/agent/agent.ts';
import { agentConfig } from '../src/agent/config.ts';
import { queueSource } from '../src/agent/source/queue-source.ts';
import { openQueues } from '../src/queue/index.ts';
import { LabelSink } from './label-sink.ts';

export const scaleAgents = z.object({
  directory: z.string(),
  /** null: starts only printers, and writes their addresses. */
  redisUrl: z.string().nullable(),
  first: z.int(),
  agents: z.int(),
  printers: z.int(),
});

const { directory, redisUrl, first, agents, printers } = scaleAgents.parse(
  JSON.parse(process.argv[2] ?? '{}'),
);
const logger = pino({ level: 'error' });
await using stack = new AsyncDisposableStack();
const addresses: string[] = [];
for (let at = 0; at < agents; at += 1) {
  const own: string[] = [];
  for (let printer = 0; printer < printers; printer += 1) {
    const serial = `SC${String(first + at).padStart(4, '0')}${String(printer).padStart(4, '0')}`;
    const sink = new LabelSink(serial);
    own.push(await sink.start());
    stack.defer(() => sink.stop());
  }
  addresses.push(...own);
  if (redisUrl !== null) await startAgent(first + at, own, redisUrl);
}
process.stdout.write(redisUrl === null ? `${JSON.stringify(addresses)}\n` : 'ready\n');
await once(process, 'SIGTERM');

/** Starts an agent; resolves once it has reported all its printers. */
async function startAgent(number: number, uris: readonly string[], redisUrl: string): Promise<void> {
  const queues = await openQueues({ redisUrl, logger });
  stack.defer(() => queues.close({ timeoutMs: 0 }));
  const source = queueSource(queues);
  const told = Promise.withResolvers<void>();
  const agent = new Agent({
    config: agentConfig.parse({
      id: `agent-scale-${String(number).padStart(4, '0')}`,
      dataDir: join(directory, `agent-${number}`),
      printers: uris.map((uri) => ({ uri })),
    }),
    source: {
      ...source,
      publish: async (report, scope) => {
        const place = await source.publish(report, scope);
        const there =
          report.kind === 'agent'
            ? report.printers.filter(({ reasons }) => !reasons.includes('offline'))
            : [];
        if (there.length === uris.length) told.resolve();
        return place;
      },
    },
    logger,
  });
  await agent.start();
  stack.defer(() => agent.stop({ graceMs: 0 }));
  await told.promise;
}
