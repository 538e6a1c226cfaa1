/** Questions that stand in front of the page: the browser's own dialog, with its focus and its Escape key. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { useSubmit } from './form.tsx';
import { Problem } from './problem.tsx';

type DialogProps = { title: string; large?: boolean; onClose: () => void; children: ComponentChildren };

export function Dialog({ title, large = false, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const { current } = box;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog ref={box} class={large ? 'large' : ''} aria-labelledby={heading} onClose={onClose}>
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

type AskProps = {
  title: string;
  /** What the button says, and so what it does. */
  action: string;
  /** What is left as it is by the other one. */
  keep?: string;
  danger?: boolean;
  large?: boolean;
  disabled?: boolean;
  onClose: () => void;
  /** What it throws is shown, and the dialog stays. */
  onAction: () => Promise<void>;
  children?: ComponentChildren;
};

/**
 * A question with the thing that is done, or not.
 * @param action as the button that asks it says; here it does it, so that no dots follow it
 */
export function Ask({
  title,
  action,
  keep,
  danger = false,
  large = false,
  disabled,
  onClose,
  onAction,
  children,
}: AskProps) {
  const { problem, busy, submit } = useSubmit(async () => {
    await onAction();
    onClose();
  });
  return (
    <Dialog title={title} large={large} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {problem.value !== undefined && <Problem problem={problem.value} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            {keep ?? t.value.general.cancel}
          </button>
          <button
            type="submit"
            class={danger ? 'button danger' : 'button primary'}
            disabled={disabled || busy.value}
          >
            {action.replace(/ …$/, '')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
