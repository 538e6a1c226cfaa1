/** Modal dialogs: the browser's own `<dialog>`, which handles focus and the Escape key. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { useSubmit } from './form.tsx';
import { Problem, wordsOf } from './problem.tsx';
import { say } from './toast.tsx';

type DialogProps = {
  title: string;
  large?: boolean;
  /** Nothing but its own buttons closes it: neither Escape nor a phone's way back. */
  stays?: boolean;
  onClose: () => void;
  children: ComponentChildren;
};

export function Dialog({ title, large = false, stays = false, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const { current } = box;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={large ? 'large' : ''}
      aria-labelledby={heading}
      onCancel={(event) => {
        if (stays) event.preventDefault();
      }}
      onClose={() => {
        // A browser closes a dialog at the second Escape, whatever the page says. One that is gone says so, too, a moment later.
        if (box.current === null) return;
        if (stays) box.current.showModal();
        else onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

type AskProps = {
  title: string;
  /** Label of the button that runs `onAction`. */
  action: string;
  /** Label of the button that closes the dialog and does nothing; left out: "Not now". */
  keep?: string;
  danger?: boolean;
  large?: boolean;
  disabled?: boolean;
  onClose: () => void;
  /** An error that it throws is shown, and the dialog stays open. */
  onAction: () => Promise<void>;
  children?: ComponentChildren;
};

/**
 * A dialog that asks before it runs `onAction`.
 * While the action runs the dialog stays, so that its error has a place.
 * @param action label of the button that opened the dialog; a trailing " …" is cut: here the button acts
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
  const closed = useRef(false);
  useEffect(
    () => () => {
      closed.current = true;
    },
    [],
  );
  const { problem, busy, submit } = useSubmit(async () => {
    try {
      await onAction();
    } catch (error) {
      // A browser closes a dialog at the second Escape, whatever the page says.
      if (closed.current) say(error instanceof Error ? wordsOf(error) : String(error), true);
      throw error;
    }
    if (!closed.current) onClose();
  });
  return (
    <Dialog title={title} large={large} stays={busy.value} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {problem.value !== undefined && <Problem problem={problem.value} />}
        <div class="row end">
          <button type="button" class="button" disabled={busy.value} onClick={onClose}>
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
