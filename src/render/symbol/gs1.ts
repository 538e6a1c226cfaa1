/**
 * Checks GS1 element strings, such as `(01)04012345678901(10)AB-12`, and converts them to what a symbol carries (GS1 General
 * Specifications).
 *
 * Brackets in a template's own text delimit application identifiers. Brackets that come from a record are data, as in the batch
 * number `A(1)`, so that a record cannot add an AI that the template does not have. Only if a template's whole value is one
 * placeholder, the record brings the bracketed form.
 */

import { because } from '../../contract/reason.ts';
import { endsWithGs1, gs1 } from '../../values/check-digits.ts';
import { endsByLength } from '../../values/gs1-elements.ts';
import type { Part } from '../../values/merge.ts';
import { bwipWidths, SymbolError } from './bwip.ts';
import { FNC1 } from './code128.ts';
import { isWellKnown } from './gs1-well-known.ts';

/**
 * Private-use characters that stand for brackets that are data. A record's value that itself has them is refused (`asGs1Data`).
 */
const OPEN = '\ue000';
const CLOSE = '\ue001';

/** Whether the template itself says where the AIs are, so that brackets in a record are data. */
export function bracketsAreData(parts: readonly Part[]): boolean {
  return parts.length !== 1 || typeof parts[0] === 'string';
}

/** Marks the brackets of a record's value as data. @throws SymbolError */
export function asGs1Data(value: string): string {
  if (/[^\x21-\x7e]/.test(value)) {
    throw new SymbolError(because('gs1-characters', {}));
  }
  return value.replaceAll('(', OPEN).replaceAll(')', CLOSE);
}

interface ElementString {
  /** What the symbol carries after its leading FNC1. */
  readonly data: readonly number[];
  /** The human-readable form, AIs in brackets. */
  readonly text: string;
}

/**
 * Checks an element string against the GS1 rules (syntax, AIs, lengths, character sets, check digits, dates, AIs
 * that exclude each other) and makes what the symbol carries.
 * @throws SymbolError naming the AI
 */
export function elementString(value: string): ElementString {
  if (!ELEMENTS.test(value)) throw new SymbolError(because('gs1-brackets', {}));
  const elements = Array.from(value.matchAll(ELEMENT), ([, ai = '', data = '']): [string, string] => [
    ai,
    data,
  ]);
  if (!isWellKnown(elements)) {
    // The checker's syntax cannot hold brackets that are data. `*` is in the same character sets as brackets.
    const checked = value.replaceAll(OPEN, '*').replaceAll(CLOSE, '*');
    try {
      bwipWidths('gs1-128', checked, { parse: false, lintreqs: true });
    } catch (error) {
      // GS1 wants a batch number's GTIN on the same item, but not in the same symbol: logistic labels spread AIs over several
      // symbols. The checker tests this rule last, so no other fault is hidden when it is ignored.
      if (!(error instanceof SymbolError)) throw error;
      if (error.fault === 'GS1badChecksum') throw wrongKey(elements) ?? error;
      if (error.fault !== 'GS1missingAIs') throw error;
    }
  }
  const data: number[] = [];
  let separator = false;
  for (const [ai, raw] of elements) {
    if (separator) data.push(FNC1);
    const plain = raw.replaceAll(OPEN, '(').replaceAll(CLOSE, ')');
    for (const char of ai + plain) data.push(char.charCodeAt(0));
    separator = !endsByLength(ai);
  }
  return { data, text: value.replaceAll(OPEN, '(').replaceAll(CLOSE, ')') };
}

/** Keys with a check digit: their AIs, and their digits including it (GS1 General Specifications, AIs). */
const KEYS: readonly (readonly [ai: RegExp, length: number])[] = [
  [/^(?:00|801[78])$/, 18],
  [/^(?:0[123]|8003|8006|8026)$/, 14],
  [/^(?:41[0-7]|253|255)$/, 13],
  [/^402$/, 17],
];

/** The first key whose check digit is wrong. */
function wrongKey(elements: readonly (readonly [ai: string, data: string])[]): SymbolError | undefined {
  for (const [ai, data] of elements) {
    const length = KEYS.find(([pattern]) => pattern.test(ai))?.[1];
    const key = data.slice(0, length);
    if (length === undefined || key.length < length || !/^\d+$/.test(key) || endsWithGs1(key)) continue;
    return new SymbolError(because('gs1-check-digit', { ai, expected: gs1(key.slice(0, -1)) }));
  }
  return undefined;
}

/** The value as bwip-js reads it with its option `parse`: brackets that are data are written as ordinals. */
export function encoderString(value: string): string {
  return value.replaceAll(OPEN, '^040').replaceAll(CLOSE, '^041');
}

/**
 * The options of bwip-js for such a value. Its own check is off, because it would ask for AIs that may be in another symbol.
 */
export const CHECKED = { parse: true, dontlint: true } as const;

const ELEMENTS = /^(?:\([^()]*\)[^()]*)+$/;
/** One AI and its data. It treats brackets as `ELEMENTS` does, so that no part of a value is skipped. */
const ELEMENT = /\(([^()]*)\)([^()]*)/g;
