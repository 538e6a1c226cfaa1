/** The words in lists for how it becomes known that a printer's labels are out. */
import type { ConfirmedBy } from '../contract/printer.ts';

const WORDS: Readonly<Record<ConfirmedBy, string>> = {
  count: 'its count',
  pending: 'none pending',
  job: 'end of its job',
  delivery: 'delivery',
  person: 'a person: held',
};

export function confirmedText(by: ConfirmedBy | null | undefined): string {
  return by == null ? 'not known yet' : WORDS[by];
}

/** Explains confirmation by a person, before the first job is held. */
export const HELD =
  'A job to a printer that is confirmed by a person ends "held" when all is sent, since the printer cannot say what ' +
  'came out: look, then "platen job release". Where delivered is good enough, set "confirmation": "transport" ' +
  '(docs/agent.md).';
