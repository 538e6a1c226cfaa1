/** Handlers of what has no value of its own, as a click. Fields have theirs: `typed`, `ticked` and `picked`. */
import type { Signal } from '@preact/signals';

/** @returns a handler that gives the signal this value */
export function sets<Value>(signal: Signal<Value>, value: Value): () => void {
  return () => {
    signal.value = value;
  };
}
