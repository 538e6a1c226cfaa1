/**
 * Keeps what was typed for each template in this window, because the next label often differs by only one value. It is label
 * data: it is kept nowhere else, and is gone when the session ends.
 */
import { effect, type Signal, signal } from '@preact/signals';
import { session } from '../service/session.ts';

type Typed = Readonly<Record<string, string>>;

const kept = new Map<string, Signal<Typed>>();
effect(() => {
  if (session.value === null) kept.clear();
});

export function typedBefore(template: string): Signal<Typed> {
  const found = kept.get(template) ?? signal<Typed>({});
  kept.set(template, found);
  return found;
}
