/** Words, in the chosen language, for what the service finds wrong with a template. */
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { reasonWords } from '../controls/reason-words.ts';
import { listed, saidOf, t } from '../texts/texts.ts';

/** The problem in words, without the pointer with which messages about files begin. */
export function templateWords({ code, message, pointer, reason, sampled, dpis }: TemplateProblem): string {
  const { problem: words } = t.value;
  const found = reasonWords(reason);
  if (found !== undefined) {
    const at = dpis === undefined ? '' : ` (${words.atResolutions(listed(dpis.map(String)))})`;
    return `${sampled ? `${words.withSamples}: ` : ''}${found}${at}`;
  }
  const own = message.startsWith(`${pointer}: `) ? message.slice(pointer.length + 2) : message;
  return saidOf(words.templateProblems, code, own);
}
