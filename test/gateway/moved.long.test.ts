/** `platen agent` as a process whose service gives it to another tenant, in the middle of a job. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { readEnrolment } from '../../src/cli/enrolment.ts';
import { ServiceMetrics } from '../../src/server/service-metrics.ts';
import { TestPrinter } from '../kit/agent/site.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { Programs } from '../kit/programs/programs.ts';
import { jobIdOf } from '../kit/service/harness.ts';
import { NUMBERED } from '../kit/service/small-label.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService({ redis: false });
const { directories, enrolled } = useEnrolments(service);
const programs = new Programs();

beforeAll(async () => {
  for (const tenant of ['acme', 'globex', 'default']) await service.tenant(tenant);
});
afterAll(() => programs.end());

async function printersOf(tenant: string): Promise<string[]> {
  const { body } = await service.admin('GET', `/printers?tenant=${tenant}`);
  return z
    .array(z.object({ name: z.string(), status: z.string() }))
    .parse(body)
    .filter(({ status }) => status !== 'offline')
    .map(({ name }) => name);
}

async function job(tenant: string, copies: number) {
  const idT = await service.template(tenant, NUMBERED);
  const body = { idT, printer: 'Dock', numberCopies: copies, data: [{ n: '1' }] };
  const accepted = await service.admin('POST', `/tenants/${tenant}/jobs`, body);
  expect(accepted.status, accepted.text).toBe(201);
  return jobIdOf(accepted);
}

const seen = { timeout: 120_000, interval: 100 };
const printed = (id: string) =>
  expect
    .poll(async () => (await service.admin('GET', `/jobs/${id}`)).text, seen)
    .toContain('"status":"printed"');

/** A printer of four labels a second, and what an agent of `acme` has in its data directory and its command line. */
async function site() {
  const printer = new TestPrinter(directories, { speed: 4 });
  await printer.start();
  const dataDir = directories.make();
  const config = join(directories.make(), 'agent.json');
  const entry = { uri: printer.uri, name: 'Dock', dpi: 203, width: 50, height: 25 };
  writeFileSync(config, JSON.stringify({ renderThreads: 1, printers: [entry] }));
  const { agentId } = await enrolled({ name: 'Dock Hamburg', tenant: 'acme' }, dataDir);
  return { printer, dataDir, agentId, args: ['agent', '--data', dataDir, '--config', config] };
}

test('it finishes its job, and prints for the other tenant from then on, also after a start', async () => {
  const { printer, dataDir, agentId, args } = await site();
  const agent = programs.start(PLATEN, args);
  await expect.poll(() => printersOf('acme'), seen).toEqual(['Dock']);
  const first = await job('acme', 12);
  await expect.poll(() => printer.odometer, seen).toBeGreaterThan(0);
  expect((await service.admin('POST', `/agents/${agentId}/move`, { tenant: 'globex' })).status).toBe(204);
  await expect.poll(() => printersOf('globex'), seen).toEqual(['Dock']);
  expect(await printersOf('acme')).toEqual([]);
  await printed(first);
  expect(printer.odometer).toBe(12);
  await printed(await job('globex', 2));
  expect(printer.odometer).toBe(14);
  // What nobody can scrape there, the service tells.
  const registry = new Registry();
  new ServiceMetrics(registry, { pool: service.pool, checks: { load: { busy: 0, idle: 1, wanted: 0 } } });
  const told = () => registry.metrics();
  await expect.poll(told, seen).toContain(`platen_site_first_bytes_total{agent="${agentId}"} 1\n`);
  // A report may have been made while the job was still in hand.
  await expect.poll(told, seen).toContain(`platen_site_jobs_in_hand{agent="${agentId}"} 0\n`);
  expect(await told()).toMatch(/^platen_site_resident_memory_bytes\{agent="[\w-]+"\} \d{8,}$/m);
  expect(await readEnrolment(dataDir)).toMatchObject({ agentId, scope: 'globex' });
  await agent.end();
  programs.start(PLATEN, args);
  await printed(await job('globex', 1));
  expect(printer.odometer).toBe(15);
  await printer.stop();
}, 400_000);

test('where the move is withdrawn while it finishes its job, it prints for its tenant again', async () => {
  const { printer, agentId, args } = await site();
  const agent = programs.start(PLATEN, args);
  await expect.poll(() => printersOf('acme'), seen).toEqual(['Dock']);
  const first = await job('acme', 12);
  await expect.poll(() => printer.odometer, seen).toBeGreaterThan(0);
  const move = (tenant: string) => service.admin('POST', `/agents/${agentId}/move`, { tenant });
  expect((await move('globex')).status).toBe(204);
  await expect.poll(() => agent.said(), seen).toContain('moves this agent to another tenant');
  expect((await move('acme')).status).toBe(204);
  await printed(first);
  await printed(await job('acme', 1));
  expect(printer.odometer).toBe(13);
  await agent.end();
  await printer.stop();
}, 400_000);
