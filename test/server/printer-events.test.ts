/** The events of printers that webhooks tell: that one needs somebody, and that it is ready again, each once. */
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { PrinterDescription } from '../../src/contract/printer.ts';
import { readReport } from '../../src/contract/read-report.ts';
import { webhookMessage, webhookSecret } from '../../src/contract/webhook.ts';
import { Reports } from '../../src/server/jobs/outcome/reports.ts';
import { createPool } from '../../src/server/store/pool.ts';
import { describePrinter, PRINTER } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';
import { useWebhookReceiver, verified } from '../kit/wire/webhook-receiver.ts';

const service = useService({ redis: false, config: { webhookAllow: ['127.0.0.0/8'] } });
const receiver = useWebhookReceiver(service);
beforeAll(async () => {
  for (const tenant of ['acme', 'globex']) await service.tenant(tenant);
});
beforeEach(async () => {
  await service.pool.query('TRUNCATE platen.agents, platen.printer_attention CASCADE');
});

const OWN = 'serial-0b0b0b0b0b0b';
const empty: Partial<PrinterDescription> = { state: 'stopped', reasons: ['media-empty'] };
const told = async () =>
  (
    await service.pool.query<{ event: string; tenant: string; printer: object }>(
      `SELECT m.event, w.tenant_id AS tenant, m.printer FROM platen.webhook_messages m
       JOIN platen.webhooks w ON w.id = m.webhook_id ORDER BY m.at, w.tenant_id`,
    )
  ).rows;
const events = async () => (await told()).map(({ event }) => event);
const create = (tenant: string, path: string, more: object = {}) =>
  service.admin('POST', `/tenants/${tenant}/webhooks`, { url: receiver.base + path, ...more });
const at = (agentId: string, printer: Partial<PrinterDescription>, tenantId: string | null = null) =>
  service.agent([printer], { agentId, tenantId });
test('a printer that needs somebody is said once, and once that it is ready, signed and as its address says', async () => {
  const { id, secret } = webhookSecret.parse((await create('acme', '/printer')).body);
  await at('agent-one', {});
  await at('agent-one', { state: 'processing' });
  await at('agent-one', empty);
  await at('agent-one', empty);
  await at('agent-one', { state: 'stopped', reasons: ['media-empty', 'cover-open'] });
  await at('agent-one', { state: 'unknown', reasons: ['offline'] });
  await at('agent-one', { state: 'idle', reasons: ['media-low'] });
  await at('agent-one', { state: 'processing' });
  const shown = { id: PRINTER, name: 'Zebra' };
  expect((await told()).map(({ event, printer }) => [event, printer])).toEqual([
    ['printer.attention', { ...shown, status: 'stopped', reasons: ['media-empty'] }],
    ['printer.ready', { ...shown, status: 'idle', reasons: ['media-low'] }],
  ]);
  const bodies = (await receiver.arrived('/printer', 2)).map((one) => verified(one, secret));
  expect(bodies.map(({ type }) => type).toSorted()).toEqual(['printer.attention', 'printer.ready']);
  expect(bodies.map(({ data }) => data)).toContainEqual({
    ...shown,
    status: 'stopped',
    reasons: ['media-empty'],
  });
  const log = await service.admin('GET', `/tenants/acme/webhooks/${id}/messages`);
  expect(
    z
      .array(webhookMessage)
      .parse(log.body)
      .map(({ job, printer }) => [job, printer]),
  ).toEqual([
    [null, PRINTER],
    [null, PRINTER],
  ]);
});

test('a printer that tenants share is told to each; a tenant’s own only to it, in place of a shared one', async () => {
  await create('acme', '/acme');
  await create('globex', '/globex');
  await at('agent-one', empty);
  expect((await told()).map(({ tenant }) => tenant)).toEqual(['acme', 'globex']);
  await at('agent-of-acme', { id: OWN, ...empty }, 'acme');
  expect((await told()).slice(2)).toMatchObject([{ tenant: 'acme', printer: { id: OWN } }]);
  // Jobs of acme that name this ID go to its own printer.
  await at('agent-of-acme', { id: PRINTER }, 'acme');
  await at('agent-one', {});
  expect((await told()).slice(3)).toMatchObject([{ tenant: 'globex', event: 'printer.ready' }]);
});

test('a printer that people have hidden is not told of, nor is one told where only jobs are asked for', async () => {
  await create('acme', '/jobs', { events: ['job.printed', 'job.failed'] });
  await create('globex', '/printers', { events: ['printer.ready'] });
  await at('agent-one', empty);
  expect(await events()).toEqual([]);
  await service.admin('POST', `/printers/${PRINTER}/hide`);
  await at('agent-one', {});
  await service.admin('POST', `/printers/${PRINTER}/show`);
  expect(await events()).toEqual([]);
  await service.admin('PUT', `/printers/${PRINTER}/name`, { name: 'Dock 1' });
  await at('agent-one', empty);
  await at('agent-one', {});
  expect(await told()).toMatchObject([{ event: 'printer.ready', printer: { name: 'Dock 1' } }]);
  await service.admin('PUT', `/printers/${PRINTER}/name`, { name: null });
});

test('a printer of several agents is told of by the one that reaches it, and once where all say it at the same moment', async () => {
  await create('acme', '/several', { events: ['printer.attention', 'printer.ready'] });
  await at('agent-one', {});
  await at('agent-two', { state: 'unknown', reasons: ['offline'] });
  await at('agent-two', { state: 'unknown' });
  expect(await events()).toEqual([]);
  await at('agent-one', empty);
  expect(await events()).toEqual(['printer.attention']);
  await at('agent-two', { state: 'stopped', reasons: ['cover-open'] });
  await at('agent-one', {});
  expect(await events()).toEqual(['printer.attention', 'printer.ready']);
  await at('agent-two', {});
  const lost: Partial<PrinterDescription> = { state: 'unknown', reasons: ['offline'] };
  await Promise.all([at('agent-one', lost), at('agent-two', lost)]);
  expect(await events()).toEqual(['printer.attention', 'printer.ready', 'printer.attention']);
  // An agent that is gone for good has no word any more.
  await service.pool.query("UPDATE platen.agents SET seen_at = now() - interval '1 minute'");
  await at('agent-two', {});
  expect((await events()).at(-1)).toBe('printer.ready');
});

test('a report costs no statement more where there is no endpoint, and leaves nothing behind when the printer is forgotten', async () => {
  const statements: string[] = [];
  const pool = createPool({ database: service.backend.database, max: 1, logger: service.logger });
  onTestFinished(() => pool.end());
  pool.on('connect', (client) => {
    const { query } = client;
    vi.spyOn(client, 'query').mockImplementation((...asked: unknown[]) => {
      statements.push(String(asked[0]));
      return Reflect.apply(query, client, asked);
    });
  });
  const reports = new Reports(pool, service.logger);
  let clock = Date.now() + 60_000;
  const sent = async (...printers: Partial<PrinterDescription>[]) => {
    statements.length = 0;
    clock += 1;
    const read = readReport({
      ...{ kind: 'agent', agentId: 'agent-one', name: 'Agent one', version: '0.1.0', tenantId: null },
      ...{ at: new Date(clock).toISOString(), online: true, printers: printers.map(describePrinter) },
    });
    if ('report' in read) await reports.apply([{ report: read.report, ageMs: 0 }]);
    return [...statements];
  };
  await sent({});
  const usual = await sent({ name: 'Other' });
  expect(usual).toHaveLength(6);
  expect(await sent(empty)).toEqual(usual);
  expect(await sent({})).toEqual(usual);
  expect(await sent(empty)).toEqual(usual);
  const rows = async () => (await service.pool.query('SELECT FROM platen.printer_attention')).rowCount;
  expect(await rows()).toBe(1);
  await sent();
  expect(await service.admin('DELETE', `/printers/${PRINTER}`)).toMatchObject({ status: 204 });
  expect(await rows()).toBe(0);
  expect(await events()).toEqual([]);
});
