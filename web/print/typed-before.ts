/**
 * What was typed for each template in this window: the next label often differs by one value. It is label data, so it is
 * kept nowhere but here, and is gone with the session.
 */
import { effect, type Signal, signal } from '@preact/signals';
import { session } from '../service/session.ts';

export type Typed = Readonly<Record<string, string>>;

const kept = new Map<string, Signal<Typed>>();
effect(() => {
  if (session.value === null) kept.clear();
});

export function typedBefore(template: string): Signal<Typed> {
  const found = kept.get(template) ?? signal<Typed>({});
  kept.set(template, found);
  return found;
}
