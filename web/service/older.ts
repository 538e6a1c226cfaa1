/** The pages of a list after the first one. Only the first page is live: new entries push others off it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { errorOf } from './call.ts';
import { type Below, idsOf, pushedDown, type Row } from './pushed-down.ts';

export type Rows<T> = {
  rows: readonly T[];
  /** The key of the page after these rows; null: there is none. */
  next: string | null;
};
type OlderProps<T> = {
  /** Names the list. If the name changes, it is another list, and the older rows are dropped. */
  list: string;
  /** The first page; undefined: it has not arrived yet. */
  page: Rows<T> | undefined;
  ask: (after: string, signal: AbortSignal) => Promise<Rows<T>>;
  below: Below<T>;
};

/** @returns `rows`: all that are known, the live ones first; `more`: whether `load` would find others */
export function useOlder<T extends Row>({ list, page, ask, below }: OlderProps<T>) {
  const older = useSignal<Rows<T> | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const shown = useRef<readonly T[]>([]);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const own = new AbortController();
    stop.current = own;
    older.value = undefined;
    problem.value = undefined;
    busy.value = false;
    return () => own.abort();
  }, [list]);
  useEffect(() => {
    if (page === undefined) return;
    if (older.value !== undefined) {
      const rows = pushedDown(older.value.rows, shown.current, page.rows, below);
      older.value = rows && { ...older.value, rows };
    }
    shown.current = page.rows;
  }, [page?.rows]);
  const after = older.value === undefined ? (page?.next ?? null) : older.value.next;
  const load = async () => {
    if (after === null || busy.value) return;
    const { signal } = stop.current;
    const before = shown.current;
    busy.value = true;
    problem.value = undefined;
    try {
      const found = await ask(after, signal);
      if (signal.aborted) return;
      // Rows may have been pushed off the first page meanwhile. If there were older rows already, the effect above has added them.
      const rows =
        older.value === undefined ? pushedDown(found.rows, before, shown.current, below) : found.rows;
      const known = idsOf(older.value?.rows ?? []);
      older.value = rows && {
        rows: [...(older.value?.rows ?? []), ...rows.filter(({ id }) => !known.has(id))],
        next: found.next,
      };
    } catch (error) {
      if (signal.aborted) return;
      problem.value = errorOf(error);
    }
    busy.value = false;
  };
  const live = idsOf(page?.rows ?? []);
  return {
    rows: [...(page?.rows ?? []), ...(older.value?.rows ?? []).filter(({ id }) => !live.has(id))],
    more: after !== null,
    busy: busy.value,
    problem: problem.value,
    load: () => void load(),
  };
}
