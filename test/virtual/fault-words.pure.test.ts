/** The words in which a virtual printer's faults are asked for, and told. */
import { expect, test } from 'vitest';
import { FaultWordError, faultsOf, NO_FAULTS, wordsFor } from '../../src/virtual/machine/faults.ts';

test('words are read from left to right, and written again', () => {
  const now = (...words: string[]) => wordsFor({ ...NO_FAULTS, ...faultsOf(words) });
  expect(now('cover-open', 'slow=70', 'media-empty')).toEqual(['media-empty', 'cover-open', 'slow=70']);
  expect(now('cover-open', 'slow=70', 'clear', 'silent')).toEqual(['silent']);
  expect(now('cover-open', 'slow=70', 'clear=slow', 'clear=cover-open', 'paused')).toEqual(['paused']);
  expect(faultsOf(['clear=silent'])).toEqual({ silent: false });
});

test.each([
  ['media-emtpy', 'did you mean media-empty?'],
  ['clear=media-emtpy', 'did you mean clear=media-empty?'],
  ['ribbon-out', 'did you mean marker-supply-empty?'],
  ['silent=1', 'did you mean silent?'],
  ['slow=-1', 'whole milliseconds'],
  ['slow=1e9', 'whole milliseconds'],
  ['slow=600001', 'whole milliseconds'],
  ['on fire', 'there are media-empty, marker-supply-empty'],
  ['__proto__', 'there are media-empty'],
  ['constructor', 'there are media-empty'],
  ['x'.repeat(100_000), 'there are media-empty'],
])('%.20s is no fault', (word, why) => {
  expect(() => faultsOf([word])).toThrow(FaultWordError);
  expect(() => faultsOf([word])).toThrow(why);
});
