/**
 * Names of fields are a tenant's, and the agent of a shared printer reads jobs of all tenants. `JSON.parse` takes an escaped
 * name for one that it has read before (nodejs/node#63785): without care a job of one tenant has another tenant's value missing.
 */
import { describe, expect, test } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';
import { Collected, job, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { tried } from '../kit/servers/backends.ts';

describe.each(tried(agentBackends()))('names of fields at the queue on $name', (backend) => {
  const used = useQueues(backend);

  test('a record has its own, whatever jobs of others had before', async () => {
    const lane = printerId();
    const with_ = (name: string, value: string): QueuedJob => ({
      ...job(lane),
      jobId: crypto.randomUUID(),
      records: [{ sku: '1', [name]: value }],
    });
    // As long as the other name, and as that one begins where it is written as JSON.
    const jobs = [
      with_(String.raw`a\"`, 'planted'),
      with_('a"b', 'of somebody else'),
      with_(String.raw`x\\`, 'planted'),
      with_(String.raw`x\y`, 'of somebody else'),
    ];
    await used.queues.enqueue(...jobs);
    const got = new Collected<QueuedJob>();
    await serve(used.queues, lane, async ({ job: taken }) => {
      got.add(taken);
      return 'done';
    });
    expect((await got.reach(jobs.length)).map(({ records }) => records)).toEqual(
      jobs.map(({ records }) => records),
    );
  });
});
