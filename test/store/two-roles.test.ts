/**
 * Service and lanes share a database and call each other's functions, but neither reads the other's tables: here each
 * is a role of its own, which could not.
 */
import { expect, onTestFinished, test } from 'vitest';
import { Collected } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { administer, onServer } from '../kit/servers/backends.ts';
import { jobIdOf, newKey, PRINTER, ServiceHarness } from '../kit/service/harness.ts';

test('a job goes from acceptance to its end, each side by a role of its own', async () => {
  const opened = await onServer().open({ migrated: true });
  const role = (of: string) =>
    `${opened.database.database ?? new URL(opened.databaseUrl ?? '').pathname.slice(1)}_${of}`;
  onTestFinished(async () => {
    await opened.close();
    for (const of of ['platen', 'lanes'])
      await administer(ownersDatabase(opened.databaseUrl), `DROP ROLE ${role(of)}`);
  });
  for (const of of ['platen', 'lanes']) await administer(opened.database, ownedBy(of, role(of)));
  const as = (of: string) => ({ ...opened.database, options: `-c role=${role(of)}` });
  const service = await ServiceHarness.start({
    backend: { ...opened, database: as('lanes') },
    database: as('platen'),
    config: { sweepInterval: 100 },
  });
  onTestFinished(() => service.stop());
  await expect(service.pool.query('SELECT * FROM lanes.job')).rejects.toMatchObject({ code: '42501' });

  await service.tenant('acme');
  const idT = await service.template('acme');
  await service.agent([{ id: PRINTER, name: 'Dock' }], { agentId: 'agent-of-dock' });
  const token = await service.token(await service.integration('acme'));
  const body = { idT, printerId: PRINTER, data: [{ sku: 'a' }] };
  const id = jobIdOf(await service.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body }));
  const got = new Collected<unknown>();
  const consumer = await serve(service.queues, PRINTER, async ({ job }) => {
    got.add([job.jobId, job.records, job.template.name]);
    return 'done';
  });
  expect(await got.reach(1)).toEqual([[id, [{ sku: 'a' }], 'Shelf label']]);
  await expect.poll(() => service.queues.look(PRINTER, id)).toMatchObject({ state: 'ended' });
  await consumer.stop();

  // A lane that has lost a job gets it again from the sweep, which has to ask the lane.
  const lost = jobIdOf(await service.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body }));
  await administer(as('lanes'), `DELETE FROM lanes.job WHERE queue_id = '${lost}'`);
  await service.pool.query(`UPDATE platen.jobs SET dispatched_at = now() - interval '1 hour' WHERE id = $1`, [
    lost,
  ]);
  await expect.poll(() => service.queues.look(PRINTER, lost)).toMatchObject({ state: 'waiting' });
});

function ownersDatabase(databaseUrl: string | undefined) {
  const url = new URL(databaseUrl ?? '');
  url.pathname = '/postgres';
  return { connectionString: url.href };
}

/** Gives a schema and all in it to a role, as which its functions then run whoever calls them. */
function ownedBy(schema: string, role: string): string {
  return `
    CREATE ROLE ${role};
    DO $$
    DECLARE
      statement text;
    BEGIN
      EXECUTE format('GRANT CREATE ON DATABASE %I TO ${role}', current_database());
      FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO ${role}', c.oid::regclass) FROM pg_class c
          WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'
        UNION ALL SELECT format('ALTER FUNCTION %s OWNER TO ${role}', p.oid::regprocedure) FROM pg_proc p
          WHERE pronamespace = '${schema}'::regnamespace
        UNION ALL SELECT format('ALTER FUNCTION %s SECURITY DEFINER', p.oid::regprocedure) FROM pg_proc p
          WHERE pronamespace = '${schema}'::regnamespace
      LOOP
        EXECUTE statement;
      END LOOP;
      ALTER SCHEMA ${schema} OWNER TO ${role};
      GRANT USAGE ON SCHEMA ${schema} TO PUBLIC;
    END $$;`;
}
