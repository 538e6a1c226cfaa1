/** A button that sets a signal to true; the caller shows a dialog while it is. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { sets } from './sets.ts';

interface Opening {
  what: Signal<boolean>;
  look?: 'primary';
  label?: string;
  children: ComponentChildren;
}

export function Opens({ what, look, label, children }: Opening) {
  const open = sets(what, true);
  return (
    <button
      type="button"
      class={look === undefined ? 'button' : `button ${look}`}
      aria-label={label}
      onClick={open}
    >
      {children}
    </button>
  );
}
