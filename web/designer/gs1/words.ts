/** The names of AIs, and words for the format of their data, in the chosen language. */

import { type AiFormat, identifierOf } from '../../templates/gs1-identifiers.ts';
import { t } from '../../texts/texts.ts';
import type { Advice } from './advice.ts';

export function nameOfAi(ai: string): string {
  const { gs1: words } = t.value;
  const known = identifierOf(ai);
  return known === undefined ? words.other : words.identifier[known];
}

export function formatWords(format: AiFormat): string {
  const { format: words } = t.value.gs1;
  switch (format.kind) {
    case 'digits':
      return format.check === true ? words.checked(format.length) : words.digits(format.length);
    case 'upTo':
      return words.upTo(format.length);
    case 'date':
      return words.date;
    case 'amount':
      return format.least === format.length ? words.measure(format.length) : words.price(format.length);
    case 'text':
      return words.text(format.length);
  }
}

export function adviceWords(advice: Advice): string {
  const { advice: words } = t.value.gs1;
  switch (advice.what) {
    case 'short':
      return words.short(advice.has, advice.needs);
    case 'long':
      return words.long(advice.has, advice.needs);
    case 'otherPlaces':
      return words.otherPlaces(advice.has, advice.needs);
    case 'character':
      return words.character(advice.character);
    case 'noCheckDigit':
      return words.noCheckDigit(advice.digit);
    case 'wrongCheckDigit':
      return words.wrongCheckDigit(advice.digit);
    case 'leadingZeros':
      return words.leadingZeros(advice.needs);
    default:
      return words[advice.what];
  }
}
