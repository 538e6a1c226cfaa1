/** Reads GS1 element strings without brackets (GS1 General Specifications, 3 and 7.8). */

/** AIs whose values end by their length, so that no FNC1 follows them (GS1 General Specifications, predefined lengths). */
const FIXED_LENGTH = /^(?:0[0-4]|1[1-9]|20|3[1-6]|41)/;

export function endsByLength(ai: string): boolean {
  return FIXED_LENGTH.test(ai);
}

/** AIs by their length, which their first two digits tell. */
const AI_LENGTHS: readonly (readonly [ai: RegExp, length: number])[] = [
  [/^(?:0[0-4]|1\d|2[0-2]|30|37|9\d)/, 2],
  [/^(?:2[3-5]|4[0-2]|71)/, 3],
  [/^(?:3[1-69]|43|7[02]|8[0-2])/, 4],
];
/** Predefined lengths of AI and value together, by the first two digits. */
const WHOLE_LENGTHS: readonly (readonly [ai: RegExp, length: number])[] = [
  [/^00/, 20],
  [/^0[1-3]/, 16],
  [/^04/, 18],
  [/^1[1-9]/, 8],
  [/^20/, 4],
  [/^3[1-6]/, 10],
  [/^41/, 16],
];

const lengthOf = (lengths: typeof AI_LENGTHS, text: string) => lengths.find(([ai]) => ai.test(text))?.[1];

/**
 * AIs and values of a text in which `separator` ends a value whose length is not predefined.
 * @returns undefined: it has no such form
 */
export function plainElements(text: string, separator: string): [ai: string, value: string][] | undefined {
  const elements: [string, string][] = [];
  for (let rest = text; rest !== ''; ) {
    const length = lengthOf(AI_LENGTHS, rest);
    const end = rest.indexOf(separator);
    const whole = lengthOf(WHOLE_LENGTHS, rest) ?? (end < 0 ? rest.length : end);
    if (length === undefined || rest.length < whole || whole <= length) return undefined;
    const element = rest.slice(0, whole);
    if (!/^\d+$/.test(element.slice(0, length)) || element.includes(separator)) return undefined;
    elements.push([element.slice(0, length), element.slice(length)]);
    rest = rest.slice(whole);
    if (rest.startsWith(separator)) rest = rest.slice(separator.length);
  }
  return elements.length === 0 ? undefined : elements;
}
