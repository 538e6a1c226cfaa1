/** The template of a job, once for all jobs that print it as it is. */
import { expect, test } from 'vitest';
import { serverConfig } from '../../src/server/config.ts';
import { forgetJobs } from '../../src/server/jobs/outcome/retention.ts';
import { useDeliveries } from '../kit/service/deliveries.ts';
import { TEMPLATE } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service);
const globex = useTenant(service, { id: 'globex', printers: [] });
const deliveries = useDeliveries(service);

async function stored(tenant: string): Promise<string[]> {
  const sql = `SELECT encode(hash, 'hex') AS hash FROM platen.job_templates WHERE tenant_id = $1 ORDER BY used_at`;
  const { rows } = await service.pool.query<{ hash: string }>(sql, [tenant]);
  return rows.map(({ hash }) => hash);
}

async function stop(id: string): Promise<void> {
  await service.pool.query(
    `UPDATE platen.jobs SET status = 'printed', updated_at = now() - interval '30 days' WHERE id = $1`,
    [id],
  );
}

async function unused(tenant: string): Promise<void> {
  const sql = `UPDATE platen.job_templates SET used_at = now() - interval '25 hours' WHERE tenant_id = $1`;
  await service.pool.query(sql, [tenant]);
}

const forget = () => forgetJobs(service.pool, serverConfig.parse({}).retention);

test('jobs of one template share it, and each is delivered whole', async () => {
  const ids = [
    await acme.newJob({ data: [{ sku: 'a' }] }),
    await acme.newJob({ data: [{ sku: 'b', name: 'two' }] }),
  ];
  expect(await stored('acme')).toHaveLength(1);
  const { rows } = await service.pool.query(
    `SELECT payload -> 'template' AS template FROM platen.jobs WHERE id = ANY($1)`,
    [ids],
  );
  expect(rows).toEqual([{ template: null }, { template: null }]);
  const [first, second] = [await deliveries.of(ids[0] ?? ''), await deliveries.of(ids[1] ?? '')];
  expect(first.template).toMatchObject({ name: TEMPLATE.name, width: TEMPLATE.width });
  expect(second).toMatchObject({ template: first.template, records: [{ sku: 'b', name: 'two' }] });
});

test('a template that is edited is another one, and what was accepted before keeps its own', async () => {
  const before = await acme.newJob();
  await service.admin('PUT', `/tenants/acme/templates/${acme.idT}/name`, { name: 'Edited' });
  const after = await acme.newJob();
  expect((await deliveries.of(before)).template.name).toBe(TEMPLATE.name);
  expect((await deliveries.of(after)).template.name).toBe('Edited');
  expect(await stored('acme')).toHaveLength(2);
});

test('another tenant has its own, of the same content too', async () => {
  const id = await globex.newJob();
  expect((await deliveries.of(id)).template.name).toBe(TEMPLATE.name);
  const [own] = await stored('globex');
  expect(await stored('acme')).toContain(own);
});

test('it stays for as long as a job has its data, and goes a day after', async () => {
  const id = await globex.newJob();
  await deliveries.of(id);
  await unused('globex');
  await forget();
  expect(await stored('globex')).toHaveLength(1);
  await service.pool.query(
    `UPDATE platen.jobs SET status = 'printed', updated_at = now() - interval '30 days' WHERE tenant_id = 'globex'`,
  );
  await stop(id);
  // A row that somebody has in hand at that moment is left for the next time.
  const left = async () => {
    await forget();
    return await stored('globex');
  };
  await expect.poll(left, { timeout: 10_000 }).toEqual([]);
});

test('one that was deleted although this service took it to be there is stored again', async () => {
  // Deleted by the test before.
  const id = await globex.newJob();
  expect((await deliveries.of(id)).template.name).toBe(TEMPLATE.name);
});
