/** How many labels of a tenant `POST /v2/labels` draws at a time. */
import pino from 'pino';
import { expect, test } from 'vitest';
import { CheckPool } from '../../src/rendering/check-pool.ts';
import { RenderedLabels } from '../../src/server/jobs/accept/rendered-labels.ts';
import { ProblemError } from '../../src/server/problems.ts';

test('a tenant’s fifth request at a time is refused, another tenant’s is not, and one that ends makes room', async () => {
  const asked: PromiseWithResolvers<never>[] = [];
  const templates = {
    get: () => {
      const one = Promise.withResolvers<never>();
      asked.push(one);
      return one.promise;
    },
  };
  const labels = new RenderedLabels(
    templates,
    new CheckPool({ threads: 2, logger: pino({ level: 'silent' }) }),
  );
  const ask = (tenant: string) => labels.file(tenant, { idT: 't' });
  const refused = { code: 'too-many-requests', headers: { 'retry-after': '1' } };
  const unknown = new ProblemError('template-not-found', 'there is none');
  const inHand = [ask('acme'), ask('acme'), ask('acme'), ask('acme')];
  inHand.push(ask('globex'));
  await expect(ask('acme')).rejects.toMatchObject(refused);
  expect(asked).toHaveLength(5);

  asked[0]?.reject(unknown);
  await expect(inHand[0]).rejects.toBe(unknown);
  inHand.push(ask('acme'));
  await expect(ask('acme')).rejects.toMatchObject(refused);
  expect(asked).toHaveLength(6);

  for (const { reject } of asked) reject(unknown);
  const ends = await Promise.allSettled(inHand);
  expect(ends.map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
});
