/** What a page shows of the service: asked for, kept up to date, and known to be old when the service does not answer. */
import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { z } from 'zod';
import { call } from './call.ts';
import { type Change, onChange, told } from './events.ts';

/** ms between looks while changes are told, and while they are not. */
const SLOW = 30_000;
const QUICK = 2_000;
/** ms in which several changes are one reason to look. */
const TOGETHER = 250;

export type Live<T> = {
  /** The last that was heard. */
  data: T | undefined;
  /** Why the last attempt failed. */
  problem: Error | undefined;
  /** When `data` was heard, ms. */
  at: number;
  /** `data` is another address's, until the new one has answered. */
  stale: boolean;
};

/** Whether the service has answered lately: the shell says it once for all that is on the page. */
export const silentSince = signal<number | null>(null);

export type Live$<T> = Signal<Live<T>> & { reload: () => void };

/** Of what a tenant has and seldom changes: templates, people, integrations. Only one's own tenants are told. */
export const ofTheTenant = ({ tenants }: Exclude<Change, 'everything'>): boolean => tenants.length > 0;

/**
 * @param path under `/app`; null: nothing is asked for
 * @param concerns whether a change is a reason to ask again
 */
export function useLive<T>(
  schema: z.ZodType<T>,
  path: string | null,
  concerns: (change: Exclude<Change, 'everything'>) => boolean = () => true,
): { live: Live<T>; reload: () => void } {
  const state = useSignal<Live<T>>({ data: undefined, problem: undefined, at: 0, stale: false });
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
        const data = await call(schema, path, { signal: stop.signal });
        state.value = { data, problem: undefined, at: Date.now(), stale: false };
        silentSince.value = null;
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = error instanceof Error ? error : new Error(String(error));
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
    // A tab that was in the background for hours shows what is, not what was.
    const seen = () => {
      if (document.visibilityState === 'visible') soon();
    };
    document.addEventListener('visibilitychange', seen);
    state.value = { ...state.value, stale: state.value.data !== undefined && turn === 0 };
    void look();
    // Where changes are no longer told, the page asks by itself, and not only when it would have anyway.
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
