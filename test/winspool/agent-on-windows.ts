/** Runs on Windows (`wine.ts`): an agent that finds the spooler's printers, and ends after its first job. */
import { Agent } from '../../src/agent/agent.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { createLogger } from '../../src/log.ts';
import { openQueues } from '../../src/queue/index.ts';
import { ownQueue } from '../kit/agent/own-queue.ts';

const { config, queues: options } = JSON.parse(process.argv[2] ?? '{}');
const logger = createLogger({ level: process.env['TEST_LOG'] ?? 'silent' });
const queues = await openQueues({ ...options, logger });
const queue = ownQueue(queues);
const { promise: ended, resolve: end } = Promise.withResolvers<void>();
const agent = new Agent({
  config,
  queue: {
    ...queue,
    async publish(report, scope) {
      const place = await queue.publish(report, scope);
      if (report.kind === 'job' && !['queued', 'printing'].includes(report.status)) end();
      return place;
    },
  },
  // The renderer's canvas has a Windows binary too, but not where these tests get theirs from.
  drivers: {
    ...standardDrivers,
    languagesModule: new URL('../kit/agent/plain-language.ts', import.meta.url),
  },
  logger,
});
await agent.start();
await ended;
await agent.stop();
await queues.close({ timeoutMs: 5_000 });
