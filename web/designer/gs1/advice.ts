/** Checks the data of an AI before the service does, and offers a fix where there is one. */

import { type AiFormat, formatOf } from '../../templates/gs1-identifiers.ts';
import { isVariable, placesOf, sampled, withPlaces } from './element-string.ts';

export type Advice =
  | { readonly what: 'empty' }
  /** The data has `has` characters. `needs` is the least that it needs (`short`), or the most that it may have (`long`). */
  | { readonly what: 'short' | 'long'; readonly has: number; readonly needs: number }
  | { readonly what: 'notDigits' }
  | { readonly what: 'character'; readonly character: string }
  | { readonly what: 'noCheckDigit' | 'wrongCheckDigit'; readonly digit: string }
  /** A filter writes `has` digits after the point of an amount, but the AI says that there are `needs`. */
  | { readonly what: 'otherPlaces'; readonly has: number; readonly needs: number }
  | { readonly what: 'notDate' }
  | { readonly what: 'isoDate' }
  /** The data is an EAN or UPC, but a GTIN of 14 digits is expected. */
  | { readonly what: 'leadingZeros'; readonly needs: number };

/** What is wrong with the data; `fix` is the data that would be right. */
type Finding = { readonly advice: Advice; readonly fix?: string };

/** GS1 General Specifications, figure 7.11-1: character set 82. */
const CSET82 = /^[!"%&'()*+,\-./0-9:;<=>?A-Z_a-z]*$/;
const ISO_DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T.*)?$/;

/** The check digit of a GTIN, SSCC or GLN (GS1 General Specifications, section 7.9): weights 3 and 1, from the right. */
export function checkDigit(digits: string): string {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    sum += Number(digits.at(-1 - at)) * (at % 2 === 0 ? 3 : 1);
  }
  return String((10 - (sum % 10)) % 10);
}

/** @param samples the samples of fields; data with a field that has none is left to the service's check */
export function adviceOn(
  { ai, data }: { ai: string; data: string },
  samples: ReadonlyMap<string, string>,
): Finding | undefined {
  if (data === '') return { advice: { what: 'empty' } };
  const format = formatOf(ai);
  const needs = ai.slice(-1);
  const has = format?.kind === 'amount' ? placesOf(data).find((places) => places !== needs) : undefined;
  if (has !== undefined) {
    const advice = { what: 'otherPlaces', has: Number(has), needs: Number(needs) } as const;
    return { advice, fix: withPlaces(data, has, needs) };
  }
  const value = sampled(data, samples);
  if (format === undefined || value === undefined) return undefined;
  const finding = faultOf(format, value);
  if (finding === undefined || !isVariable(data)) return finding;
  // A filter mends a field, but only if the data is this field and nothing else.
  const [, name] = /^\{\{([^{}|]*)\}\}$/.exec(data) ?? [];
  const filter = name === undefined ? undefined : filterFor(finding.advice);
  return { advice: finding.advice, ...(filter && { fix: `{{${name?.trim()} | ${filter}}}` }) };
}

function filterFor(advice: Advice): string | undefined {
  switch (advice.what) {
    case 'noCheckDigit':
      return 'checkdigit:gs1';
    case 'leadingZeros':
      return `padleft:${advice.needs}:0`;
    case 'isoDate':
      return 'date:yyMMdd';
    default:
      return undefined;
  }
}

function faultOf(format: AiFormat, value: string): Finding | undefined {
  if (value === '') return { advice: { what: 'empty' } };
  switch (format.kind) {
    case 'text':
      return textFault(value, format.length);
    case 'date':
      return dateFault(value);
    case 'upTo':
      return lengthFault(value, 1, format.length);
    case 'amount':
      return lengthFault(value, format.least, format.length);
    case 'digits':
      return digitsFault(value, format.length, format.check === true);
  }
}

function textFault(value: string, most: number): Finding | undefined {
  if (value.length > most) return { advice: { what: 'long', has: value.length, needs: most } };
  const character = [...value].find((one) => !CSET82.test(one));
  return character === undefined ? undefined : { advice: { what: 'character', character } };
}

function lengthFault(value: string, least: number, most: number): Finding | undefined {
  if (!/^\d+$/.test(value)) return { advice: { what: 'notDigits' } };
  const has = value.length;
  if (has > most) return { advice: { what: 'long', has, needs: most } };
  return has < least ? { advice: { what: 'short', has, needs: least } } : undefined;
}

function digitsFault(value: string, length: number, check: boolean): Finding | undefined {
  const plain = value.replaceAll(/[ -]/g, '');
  if (plain !== value && /^\d+$/.test(plain)) return { advice: { what: 'notDigits' }, fix: plain };
  if (!/^\d+$/.test(value)) return { advice: { what: 'notDigits' } };
  const right = (digits: string) => checkDigit(digits.slice(0, -1)) === digits.at(-1);
  if (check && length === 14 && [8, 12, 13].includes(value.length) && right(value)) {
    return { advice: { what: 'leadingZeros', needs: length }, fix: value.padStart(length, '0') };
  }
  if (check && value.length === length - 1) {
    const digit = checkDigit(value);
    return { advice: { what: 'noCheckDigit', digit }, fix: value + digit };
  }
  const wrong = lengthFault(value, length, length);
  if (wrong !== undefined || !check || right(value)) return wrong;
  const digit = checkDigit(value.slice(0, -1));
  return { advice: { what: 'wrongCheckDigit', digit }, fix: value.slice(0, -1) + digit };
}

function dateFault(value: string): Finding | undefined {
  const [, year = '', month = '', day = ''] = ISO_DATE.exec(value) ?? [];
  if (year !== '') return { advice: { what: 'isoDate' }, fix: year.slice(2) + month + day };
  const wrong = lengthFault(value, 6, 6);
  if (wrong !== undefined) return wrong;
  const [of, on] = [Number(value.slice(2, 4)), Number(value.slice(4))];
  // Day 00 means the last day of the month.
  return of >= 1 && of <= 12 && on <= 31 ? undefined : { advice: { what: 'notDate' } };
}
