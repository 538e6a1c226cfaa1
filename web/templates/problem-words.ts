/** Words for the service's problems with a template, in the chosen language. */
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { reasonWords } from '../controls/reason-words.ts';
import { listed, saidOf, t } from '../texts/texts.ts';

/** The problem in words, without the pointer that messages for files begin with. */
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
