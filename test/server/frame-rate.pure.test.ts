/** How fast frames of an agent at another site are read: what counts for how much. */
import { expect, test } from 'vitest';
import type { AgentFrame } from '../../src/contract/gateway.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { FrameRate } from '../../src/server/gateway/frame-rate.ts';

const lanes = Array.from({ length: 5_000 }, (_, at) =>
  laneOf({ scope: null, printerId: `serial-${String(at).padStart(12, '0')}` }),
);
const length = { contended: 15_000, alone: 60_000 };
const asks = lanes.map((lane) => ({ lane, term: 'process.1', fresh: true, reaches: true }));
const told = (count: number): AgentFrame => ({
  kind: 'say',
  entries: Array.from({ length: count }, (_, at) => ({ i: at + 1, what: 'told', report: '{}' })),
});

test.each<[string, AgentFrame, number, number]>([
  ['four entries of a label', told(4), 800, 1_250],
  ['full frames of short entries', told(64), 13_000, 78],
  ['full frames of long reports', told(10), 1_000_000, 50],
  ['questions about all lanes that one may have', { kind: 'lease', i: 1, asks, length }, 700_000, 1],
  ['questions whether the queues answer', { kind: 'lease', i: 1, asks: [], length }, 80, 500],
  ['all lanes to be listened to', { kind: 'listen', lanes }, 100_000, 1],
  [
    'leases given back',
    { kind: 'giveBack', i: 1, lane: asks[0]?.lane ?? laneOf({ scope: null, printerId: 'x' }), term: 'x' },
    80,
    500,
  ],
])('%s', (_, frame, bytes, atOnce) => {
  const rate = new FrameRate(0);
  let count = 0;
  while (rate.late(frame, bytes, 0) === 0) count += 1;
  expect(count).toBe(atOnce);
});

test('what takes long to read counts as so many entries: a tenth of a core', () => {
  const rate = new FrameRate(0);
  expect(rate.worked(250, 250)).toBe(0);
  expect(rate.worked(100, 350)).toBeCloseTo(900);
});

test('after what may come at once each waits for its part of a second, and a break gives all of it back', () => {
  const rate = new FrameRate(0);
  for (let count = 0; count < 1_250; count += 1) expect(rate.late(told(4), 800, 0)).toBe(0);
  expect(rate.late(told(4), 800, 0)).toBeCloseTo(2);
  expect(rate.late(told(4), 800, 2)).toBeCloseTo(2);
  expect(rate.late(told(4), 800, 10_000)).toBe(0);
});
