/** How an agent counts the time of its lease. The clocks are set by the test. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeaseTerm, now } from '../../src/agent/lease/lease-term.ts';

const LEASE = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What may still be done. */
function may(term: LeaseTerm): string {
  if (term.over.aborted) return 'nothing';
  return term.ending.aborted ? 'end' : 'print';
}

test('no label is begun from six tenths of a lease on, and nothing sent from 85 hundredths on', () => {
  const term = new LeaseTerm('term', { at: now(), ms: LEASE }, LEASE);
  const seen: [number, string][] = [0, 5_990, 20, 2_480, 20].map((ms) => {
    vi.advanceTimersByTime(ms);
    return [performance.now(), may(term)];
  });
  const start = seen[0]?.[0] ?? 0;
  expect(seen.map(([at, what]) => [Math.round(at - start), what])).toEqual([
    [0, 'print'],
    [5_990, 'print'],
    [6_010, 'end'],
    [8_490, 'end'],
    [8_510, 'nothing'],
  ]);
});

test('it is counted from the question, however late the answer comes', () => {
  const at = now();
  vi.advanceTimersByTime(7_000);
  expect(may(new LeaseTerm('term', { at, ms: LEASE }, LEASE))).toBe('end');
  vi.advanceTimersByTime(2_000);
  expect(may(new LeaseTerm('term', { at, ms: LEASE }, LEASE))).toBe('nothing');
});

test('what is granted last counts at once, shorter or longer', () => {
  const term = new LeaseTerm('term', { at: now(), ms: LEASE }, LEASE);
  expect(term.alone).toBe(false);
  expect(term.extend({ at: now(), ms: 4 * LEASE })).toBe(false);
  expect(term.alone).toBe(true);
  vi.advanceTimersByTime(35_000);
  expect(may(term)).toBe('print');
  expect(term.extend({ at: now(), ms: 4 * LEASE })).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(term.extend({ at: now(), ms: LEASE })).toBe(true);
  expect(term.alone).toBe(false);
  vi.advanceTimersByTime(5_000);
  expect(may(term)).toBe('print');
  vi.advanceTimersByTime(2_000);
  expect(may(term)).toBe('end');
});

test('what the server is told is left is no more when a clock is set back', () => {
  const term = new LeaseTerm('term', { at: now(), ms: 4 * LEASE }, LEASE);
  const before = Date.now();
  vi.setSystemTime(before + 3 * LEASE);
  expect(term.keep(now())).toBe(LEASE);
  vi.setSystemTime(before);
  vi.advanceTimersByTime(7_000);
  expect(may(term)).toBe('end');
});

test('what has begun to end ends, but has the time of a lease that is renewed', () => {
  const term = new LeaseTerm('term', { at: now(), ms: LEASE }, LEASE);
  term.end();
  vi.advanceTimersByTime(5_000);
  term.extend({ at: now(), ms: LEASE });
  vi.advanceTimersByTime(8_000);
  expect(may(term)).toBe('end');
  vi.advanceTimersByTime(1_000);
  expect(may(term)).toBe('nothing');
});

test.each(['the monotonic', 'the wall'])('%s clock alone ends it, without a timer', (which) => {
  const term = new LeaseTerm('term', { at: now(), ms: LEASE }, LEASE);
  // A process that was stopped: time has passed, and no timer has gone off.
  if (which === 'the wall') vi.setSystemTime(Date.now() + 60_000);
  else {
    const later = performance.now() + 60_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
  }
  expect(may(term)).toBe('print');
  term.check();
  expect(may(term)).toBe('nothing');
  vi.restoreAllMocks();
});

test('another agent has it: nothing more is sent', () => {
  const term = new LeaseTerm('term', { at: now(), ms: LEASE }, LEASE);
  term.lose();
  expect(may(term)).toBe('nothing');
});
