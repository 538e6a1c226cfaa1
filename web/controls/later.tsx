/** Loads a part of the console only when it is first shown, so that the first page need not wait for it. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { errorOf } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { Problem } from './problem.tsx';

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const problem = useSignal<Error | undefined>(undefined);
    const there = useSignal(loaded !== undefined);
    const turn = useSignal(0);
    const again = turn.value;
    useEffect(() => {
      load().then(
        (part) => {
          loaded = part;
          there.value = true;
        },
        (error: unknown) => {
          problem.value = errorOf(error);
        },
      );
    }, [again]);
    const Part = there.value ? loaded : undefined;
    if (Part !== undefined) return <Part {...props} />;
    if (problem.value !== undefined) {
      const retry = () => {
        problem.value = undefined;
        turn.value += 1;
      };
      return <Problem problem={problem.value} onRetry={retry} />;
    }
    return (
      <p class="waiting" role="status">
        {t.value.general.loading}
      </p>
    );
  };
}
