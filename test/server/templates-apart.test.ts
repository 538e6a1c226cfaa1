/** On Redis, templates are kept beside a lane once every agent of its printer reports that it looks there. It needs Redis. */
import { expect, test, vi } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import { TEMPLATES_APART } from '../../src/contract/report.ts';
import { BreakableQueue } from '../kit/queue/breakable-queue.ts';
import { serve } from '../kit/queue/serving.ts';
import { jobIdOf, newKey } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const queue = new BreakableQueue();
const service = useService({ queue: (real) => queue.over(real) });

test('an agent of a version before has its jobs whole, whoever else has the printer', async () => {
  await service.tenant('acme');
  const token = await service.token(await service.integration('acme'));
  const idT = await service.template('acme');
  const lane = laneOf({ scope: null, printerId: 'serial-0a1b2c3d4e5f' });
  const added = vi.spyOn(queue, 'enqueueMany');
  let jobs = 0;
  const apart = async () => {
    const body = { idT, printerId: lane, data: [{ sku: 'a' }] };
    const id = jobIdOf(await service.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body }));
    await expect.poll(() => service.queues.has(lane, id)).toBe(true);
    jobs += 1;
    return added.mock.lastCall?.[1]?.has(lane);
  };
  const printers = [{ id: lane, name: 'Dock' }];
  const [older, newer] = [{ agentId: 'agent-older' }, { agentId: 'agent-newer' }];
  const knows = [TEMPLATES_APART, 'what nobody knows yet'];

  await service.agent(printers, older);
  expect(await apart()).toBe(false);
  await service.agent(printers, { ...newer, knows });
  expect(await apart()).toBe(false);
  await service.agent(printers, { ...older, knows });
  expect(await apart()).toBe(true);
  // An agent that has the printer no more is not asked; one that goes back to a version before is.
  await service.agent([], older);
  expect(await apart()).toBe(true);
  await service.agent(printers, newer);
  expect(await apart()).toBe(false);

  const all = Promise.withResolvers<void>();
  const skus: unknown[] = [];
  await serve(service.queues, lane, async ({ job }) => {
    skus.push([job.template.name, job.records]);
    if (skus.length === jobs) all.resolve();
    return 'done';
  });
  await all.promise;
  expect(new Set(skus.map((one) => JSON.stringify(one))).size).toBe(1);
});
