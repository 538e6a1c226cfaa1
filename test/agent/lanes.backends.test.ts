/** Two tenants' agents, at printers that bear one serial number: each prints its own tenant's labels, and no other. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';
import { unfinished } from '../kit/queue/unfinished.ts';
import { tried } from '../kit/servers/backends.ts';

describe.each(tried(agentBackends().filter(({ embedded }) => !embedded)))('on $name', (backend) => {
  const site = useSite(backend);

  async function twoTenants() {
    const serial = randomUUID();
    const printers = {
      acme: await site.startPrinter({ serial }),
      globex: await site.startPrinter({ serial }),
      shared: await site.startPrinter({ serial }),
    };
    const ids = [
      (await site.startAgent(printers.acme, { config: { tenantId: 'acme' } })).printerId,
      (await site.startAgent(printers.globex, { config: { tenantId: 'globex' } })).printerId,
      (await site.startAgent(printers.shared)).printerId,
    ];
    expect(new Set(ids).size).toBe(1);
    const [printerId = ''] = ids;
    const job = (scope: string | null, records: string[]): QueuedJob => ({
      ...jobFor(printerId, records),
      tenantId: scope ?? 'acme',
      scope,
    });
    return { printers, job };
  }

  it("prints a tenant's labels at that tenant's printer", async () => {
    const { printers, job } = await twoTenants();
    const jobs = {
      acme: job('acme', ['a1', 'a2', 'a3']),
      globex: job('globex', ['g1', 'g2']),
      shared: job(null, ['s1']),
    };
    await site.queues.enqueue(...Object.values(jobs));
    for (const { jobId } of Object.values(jobs))
      expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed' });
    expect(printers.acme.labels).toEqual(expected(jobs.acme));
    expect(printers.globex.labels).toEqual(expected(jobs.globex));
    expect(printers.shared.labels).toEqual(expected(jobs.shared));
  });

  it('prints no job of another tenant that is in its lane, and goes on with the next', async () => {
    const { printers, job } = await twoTenants();
    const [foreign, own] = [job('globex', ['g1']), job('acme', ['a1'])];
    const lane = laneOf(own);
    await misplace(foreign, own);
    expect(await site.print(own)).toMatchObject({ status: 'printed' });
    expect(printers.acme.labels).toEqual(['a1']);
    expect(site.reports.of(foreign.jobId)).toEqual([]);
    await expect.poll(() => unfinished(site.queues, lane, [foreign.jobId, own.jobId])).toBe(0);
    // Where it belongs, it is not known yet: there it is added, and printed.
    expect(await site.queues.look(laneOf(foreign), foreign.jobId)).toBeNull();
    expect(await site.print(foreign)).toMatchObject({ status: 'printed' });
    expect(printers.globex.labels).toEqual(['g1']);
  });

  /** Puts a job into the lane of another one, as only a fault of the service, or a stranger at the queue, could. */
  async function misplace(job: QueuedJob, into: QueuedJob): Promise<void> {
    await site.enqueue({ ...job, scope: into.scope, toJSON: () => job });
  }
});
