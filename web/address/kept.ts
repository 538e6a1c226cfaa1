/** Settings that the browser keeps for this workstation: nothing personal, and nothing that a page depends on. */
import { type Signal, signal } from '@preact/signals';

/** A text kept in `localStorage`. Where the browser refuses storage, the text lasts as long as the page. */
export function kept(name: string): Signal<string> & { keep: (value: string) => void } {
  const key = `platen.${name}`;
  let first = '';
  try {
    first = localStorage.getItem(key) ?? '';
  } catch {
    // A private window may refuse any access to `localStorage`.
  }
  return Object.assign(signal(first), {
    keep(this: Signal<string>, value: string) {
      this.value = value;
      try {
        localStorage.setItem(key, value);
      } catch {
        // A private window again.
      }
    },
  });
}
