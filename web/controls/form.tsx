/** A form with one action. While the action runs, its button is disabled; an error is shown above the button. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { errorOf } from '../service/call.ts';
import { Problem } from './problem.tsx';

/** Runs an action from a form: `busy` while it runs, `problem` if it throws. */
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
      problem.value = errorOf(error);
    }
    busy.value = false;
  };
  return { problem, busy, submit };
}

type FormProps = {
  action: string;
  primary?: boolean;
  /** The form is drawn as a card, because it shares its page with other things. */
  card?: boolean;
  onAction: () => Promise<void>;
  /** This form's own words for an error; undefined: the general words. */
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
