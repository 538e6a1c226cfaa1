/** Words for what an integration may do. */
import { t } from '../texts/texts.ts';

/** @param scope permissions, separated by spaces */
export function scopeWords(scope: string): string {
  const { integrations: words } = t.value;
  const known: Readonly<Record<string, string>> = words.may;
  return scope
    .split(' ')
    .map((word) => known[word] ?? word)
    .join(', ');
}
