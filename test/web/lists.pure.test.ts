/** What lists show: the filters in the address as a query, pages that new entries push down, and times. */
import { afterEach, expect, test, vi } from 'vitest';
import type { JobEvent } from '../../src/contract/job-details.ts';
import { asked, timed } from '../../web/jobs/asked.ts';
import { foldedLife } from '../../web/jobs/life.ts';
import { pushedDown } from '../../web/service/pushed-down.ts';
import { when, whenExactly } from '../../web/texts/texts.ts';

afterEach(() => {
  vi.useRealTimers();
});

const at = (time: string) => vi.useFakeTimers({ now: new Date(time), toFake: ['Date'] });

test('the last hour is the same query however late it is, and another time each time that it is asked', () => {
  const query = new URLSearchParams({ since: '1h', printer: 'a&b', status: 'failed' });
  at('2026-11-21T10:00:59Z');
  const before = asked(query, true);
  expect(timed(`/jobs?${before}`)).toBe(
    '/jobs?printer=a%26b&status=failed&since=2026-11-21T09%3A00%3A59.000Z',
  );
  at('2026-11-21T10:01:00Z');
  expect(asked(query, true)).toBe(before);
  expect(timed(`/jobs?${before}`)).toContain('since=2026-11-21T09%3A01%3A00.000Z');
});

test('what is to be decided about is more than what is held', () => {
  const query = new URLSearchParams({ status: 'held' });
  expect([asked(query, true), asked(query, false)]).toEqual(['undecided=true', '']);
});

test('today begins at midnight where somebody looks', () => {
  const path = `/jobs?${asked(new URLSearchParams({ since: 'today' }), true)}`;
  expect(path).toBe('/jobs?since=today');
  at('2026-11-21T10:01:00Z');
  const since = new URLSearchParams(timed(path).split('?')[1]).get('since') ?? '';
  const begin = new Date(since);
  expect([begin.getHours(), begin.getMinutes(), begin.getSeconds()]).toEqual([0, 0, 0]);
  expect(begin.toDateString()).toBe(new Date().toDateString());
});

test('waits in a row are folded between the first and the last; nothing else is', () => {
  const none = { labels: { sent: 0, printed: 0 }, error: null, uncertain: null, who: null, why: null };
  const printer = { id: 'p', name: 'dock 4' };
  const happened = (...kinds: JobEvent['kind'][]) =>
    kinds.map(
      (kind, n): JobEvent => ({ at: `2026-11-21T10:00:0${n}Z`, kind, reasons: [], printer, ...none }),
    );
  const lines = (...kinds: JobEvent['kind'][]) =>
    foldedLife(happened(...kinds)).map((line) => ('kind' in line ? line.kind : line.length));
  expect(lines('accepted', 'waits', 'waits', 'waits', 'printed')).toEqual([
    ...['accepted', 'waits', 'waits', 'waits', 'printed'],
  ]);
  expect(lines('printing', 'waits', 'waits', 'waits', 'waits', 'waits', 'printed')).toEqual([
    ...['printing', 'waits', 3, 'waits', 'printed'],
  ]);
  expect(lines('waits', 'waits', 'waits', 'waits')).toEqual(['waits', 2, 'waits']);
  expect(lines()).toEqual([]);
});

test('chosen times stay as they are, and a span that nobody knows is none', () => {
  const query = new URLSearchParams({ since: 'between', from: '2026-11-20T10:00:00.000Z', until: 'x' });
  const path = `/jobs?${asked(query, false)}`;
  expect(path).toBe('/jobs?since=2026-11-20T10%3A00%3A00.000Z');
  expect(timed(path)).toBe(path);
  expect(asked(new URLSearchParams({ since: 'constructor' }), false)).toBe('');
});

test('tests only, or none; another word is no filter', () => {
  const query = (test: string) => asked(new URLSearchParams({ test }), true);
  expect(['true', 'false', 'maybe'].map(query)).toEqual(['test=true', 'test=false', '']);
});

const rows = (...ids: string[]) => ids.map((id) => ({ id }));
/** Newer rows have later letters. */
const below = (a: { id: string }, b: { id: string }) => a.id < b.id;

test.each([
  [
    'new ones push some off the first page',
    rows('c', 'b'),
    rows('f', 'e'),
    rows('g', 'f'),
    rows('e', 'c', 'b'),
  ],
  ['one that fits no more is not pushed', rows('c', 'b'), rows('f', 'e'), rows('e', 'c'), rows('c', 'b')],
  ['one is listed once', rows('e', 'c'), rows('f', 'e'), rows('g', 'f'), rows('e', 'c')],
  ['nothing has changed', rows('c'), rows('f', 'e'), rows('f', 'e'), rows('c')],
  ['a whole page is new: the gap is not known', rows('c'), rows('f', 'e'), rows('i', 'h'), undefined],
])('older rows: %s', (_, older, before, now, expected) => {
  expect(pushedDown(older, before, now, below)).toEqual(expected);
});

test('a time of another year names the year, to the second too', () => {
  at('2026-11-21T10:00:00Z');
  for (const words of [when, whenExactly]) {
    expect(words('2025-11-20T10:00:00Z')).toContain('2025');
    expect(words('2026-11-20T10:00:00Z')).not.toContain('2026');
    expect(words('2026-11-20T10:00:00Z')).toContain(', ');
    expect(words('2026-11-21T10:00:00Z')).not.toContain(', ');
  }
});
