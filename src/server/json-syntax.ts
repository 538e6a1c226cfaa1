/**
 * Where a text stops being JSON. The engine's own message has the place of some faults only (of NaN it has
 * none), and repeats parts of the text.
 */
import type { Long } from './stretches.ts';

/** Characters between two pauses. */
const PAUSE = 100_000;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const BLANKS = /[ \t\n\r]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** What may follow: `first` is a member, or the end of a list or object that is empty. */
type Next = 'value' | 'first' | 'name' | 'colon' | 'more';

/** The first character that cannot stand where it stands, from 0; the text's length if it ends too early. */
export function* brokenAt(text: string): Long<number> {
  const ends: ('}' | ']')[] = [];
  let next: Next = 'value';
  let paused = 0;
  for (let at = after(BLANKS, text, 0) ?? 0; at < text.length; at = after(BLANKS, text, at) ?? at) {
    if (at - paused > PAUSE) {
      paused = at;
      yield;
    }
    const character = text.charAt(at);
    const end = ends.at(-1);
    if (character === end && (next === 'first' || next === 'more')) {
      ends.pop();
      next = 'more';
      at += 1;
    } else if (next === 'more') {
      if (character !== ',' || end === undefined) return at;
      next = end === '}' ? 'name' : 'value';
      at += 1;
    } else if (next === 'colon') {
      if (character !== ':') return at;
      next = 'value';
      at += 1;
    } else if (character === '"') {
      const closing = yield* endOfString(text, at);
      if (text.charAt(closing) !== '"') return closing;
      next = next === 'name' || (next === 'first' && end === '}') ? 'colon' : 'more';
      at = closing + 1;
    } else if (next === 'name' || (next === 'first' && end === '}')) {
      return at;
    } else if (character === '{' || character === '[') {
      ends.push(character === '{' ? '}' : ']');
      next = 'first';
      at += 1;
    } else {
      const over = after(NUMBER, text, at) ?? after(WORD, text, at);
      if (over === undefined) return at;
      next = 'more';
      at = over;
    }
  }
  return text.length;
}

/** The index of the quote that ends the string, or of what cannot be in a string. */
function* endOfString(text: string, start: number): Long<number> {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code < 0x20) return at;
    if (code === 0x5c) {
      const over = after(ESCAPE, text, at);
      if (over === undefined) return at;
      at = over;
    } else at += 1;
    if (at % PAUSE === 0) yield;
  }
  return text.length;
}

/** The index behind what the pattern finds right there; undefined: it finds nothing. */
function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
