/** Live data for pages: fetched, kept up to date, and marked as old if the service does not answer. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import { call, errorOf } from './call.ts';
import { type Change, onChange, told } from './events.ts';

/** ms between requests while the stream of changes works, and while it does not. */
const SLOW = 30_000;
const QUICK = 2_000;
/** ms within which several changes cause only one request. */
const TOGETHER = 250;

export type Live<T> = {
  /** The last answer. */
  data: T | undefined;
  /** Why the last request failed. */
  problem: Error | undefined;
  /** When `data` was received, ms since 1970. */
  at: number;
  /** `data` still is the answer to an earlier path: the new path has not answered yet. */
  stale: boolean;
};

/** Since when the service has not answered, in ms since 1970; null: it answers. The shell shows this once for the whole page. */
export const silentSince = signal<number | null>(null);

/** Whether a change concerns templates, people or integrations. The service reports only changes of one's own tenants. */
export const ofTheTenant = ({ tenants }: Exclude<Change, 'everything'>): boolean => tenants.length > 0;

/**
 * Fetches a path and keeps the answer up to date.
 * @param path under `/app`; null: nothing is requested
 * @param concerns whether a change is a reason to ask again
 * @param pathNow adds to the path what depends on the time of the request
 */
export function useLive<T>(
  schema: z.ZodType<T>,
  path: string | null,
  concerns: (change: Exclude<Change, 'everything'>) => boolean = () => true,
  pathNow: (path: string) => string = (path) => path,
): { live: Live<T>; reload: () => void } {
  const state = useSignal<Live<T>>({ data: undefined, problem: undefined, at: 0, stale: false });
  const answered = useRef<string>(undefined);
  const again = useSignal(0);
  const turn = again.value;
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking = false;
    let wanted = false;
    const look = async () => {
      if (asking) {
        wanted = true;
        return;
      }
      asking = true;
      wanted = false;
      clearTimeout(timer);
      try {
        const data = await call(schema, pathNow(path), { signal: stop.signal });
        answered.current = path;
        state.value = { data, problem: undefined, at: Date.now(), stale: false };
        silentSince.value = null;
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = errorOf(error);
        state.value = { ...state.value, problem };
        if (problem.name === 'NoAnswer') silentSince.value ??= Date.now();
      }
      asking = false;
      timer = setTimeout(
        look,
        wanted ? TOGETHER : told.value && state.value.problem === undefined ? SLOW : QUICK,
      );
    };
    const soon = () => {
      if (asking) {
        wanted = true;
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(look, TOGETHER);
    };
    const forget = onChange((change) => {
      if (change === 'everything' || concerns(change)) soon();
    });
    // A tab that comes to the front, maybe after hours, fetches at once.
    const seen = () => {
      if (document.visibilityState === 'visible') soon();
    };
    document.addEventListener('visibilitychange', seen);
    state.value = { ...state.value, stale: state.value.data !== undefined && answered.current !== path };
    void look();
    // When the stream stops, the page fetches at once, and does not wait for the slow interval to end.
    let relied = told.value;
    const alone = told.subscribe((now) => {
      if (relied && !now) soon();
      relied = now;
    });
    return () => {
      alone();
      stop.abort();
      clearTimeout(timer);
      forget();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [path, turn]);
  return {
    live: state.value,
    reload: () => {
      again.value += 1;
    },
  };
}
