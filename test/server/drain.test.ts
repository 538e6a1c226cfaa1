/** An instance that was told to stop says so before it does, and serves meanwhile. */
import { expect, test } from 'vitest';
import { codeOf } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService({ redis: false, config: { drainSeconds: 3 } });
const acme = useTenant(service);

test('/readyz is 503 while requests are still answered, and then nothing is', async () => {
  expect((await service.call('/readyz')).status).toBe(200);
  const over = service.stop();
  const ready = await service.call('/readyz');
  expect([ready.status, codeOf(ready)]).toEqual([503, 'not-ready']);
  expect((await service.call('/healthz')).status).toBe(200);
  expect((await acme.enqueue()).status).toBe(201);
  await over;
  await expect(service.call('/healthz')).rejects.toThrow('fetch failed');
});
