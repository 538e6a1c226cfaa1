/** An agent reduced to its consumer, for tests that kill it: takes one job, or two, says which, and never finishes them. */
import { openQueues } from '../../src/queue/index.ts';
import { serve } from '../kit/queue/serving.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const { printer, length, follows, ...options } = JSON.parse(process.argv[2] ?? '{}');
const queues = await openQueues({ ...options, logger: silent });
await serve(
  queues,
  printer,
  async ({ job, delivery, setNote, follow }) => {
    if (follows) {
      await setNote({ of: job.jobId });
      follow();
    }
    process.stdout.write(`${JSON.stringify({ jobId: job.jobId, delivery })}\n`);
    return await new Promise<never>(() => undefined);
  },
  { length },
);
