/** What an address of PrintNode's interface asks for: sets of numbers (`11,12,20-30`), and a page (`limit`, `after`, `dir`). */
import { z } from 'zod';
import { DoorError } from '../door-error.ts';
import { MOST_NUMBER } from '../numbers.ts';

const MOST_RANGES = 100;
const MOST_ON_PAGE = 500;

export type Range = { from: number; to: number };

const number = z.coerce.number().int().min(0).max(MOST_NUMBER);
const query = z.object({
  limit: z.coerce.number().int().min(1).max(MOST_ON_PAGE).default(100),
  after: number.optional(),
  dir: z.enum(['asc', 'desc']).default('desc'),
});
export type PageWanted = z.output<typeof query>;

/** @throws DoorError 400 */
export function pageOf(asked: unknown): PageWanted {
  const page = query.safeParse(asked);
  if (page.success) return page.data;
  const expected = { limit: `1 to ${MOST_ON_PAGE}`, after: 'an id', dir: 'asc or desc' };
  const wrong = String(page.error.issues[0]?.path[0]);
  const [, what] = Object.entries(expected).find(([name]) => name === wrong) ?? [];
  throw new DoorError(400, `${wrong} is not as expected: ${what}`);
}

/** @param what whose numbers they are, for the error. @throws DoorError 400 */
export function setOf(text: string, what: string): Range[] {
  const ranges = text.split(',', MOST_RANGES + 1).map((part) => {
    const [, from, dash, to] = /^(\d{0,10})(-?)(\d{0,10})$/.exec(part.trim()) ?? [];
    if (from === undefined || (from === '' && to === '')) throw badSet(what);
    const first = from === '' ? 0 : Number(from);
    const last = dash === '' ? first : to === '' ? MOST_NUMBER : Number(to);
    if (first > last || last > MOST_NUMBER) throw badSet(what);
    return { from: first, to: last };
  });
  if (ranges.length > MOST_RANGES) throw badSet(what);
  return ranges;
}

function badSet(what: string): DoorError {
  const expected = `ids as in 11,12,20-30, at most ${MOST_RANGES} parts`;
  return new DoorError(400, `the set of ${what} is not as expected: ${expected}`);
}

export function isIn(set: readonly Range[] | undefined, of: number): boolean {
  return set === undefined || set.some(({ from, to }) => from <= of && of <= to);
}

/** The page of what has numbers. */
export function paged<T extends { id: number }>(all: readonly T[], { limit, after, dir }: PageWanted): T[] {
  const up = dir === 'asc';
  return all
    .filter(({ id }) => after === undefined || (up ? id > after : id < after))
    .sort((a, b) => (up ? a.id - b.id : b.id - a.id))
    .slice(0, limit);
}
