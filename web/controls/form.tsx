/** A form that does one thing: while it does it the button rests, and what went wrong is said above it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Problem } from './problem.tsx';

/** @param action what it throws is kept as the problem; @returns what a form needs, and whether it is at it */
export function useSubmit(action: () => Promise<void>) {
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const submit = async (event?: Event) => {
    event?.preventDefault();
    if (busy.value) return;
    busy.value = true;
    problem.value = undefined;
    try {
      await action();
    } catch (error) {
      problem.value = error instanceof Error ? error : new Error(String(error));
    }
    busy.value = false;
  };
  return { problem, busy, submit };
}

type FormProps = {
  /** What the button says, and so what it does. */
  action: string;
  primary?: boolean;
  /** It stands on a page among other things. */
  card?: boolean;
  onAction: () => Promise<void>;
  /** What a problem is called here; undefined: as everywhere. */
  wordsOf?: (problem: Error) => string | undefined;
  children: ComponentChildren;
};

export function Form({ action, primary = false, card = false, onAction, wordsOf, children }: FormProps) {
  const { problem, busy, submit } = useSubmit(onAction);
  const words = problem.value && wordsOf?.(problem.value);
  return (
    <form class={card ? 'card stack' : 'stack'} onSubmit={submit}>
      {children}
      {words !== undefined && (
        <div class="note bad" role="alert">
          {words}
        </div>
      )}
      {problem.value !== undefined && words === undefined && <Problem problem={problem.value} />}
      {card ? (
        <div class="row">
          <button type="submit" class="button" disabled={busy.value}>
            {action}
          </button>
        </div>
      ) : (
        <button type="submit" class={primary ? 'button primary' : 'button'} disabled={busy.value}>
          {action}
        </button>
      )}
    </form>
  );
}
