/** Where a body stops being JSON is told by its place alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BrokenJson, readJson } from '../../src/server/json-body.ts';
import { brokenAt } from '../../src/server/json-syntax.ts';
import { whole } from '../../src/server/stretches.ts';

test.each([
  ['{"a":NaN}', 5],
  ['{"a":1,"b":-Infinity}', 11],
  ['[1,2,]', 5],
  ["{'a':1}", 1],
  ['{"a":01}', 6],
  ['{"a" 1}', 5],
  ['{"a":1}}', 7],
  ['{"a":"x\ty"}', 7],
  ['{"a":"\\x"}', 6],
  ['{"idT":', 7],
  ['{"a":undefined}', 5],
  ['[1 2]', 3],
  ['{"a":1,}', 7],
  ['"a', 2],
])('%j at %i', (text, at) => {
  expect(() => whole(readJson(text))).toThrow(BrokenJson);
  expect(whole(brokenAt(text))).toBe(at);
});

test('it is where the engine says, as far as the engine says it, and nowhere in a good text', () => {
  let compared = 0;
  const marks = ['"', ',', ':', '[', ']', '{', '}', '\\', 'e', '.', '-', '0', ' ', '\n', 'u', 't', ''];
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom(...marks), fc.nat(2), (json, where, mark, cut) => {
      expect(whole(brokenAt(json))).toBe(json.length);
      const from = where % (json.length + 1);
      const text = json.slice(0, from) + mark + json.slice(from + cut);
      const said = complaint(text);
      if (said === undefined) return;
      compared += 1;
      const at = whole(brokenAt(text));
      // The engine points into a word, a number or an escape that is broken, and we at its beginning.
      expect(Math.abs(at - said)).toBeLessThanOrEqual(8);
      // What is before it may be the beginning of something good.
      expect(whole(brokenAt(text.slice(0, at)))).toBe(at);
    }),
    { numRuns: 3_000 },
  );
  expect(compared).toBeGreaterThan(100);
});

/** Where `JSON.parse` stops; undefined: it does not, or does not say. */
function complaint(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
    return position === undefined ? undefined : Number(position);
  }
}
