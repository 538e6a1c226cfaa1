/** What the service finds wrong with a template, in the language of who looks. */
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { saidOf, t } from '../texts/texts.ts';

/** Without the pointer that messages for files begin with. */
export function templateWords({ code, message, pointer }: TemplateProblem): string {
  const own = message.startsWith(`${pointer}: `) ? message.slice(pointer.length + 2) : message;
  return saidOf(t.value.problem.templateProblems, code, own);
}
