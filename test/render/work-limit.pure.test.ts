/** Work is limited by what the process works, and by the clock only where it works nothing. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitWork } from '../../src/render/work-limit.ts';

/** How much time passes at once, ms. */
const STEP = 10;
let worked = 0;
beforeEach(() => {
  worked = 0;
  vi.useFakeTimers();
  vi.spyOn(process, 'cpuUsage').mockImplementation((begun) => ({
    user: worked * 1_000 - (begun?.user ?? 0),
    system: 0,
  }));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Lets time pass, of which the process gets this share. @returns ms until `late`, at most 100 s */
function lateAfter(share: number): number {
  let at: number | undefined;
  const begun = performance.now();
  limitWork(10_000, () => {
    at ??= performance.now() - begun;
  });
  for (let ms = 0; ms < 100_000 && at === undefined; ms += STEP) {
    worked += STEP * share;
    vi.advanceTimersByTime(STEP);
  }
  return at ?? 100_000;
}

test.each([
  ['more than a core', 1.5, 10_000],
  ['a core', 1, 10_000],
  ['half a core', 0.5, 20_000],
  ['a tenth of a core', 0.1, 40_000],
  ['nothing', 0, 40_000],
])('with %s', (_, share, ms) => {
  const late = lateAfter(share);
  expect(late).toBeGreaterThanOrEqual(ms - STEP);
  expect(late).toBeLessThanOrEqual(ms + 10 * STEP);
});

test('an ended limit calls nobody', () => {
  const late = vi.fn();
  limitWork(10_000, late)();
  worked = 100_000;
  vi.advanceTimersByTime(100_000);
  const ends = limitWork(10_000, late);
  // Ended where it has been put off.
  vi.advanceTimersByTime(20_000);
  ends();
  vi.advanceTimersByTime(100_000);
  expect(late).not.toHaveBeenCalled();
});
