/** What a browser remembers for its workstation. Nothing personal, and nothing that the page cannot do without. */
import { type Signal, signal } from '@preact/signals';

/** A word that is kept; where the browser refuses to keep any, it lasts as long as the page. */
export function kept(name: string): Signal<string> & { keep: (value: string) => void } {
  const key = `platen.${name}`;
  let first = '';
  try {
    first = localStorage.getItem(key) ?? '';
  } catch {
    // Private windows refuse even to be asked.
  }
  return Object.assign(signal(first), {
    keep(this: Signal<string>, value: string) {
      this.value = value;
      try {
        localStorage.setItem(key, value);
      } catch {
        // As above.
      }
    },
  });
}
