/** An agent reduced to its consumer, for tests that kill it: takes one job, says which, and never finishes it. */
import { openQueues } from '../../src/queue/index.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const { printer, ...options } = JSON.parse(process.argv[2] ?? '{}');
const queues = await openQueues({ ...options, logger: silent });
await queues.consume(printer, async ({ job, delivery }) => {
  process.stdout.write(`${JSON.stringify({ jobId: job.jobId, delivery })}\n`);
  return await new Promise<never>(() => undefined);
});
