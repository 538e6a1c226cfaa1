/** Short messages about what has just been done, which screen readers read out. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

const LASTS_MS = 6_000;
/** A message with a link or a button stays longer, so that people can use it. */
const OFFERS_MS = 20_000;

type Toast = { id: number; words: ComponentChildren; bad: boolean };
const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function say(words: ComponentChildren, bad = false): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.slice(-2), { id, words, bad }];
  setTimeout(
    () => {
      toasts.value = toasts.value.filter((toast) => toast.id !== id);
    },
    typeof words === 'string' ? LASTS_MS : OFFERS_MS,
  );
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, words, bad }) => (
        <div key={id} class={bad ? 'toast bad' : 'toast'}>
          {words}
        </div>
      ))}
    </div>
  );
}
