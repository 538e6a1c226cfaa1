/** What is told and when: gathering, quiet hours, what comes and goes. */
import { expect, test } from 'vitest';
import type { AlertItem } from '../../src/contract/alert.ts';
import { decide, isQuiet, type Receiver, type Told } from '../../src/server/webhooks/alert-decision.ts';

const NOW = new Date('2026-07-01T12:00:00Z');
const receiver: Receiver = {
  ...{ id: 'r', tenant: 't', alerts: ['alert.printer', 'alert.agent'], minutes: 10, quiet: null },
  createdAt: new Date('2026-06-01T00:00:00Z'),
};
const item = (subject: string, minutes: number, more: Partial<AlertItem> = {}): AlertItem => ({
  ...{ kind: 'alert.printer', subject, name: subject, reasons: [], count: 0, endsAt: null },
  since: new Date(NOW.getTime() - minutes * 60_000).toISOString(),
  ...more,
});
const of = (...items: AlertItem[]) => items.map((one) => ({ tenant: 't', item: one }));
const told = (message: string, over: boolean, ...items: AlertItem[]): Told[] =>
  items.map((one) => ({ receiver: 'r', item: one, message, over }));
const begun = (...args: Parameters<typeof decide>) =>
  decide(...args).begun.map(({ items }) => items.map(({ subject }) => subject));

test('who is first takes those with it that are less than a minute behind', () => {
  const items = of(item('a', 10), item('b', 9.5), item('c', 8.5));
  expect(begun([receiver], items, [], NOW)).toEqual([['a', 'b']]);
  expect(begun([receiver], of(item('b', 9.5)), [], NOW)).toEqual([]);
  // Another tenant's, another kind, and an agent that was away long before anybody asked.
  expect(begun([receiver], [{ tenant: 'u', item: item('a', 20) }], [], NOW)).toEqual([]);
  expect(begun([receiver], of(item('a', 20, { kind: 'alert.held' })), [], NOW)).toEqual([]);
  const away = item('g', 60 * 24 * 40, { kind: 'alert.agent' });
  expect(begun([receiver], of(away), [], NOW)).toEqual([]);
});

test('a message ends with the last of what it told; what comes back meanwhile is told anew', () => {
  const [a, b] = [item('a', 60), item('b', 60)];
  const both = told('m', false, a, b);
  expect(decide([receiver], of(a, b), both, NOW)).toEqual({ begun: [], ended: [], over: [] });
  expect(decide([receiver], of(b), both, NOW)).toEqual({
    ...{ begun: [], ended: [], over: [{ receiver: 'r', kind: 'alert.printer', subject: 'a' }] },
  });
  const half = [...told('m', true, a), ...told('m', false, b)];
  const again = item('a', 10);
  expect(decide([receiver], of(again, b), half, NOW)).toEqual({
    ...{ begun: [{ receiver: 'r', items: [again] }], ended: [], over: [] },
  });
  expect(decide([receiver], of(item('a', 5)), half, NOW).ended).toEqual([
    { receiver: 'r', message: 'm', items: [a, b] },
  ]);
});

test('what comes and goes about the limit is one alert', () => {
  const lane = told('m', false, item('a', 12));
  expect(decide([receiver], of(item('a', 6)), lane, NOW)).toEqual({ begun: [], ended: [], over: [] });
  expect(decide([receiver], of(item('a', 4)), lane, NOW).ended).toHaveLength(1);
});

test('in quiet hours nothing is told, neither that it begins nor that it ends', () => {
  const quiet = { ...receiver, quiet: { from: '13:00', until: '15:00', zone: 'Europe/Berlin' } };
  expect(decide([quiet], of(item('a', 60)), told('m', false, item('b', 90)), NOW)).toEqual({
    ...{ begun: [], ended: [], over: [] },
  });
});

test.each([
  ['22:00', '06:00', 'Europe/Berlin', '2026-07-01T20:00:00Z', true],
  ['22:00', '06:00', 'Europe/Berlin', '2026-07-01T19:59:59Z', false],
  ['22:00', '06:00', 'Europe/Berlin', '2026-07-01T03:59:59Z', true],
  ['22:00', '06:00', 'Europe/Berlin', '2026-07-01T04:00:00Z', false],
  ['00:00', '06:00', 'Asia/Kolkata', '2026-07-01T18:30:00Z', true],
  ['12:00', '12:00', 'UTC', '2026-07-01T12:00:00Z', false],
])('%s to %s in %s: %s is quiet: %s', (from, until, zone, at, is) => {
  expect(isQuiet({ from, until, zone }, new Date(at))).toBe(is);
});
