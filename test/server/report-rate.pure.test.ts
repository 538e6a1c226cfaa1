/** How fast the reports of an agent at another site are taken: what counts for how much. */
import { expect, test } from 'vitest';
import type { AgentStateReport, Report } from '../../src/contract/report.ts';
import { ReportRate } from '../../src/server/gateway/report-rate.ts';
import { describePrinter } from '../kit/service/harness.ts';

const agentId = 'agent-at-another-site';
const at = '2026-11-29T20:00:00.000Z';
const state = (printers: number): AgentStateReport => ({
  ...{ kind: 'agent', agentId, name: 'x', version: '1', tenantId: null, at, online: true },
  printers: Array.from({ length: printers }, () => describePrinter({})),
});
const job: Report = {
  ...{ kind: 'job', jobId: '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', agentId, printerId: 'serial-00000000' },
  ...{ at, delivery: 1, seq: 0, status: 'printing', labels: { sent: 1, printed: 0 }, reasons: [] },
};

test.each<[string, Report, number]>([
  ['states of no printer', state(0), 100],
  ['states of fifty printers', state(50), 100],
  ['states of 450 printers, as a stretch of 5,000 has them', state(450), 11],
  ['reports of jobs', job, 2_000],
])('%s', (_, report, atOnce) => {
  const rate = new ReportRate();
  let count = 0;
  while (rate.late(report, 0) === 0) count += 1;
  expect(count).toBe(atOnce);
});

test('each waits for its part of a second then, far more than that is refused, and a break gives all of it back', () => {
  const rate = new ReportRate();
  for (let count = 0; count < 100; count += 1) rate.late(state(0), 0);
  expect(rate.late(state(0), 0)).toBeCloseTo(50);
  expect(rate.late(state(450), 0)).toBeCloseTo(500);
  // Neither reports of jobs nor another agent wait for these.
  expect(rate.late(job, 0)).toBe(0);
  expect(rate.late({ ...state(0), agentId: 'agent-of-another' }, 0)).toBe(0);
  expect(() => rate.late(state(5_000), 0)).toThrow('more often than it may');
  expect(rate.late(state(0), 0)).toBeCloseTo(550);
  expect(rate.late(state(0), 20_000)).toBe(0);
});
