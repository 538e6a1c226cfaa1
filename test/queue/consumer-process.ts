/** An agent reduced to its consumer, for tests that kill it: takes one job, says which, and never finishes it. */
import { openQueues } from '../../src/queue/index.ts';
import { serve } from '../kit/queue/serving.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const { printer, length, ...options } = JSON.parse(process.argv[2] ?? '{}');
const queues = await openQueues({ ...options, logger: silent });
await serve(
  queues,
  printer,
  async ({ job, delivery }) => {
    process.stdout.write(`${JSON.stringify({ jobId: job.jobId, delivery })}\n`);
    return await new Promise<never>(() => undefined);
  },
  { length },
);
