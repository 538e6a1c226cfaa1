/** A tenant is erased with every row that is its own, and with none of another's. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { tenantErased } from '../../src/contract/admin.ts';
import { auditPage } from '../../src/contract/people.ts';
import { codeOf, PRINTER } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { TestTenant, useService } from '../kit/service/use-service.ts';

/** Tables in which nothing is a tenant's, or which name a tenant for longer than it is there: the audit. */
const UNTOUCHED = [
  'lanes.migrations',
  'lanes.report',
  'platen.certificates',
  'platen.migrations',
  'platen.signing_keys',
  'platen.token_failures',
  'platen.usage_days_done',
  'platen.virtual_printers',
];
const counted = z.object({ name: z.string(), rows: z.coerce.number() });

describe.each([
  ['PostgreSQL', false],
  ['Redis', true],
])('with the lanes in %s', (_name, redis) => {
  const service = useService({ redis });
  const untouched = [...UNTOUCHED, ...(redis ? ['lanes.job', 'lanes.lease'] : [])];

  /** How many rows each table has, by the catalogue. */
  async function counts(): Promise<Record<string, number>> {
    const { rows } = await service.pool.query(
      `SELECT table_schema || '.' || table_name AS name, (xpath('/row/c/text()', query_to_xml(
         'SELECT count(*) AS c FROM ' || table_schema || '.' || table_name, false, true, '')))[1]::text AS rows
       FROM information_schema.tables WHERE table_schema IN ('platen', 'lanes') ORDER BY 1`,
    );
    return Object.fromEntries(
      z
        .array(counted)
        .parse(rows)
        .map((one) => [one.name, one.rows]),
    );
  }

  /** A tenant with a row in every table. */
  async function populated(id: string): Promise<{ tenant: TestTenant; job: string }> {
    const tenant = new TestTenant(service, id);
    await tenant.open({});
    await service.admin('PUT', `/tenants/${id}/quota`, { labels: 100 });
    await service.agent(
      [{ id: `serial-00000000${id.replace('-', '')}`, name: `own ${id}`, state: 'stopped' }],
      {
        agentId: `agent-${id}`,
        tenantId: id,
      },
    );
    const job = await tenant.newJob({ data: [{ sku: 'sku-4711' }] });
    await expect.poll(async () => (await service.admin('POST', `/jobs/${job}/cancel`, {})).status).toBe(200);
    // On Redis it is in no lane yet, perhaps, and is canceled when it is.
    await expect
      .poll(async () => (await service.admin('GET', `/jobs/${job}`)).body)
      .toMatchObject({ status: 'canceled' });
    await service.pool.query(
      `INSERT INTO platen.job_traces (job_id, trace, span, began_at, answered_at) VALUES ($1, 't', 's', now(), now())`,
      [job],
    );
    const [person, webhook, message] = [randomUUID(), randomUUID(), randomUUID()];
    const write = (sql: string, ...values: unknown[]) => service.pool.query(sql, values);
    await write(
      `INSERT INTO platen.people (id, tenant_id, login, name, role) VALUES ($1, $2, 'ann', 'Ann', 'admin')`,
      person,
      id,
    );
    for (const sql of [
      `INSERT INTO platen.one_time_tokens VALUES (sha256($1::text::bytea), $1::text::uuid, 'sign-in', now() + interval '1 h')`,
      `INSERT INTO platen.sessions (token_hash, person_id, expires_at) VALUES (sha256($1::text::bytea), $1::text::uuid, now() + interval '1 h')`,
      `INSERT INTO platen.passkeys (id, person_id, name, public_key, counter, transports) VALUES ($1::text, $1::text::uuid, 'k', '', 0, '{}')`,
      `INSERT INTO platen.passkey_challenges VALUES ($1::text, $1::text::uuid, now() + interval '1 h')`,
    ])
      await write(sql, person);
    await write(
      `INSERT INTO platen.provider_subjects (tenant_id, issuer, subject, person_id) VALUES ($1, 'i', 's', $2)`,
      id,
      person,
    );
    await write(`INSERT INTO platen.usage_days VALUES ($1, '2026-01-01', 't', 'p', 't', 'p', 1, 1)`, id);
    await write(`INSERT INTO platen.template_drafts (template_id, body) VALUES ($1, '{}')`, tenant.idT);
    await write(`INSERT INTO platen.lane_settings (lane, hidden) VALUES ($1 || '/own', true)`, id);
    await write(
      `INSERT INTO platen.webhooks (id, tenant_id, url, events, sealed, disabled_at) VALUES ($1, $2, 'https://x', '{}', '', now())`,
      webhook,
      id,
    );
    await write(
      `INSERT INTO platen.webhook_messages (id, webhook_id, event, due_at) VALUES ($1, $2, 'webhook.test', NULL)`,
      message,
      webhook,
    );
    await write(`INSERT INTO platen.webhook_attempts (message_id, ms, answer) VALUES ($1, 1, '')`, message);
    await write(
      `INSERT INTO platen.alerts (webhook_id, kind, subject, item, message) VALUES ($1, 'alert.agent', 'a', '{}', $1)`,
      webhook,
    );
    await write(
      `INSERT INTO platen.agent_invitations (code_hash, tenant_id, name, expires_at) VALUES (sha256($1::text::bytea), $1, 'a', now())`,
      id,
    );
    await write(
      `INSERT INTO platen.enrolled_agents (id, tenant_id, name, public_key, origin) VALUES ('at-' || $1, $1, 'a', 'k', 'o')`,
      id,
    );
    await write(
      `INSERT INTO platen.brought_printers (agent_id, printer_id, name, state) VALUES ('at-' || $1, 'p', 'p', 'waiting')`,
      id,
    );
    await write(
      `INSERT INTO platen.added_printers (agent_id, uri, said, added_by) VALUES ('agent-' || $1, 'u', '{}', 'ann')`,
      id,
    );
    await write('INSERT INTO platen.printnode_counters VALUES ($1, 2)', id);
    await write(`INSERT INTO platen.printnode_numbers VALUES ($1, 'account', $1, 1)`, id);
    await write(
      `INSERT INTO platen.printnode_jobs (tenant_id, number, job_id, content_type, expires_at) VALUES ($1, 2, $2, 't', now())`,
      id,
      job,
    );
    // One has become a job, one still waits for its document.
    for (const [number, of] of [
      [3, job],
      [4, null],
    ])
      await write(
        `INSERT INTO platen.ipp_jobs (tenant_id, number, printer_id, test, ticket, job_id) VALUES ($1, $2, 'p', false, '{}', $3)`,
        id,
        number,
        of,
      );
    if (!redis) {
      // What is remembered of jobs that have ended, at a shared printer and at one of its own.
      await write(
        `INSERT INTO lanes.job (lane, queue_id, ended_at) VALUES ($1, $2, now()) ON CONFLICT DO NOTHING`,
        PRINTER,
        job,
      );
      await write(`INSERT INTO lanes.job (lane, queue_id, ended_at) VALUES ($1 || '/own', $1, now())`, id);
      await write(`INSERT INTO lanes.lease (lane) VALUES ($1 || '/own')`, id);
    }
    return { tenant, job };
  }

  const erase = (id: string) => service.admin('DELETE', `/tenants/${id}`);
  const stopped = (id: string) => service.agent([], { agentId: `agent-${id}`, tenantId: id, online: false });

  test('all tables are afterwards as they were before it came, but for the audit', async () => {
    // A tenant whose ID begins as the other's does.
    const other = await populated('acme-2');
    const before = await counts();
    await populated('acme');
    const full = await counts();
    const grown = Object.keys(full).filter((name) => (full[name] ?? 0) > (before[name] ?? 0));
    // A new table belongs here, or to those that hold nothing of a tenant's.
    expect([...grown, ...untouched].sort()).toEqual(Object.keys(full).sort());

    await stopped('acme');
    const answer = await erase('acme');
    expect(answer.status).toBe(200);
    expect(tenantErased.parse(answer.body)).toMatchObject({ tenant: 'acme', erased: true, jobs: 1 });
    const after = await counts();
    expect(after['platen.audit']).toBe((full['platen.audit'] ?? 0) + 1);
    // The service itself writes into those at any time.
    for (const name of ['platen.audit', ...UNTOUCHED]) for (const all of [before, after]) delete all[name];
    expect(after).toEqual(before);

    expect(codeOf(await erase('acme'))).toBe('tenant-not-found');
    const { body } = await service.admin('GET', `/jobs/${other.job}`);
    expect(body).toMatchObject({ tenant: 'acme-2', status: 'canceled' });
    expect((await other.tenant.enqueue({ data: [{ sku: 'b' }] })).status).toBe(201);
  });

  test('with a job under way or an agent that runs it is refused, and all of it stays', async () => {
    const { tenant, job } = await populated('busy');
    const full = await counts();
    expect(codeOf(await erase('busy'))).toBe('tenant-busy');
    await stopped('busy');
    await service.pool.query(`UPDATE platen.jobs SET status = 'printing' WHERE id = $1`, [job]);
    const answer = await erase('busy');
    expect([answer.status, codeOf(answer)]).toEqual([409, 'tenant-busy']);
    expect(await counts()).toMatchObject({
      'platen.jobs': full['platen.jobs'],
      'platen.people': full['platen.people'],
    });
    expect((await tenant.validate({ data: [{ sku: 'a' }] })).status).toBe(200);
    // A look at what is under way may say once more what it saw before; and on a busy machine its cancellation is not over yet.
    await vi.waitFor(
      async () => {
        await service.pool.query(
          `UPDATE platen.jobs SET status = 'held', cancel_requested_at = NULL WHERE id = $1`,
          [job],
        );
        const erased = await erase('busy');
        expect(erased.status, erased.text).toBe(200);
      },
      { timeout: 30_000 },
    );
    expect((await tenant.validate({ data: [{ sku: 'a' }] })).status).toBe(401);
  });

  test('more jobs than one statement deletes', async () => {
    await populated('large');
    await stopped('large');
    await service.pool.query(
      `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name, format,
         orientation, copies, records, status)
       SELECT gen_random_uuid(), 'large', 'a', 't', 't', 'p', 'p', 'f', 'portrait', 1, 1, 'printed' FROM generate_series(1, 1200)`,
    );
    expect(tenantErased.parse((await erase('large')).body)).toMatchObject({ erased: true, jobs: 1_201 });
  });

  test('whoever has its ID afterwards does not see what the audit says of it', async () => {
    const seen = async () => {
      const admin = await SignedIn.as(service, 'again', 'admin');
      const { entries } = auditPage.parse((await admin.call('/app/audit?limit=1000')).body);
      return entries.map(({ what, object }) => ({ what, object }));
    };
    const { tenant } = await populated('again');
    await stopped('again');
    expect(await seen()).toContainEqual({ what: 'template.import', object: tenant.idT });
    expect((await erase('again')).status).toBe(200);
    await service.admin('POST', '/tenants', { id: 'again', name: 'again' });
    const found = await seen();
    expect(found.map(({ what }) => what)).toContain('tenant.create');
    expect(found).not.toContainEqual({ what: 'template.import', object: tenant.idT });
    expect(found.map(({ what }) => what)).not.toContain('tenant.erase');
    // The deployment's own people look at all of it.
    const all = auditPage.parse((await service.admin('GET', '/audit?limit=1000')).body).entries;
    expect(all).toContainEqual(expect.objectContaining({ what: 'tenant.erase', tenant: 'again' }));
  });
});
