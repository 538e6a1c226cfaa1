/** Words for what an integration may do. */
import { codeWords, t } from '../texts/texts.ts';

/** @param scope permissions, separated by spaces */
export function scopeWords(scope: string): string {
  return scope
    .split(' ')
    .map((word) => codeWords(t.value.integrations.may, word))
    .join(', ');
}
