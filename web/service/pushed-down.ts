/** How new rows on a live first page push others down to the fixed rows below it. */

export type Row = { id: string };
/** Whether `a` belongs below `b` in the list. */
export type Below<T> = (a: T, b: T) => boolean;

export const idsOf = (rows: readonly Row[]) => new Set(rows.map(({ id }) => id));

/**
 * The rows below the first page after that page has changed: first those that new rows have pushed off it, then the older ones.
 * @returns undefined if no row of the first page is left: nobody knows which rows are between it and the older ones
 */
export function pushedDown<T extends Row>(
  older: readonly T[],
  before: readonly T[],
  now: readonly T[],
  below: Below<T>,
): readonly T[] | undefined {
  const last = now.at(-1);
  if (last === undefined) return older;
  const live = idsOf(now);
  const known = idsOf(older);
  const pushed = before.filter((row) => !live.has(row.id) && !known.has(row.id) && below(row, last));
  if (pushed.length > 0 && !before.some(({ id }) => live.has(id))) return undefined;
  return [...pushed, ...older];
}
