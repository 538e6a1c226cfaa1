/** Modal dialogs: the browser's own `<dialog>`, which handles focus and the Escape key. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { useSubmit } from './form.tsx';
import { Problem, sayProblem } from './problem.tsx';

type DialogProps = {
  title: string;
  large?: boolean;
  /** Only its own buttons close it, and neither Escape nor a phone's Back. */
  stays?: boolean;
  /** Label of a button at its end that closes it; left out: it has other buttons, or none. */
  closes?: string;
  onClose: () => void;
  children: ComponentChildren;
};

export function Dialog({ title, large = false, stays = false, closes, onClose, children }: DialogProps) {
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
        // A second Escape closes a dialog whatever the page says. A dialog that has left the page sends this event, too, a moment
        // later.
        if (box.current === null) return;
        if (stays) box.current.showModal();
        else onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
        {closes !== undefined && (
          <div class="row end">
            <button type="button" class={stays ? 'button primary' : 'button'} onClick={onClose}>
              {closes}
            </button>
          </div>
        )}
      </div>
    </dialog>
  );
}

type AskProps = {
  title: string;
  /** Label of the button that runs `onAction`. */
  action: string;
  /** Label of the button that closes the dialog without doing anything. Default: "Not now". */
  keep?: string;
  danger?: boolean;
  large?: boolean;
  disabled?: boolean;
  onClose: () => void;
  /** If it throws, the error is shown and the dialog stays open. */
  onAction: () => Promise<void>;
  children?: ComponentChildren;
};

/**
 * A dialog that asks before it runs `onAction`.
 * The dialog stays while the action runs, so that an error has a place to be shown.
 * @param action label of the button that opened the dialog; a trailing " …" is cut off, because this button acts at once
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
      // A second Escape closes a dialog whatever the page says, so the error may have no dialog to stand in.
      if (closed.current) sayProblem(error);
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
