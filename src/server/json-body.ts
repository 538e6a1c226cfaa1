/**
 * Reads JSON bodies without losing anything. `JSON.parse` turns 340123450000000018123 into another number and
 * says nothing; on a label that is another parcel. Such a number is replaced by an `InexactNumber`, which no
 * schema accepts, so that the answer points at it. Where an object has a name twice, `JSON.parse` would keep
 * the last value; nobody knows which of the two is meant, so such a body is refused.
 *
 * A body comes from a stranger: reading it takes time in proportion to its length, in stretches (`stretches.ts`).
 */
import { endOfString, parseAtLength } from '../contract/parse-json.ts';
import { because, type Reason } from '../contract/reason.ts';
import { brokenAt } from './json-syntax.ts';
import type { Long } from './stretches.ts';

/** A number in the body that a double cannot hold exactly. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  get reason(): Reason {
    const { length } = this.source;
    if (length > LONGEST_NUMBER) return because('number-long', { length, most: LONGEST_NUMBER });
    return because('number-inexact', { number: this.source.slice(0, 40) });
  }
}

/** A name in the body that cannot be taken as it is; the message says which. */
export class ForbiddenKey extends Error {}

/** The text is no JSON from this character on, counted from 0. */
export class BrokenJson extends SyntaxError {
  readonly at: number;

  constructor(at: number) {
    super(`no JSON at character ${at}`);
    this.at = at;
  }
}

/** Characters: more than any double has when it is written out without an exponent. */
const LONGEST_NUMBER = 400;
/** Most inexact numbers that the answer points at. */
const MOST_FAULTS = 100;
/** Tokens between two pauses, and characters between two pauses. */
const PAUSE = 2_000;
const LONG = 100_000;

/** Only a text that matches can hold an inexact number or a `__proto__` key; others skip the slower scan. */
const SUSPICIOUS = /\d[\d.]{15}|\de[+-]?\d{3}|__proto__|\\u00/i;

/** A body of so many small values that parsing it would take a hundred times its length in memory. */
export class BodyTooRich extends Error {}

/** Most values in a body, names in one object, and levels of nesting. */
export const MOST_VALUES = 600_000;
const MOST_NAMES = 2_000;
/** Most objects and arrays: each costs as much as ten values, and `JSON.parse` makes them without a pause. */
export const MOST_HOLDERS = 30_000;
const DEEPEST = 100;
/** Characters of a name that an error repeats. */
const SHOWN = 60;

/** @throws BrokenJson, ForbiddenKey, BodyTooRich */
export function* readJson(
  text: string,
  { values = MOST_VALUES, holders = MOST_HOLDERS }: { values?: number; holders?: number } = {},
): Long<unknown> {
  const named = yield* checkRichness(text, values, holders);
  let value: unknown;
  try {
    value = yield* parseAtLength(text);
  } catch {
    throw new BrokenJson(yield* brokenAt(text));
  }
  if (named !== (yield* countNames(value))) throw yield* repeatedName(text);
  if (!SUSPICIOUS.test(text)) return value;
  const root = { value };
  let faults = 0;
  for (const token of numbers(text)) {
    if (token === undefined) yield;
    else if (!isExact(token.source)) {
      replace(root, ['value', ...token.path], new InexactNumber(token.source));
      faults += 1;
      if (faults === MOST_FAULTS) break;
    }
  }
  return root.value;
}

/** Whether `JSON.parse` makes no more of it than this, nor deeper: a megabyte of brackets takes it half a second. */
export function isModest(text: Buffer, { values, holders }: { values: number; holders: number }): boolean {
  try {
    for (const _ of checkRichness(text.toString(), values, holders));
    return true;
  } catch {
    return false;
  }
}

/**
 * Counts the values in a text before `JSON.parse` makes any of them. The text need not be valid JSON.
 * @returns how many names the objects of a valid text have, repeated ones too
 * @throws BodyTooRich
 */
function* checkRichness(text: string, mostValues: number, mostHolders: number): Long<number> {
  /** For each object or array around the current place: its members so far, and whether it is an object. */
  const members: number[] = [];
  const objects: boolean[] = [];
  let values = 0;
  let holders = 0;
  let names = 0;
  for (let at = 0; at < text.length; at++) {
    if (at % LONG === 0) yield;
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) names += 1;
    else if (code === COMMA || code === OBJECT || code === ARRAY) {
      values += 1;
      if (values > mostValues) throw new BodyTooRich(`it has more than ${mostValues} values`);
      if (values % PAUSE === 0) yield;
      const depth = members.length - 1;
      if (code !== COMMA) {
        holders += 1;
        if (holders > mostHolders)
          throw new BodyTooRich(`it has more than ${mostHolders} objects and arrays`);
        members.push(1);
        objects.push(code === OBJECT);
        if (depth + 2 > DEEPEST) throw new BodyTooRich(`its values are more than ${DEEPEST} deep`);
      } else if (depth >= 0) {
        const count = (members[depth] ?? 0) + 1;
        members[depth] = count;
        if (count > MOST_NAMES && objects[depth] === true) {
          throw new BodyTooRich(`one of its objects has more than ${MOST_NAMES} members`);
        }
      }
    } else if (code === OBJECT_END || code === ARRAY_END) {
      members.pop();
      objects.pop();
    }
  }
  return names;
}

/** How many names all objects in the value have together. */
function* countNames(value: unknown): Long<number> {
  const holders = [value];
  let names = 0;
  for (let at = 0; at < holders.length; at++) {
    const holder = holders[at];
    if (typeof holder !== 'object' || holder === null) continue;
    const members: unknown[] = Object.values(holder);
    if (!Array.isArray(holder)) names += members.length;
    for (const member of members) if (typeof member === 'object' && member !== null) holders.push(member);
    yield;
  }
  return names;
}

/** The first name that an object in a valid text has twice. */
function* repeatedName(text: string): Long<ForbiddenKey> {
  const objects: Set<string>[] = [];
  let string = '';
  for (let at = 0; at < text.length; at++) {
    if (at % LONG === 0) yield;
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      string = text.slice(at, end + 1);
      at = end;
    } else if (code === OBJECT) objects.push(new Set());
    else if (code === OBJECT_END) objects.pop();
    else if (code === COLON) {
      const name = String(JSON.parse(string));
      if (objects.at(-1)?.has(name)) {
        return new ForbiddenKey(`one of its objects has ${JSON.stringify(name.slice(0, SHOWN))} twice`);
      }
      objects.at(-1)?.add(name);
      yield;
    }
  }
  return new ForbiddenKey('one of its objects has a name twice');
}

type Step = string | number;
type NumberToken = { source: string; path: readonly Step[] };

function replace(root: object, path: readonly Step[], by: InexactNumber): void {
  let holder: unknown = root;
  for (const step of path.slice(0, -1)) holder = Reflect.get(Object(holder), step);
  const [last] = path.slice(-1);
  if (typeof holder === 'object' && holder !== null && last !== undefined) Reflect.set(holder, last, by);
}

/** The current place of the scan: in an array at an index, in an object at a key. */
type Frame = { key: Step; array: boolean };

const [QUOTE, COMMA, COLON, MINUS] = [0x22, 0x2c, 0x3a, 0x2d];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The numbers in a valid JSON text that may not be exact; undefined now and then, for a pause. @throws ForbiddenKey */
function* numbers(text: string): Generator<NumberToken | undefined> {
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let string = '';
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      // Only a colon behind it shows that this string is a name.
      string = frame?.array === false ? text.slice(at, end + 1) : '';
      at = end;
    } else if (code === COLON && frame !== undefined) {
      const name: unknown = JSON.parse(string);
      // zod drops this key without an error, so a field of that name would not be printed.
      if (name === '__proto__') throw new ForbiddenKey('the key "__proto__" is not allowed');
      frame.key = String(name);
    } else if (code === OBJECT || code === ARRAY) {
      frame = { key: 0, array: code === ARRAY };
      frames.push(frame);
    } else if (code === OBJECT_END || code === ARRAY_END) {
      frames.pop();
      frame = frames.at(-1);
    } else if (code === COMMA) {
      if (frame?.array === true && typeof frame.key === 'number') frame.key += 1;
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      if (maybeInexact(text, at, end)) {
        yield { source: text.slice(at, end), path: frames.map(({ key }) => key) };
      }
      at = end - 1;
    } else continue;
    tokens += 1;
    if (tokens % PAUSE === 0) yield undefined;
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    // . + - e E
    if (!isDigit(code) && code !== 0x2e && code !== 0x2b && code !== MINUS && code !== 0x65 && code !== 0x45)
      break;
  }
  return end;
}

/** A double keeps every number of 15 digits with an exponent of two digits; only others need a closer look. */
function maybeInexact(text: string, start: number, end: number): boolean {
  if (end - start >= 16) return true;
  for (let at = start; at < end - 3; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x65 || code === 0x45) return true;
  }
  return false;
}

/** Whether the number that is printed is the one that was sent. */
function isExact(source: string): boolean {
  if (source.length > LONGEST_NUMBER) return false;
  const printed = String(Number(source));
  return source === printed || decimal(source) === decimal(printed);
}

/** One spelling for each decimal number: significant digits and the exponent of the last. */
function decimal(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [before = '', fraction = ''] = mantissa.split('.');
  const digits = `${before}${fraction}`.replace('-', '');
  let first = 0;
  while (digits.charCodeAt(first) === 0x30) first += 1;
  let end = digits.length;
  while (end > first && digits.charCodeAt(end - 1) === 0x30) end -= 1;
  if (first === end) return '0';
  const last = Number(exponent) - fraction.length + (digits.length - end);
  return `${mantissa.startsWith('-') ? '-' : ''}${digits.slice(first, end)}e${last}`;
}
