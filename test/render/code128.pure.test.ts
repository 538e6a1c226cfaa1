import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bwipWidths } from '../../src/render/symbol/bwip.ts';
import { code128Widths, encodeCode128 } from '../../src/render/symbol/code128.ts';

const codes = (text: string) => Array.from(text, (char) => char.charCodeAt(0));
const width = (widths: readonly number[]) => widths.reduce((sum, modules) => sum + modules, 0);

test('is as long as it says, and no longer than another encoder makes it', () => {
  const ascii = fc.string({
    unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)),
  });
  const digits = fc.string({ unit: fc.constantFrom('0', '5', '9', 'A', 'b', '-') });
  fc.assert(
    fc.property(fc.oneof(ascii, digits), (text) => {
      if (text === '') return;
      const symbol = encodeCode128(codes(text));
      expect(width(code128Widths(symbol))).toBe(symbol.modules);
      expect(symbol.modules).toBeLessThanOrEqual(width(bwipWidths('code128', text, { binarytext: true })));
    }),
    { numRuns: 500 },
  );
});

test.each(['A', '12', '1234', 'AB1234', 'Platen-0042', '123456AB', '\x01\x02abc', 'ABC\x7f'])(
  '%j has the bars that another encoder gives it',
  (text) => {
    const bars = code128Widths(encodeCode128(codes(text)));
    expect(width(bars)).toBe(width(bwipWidths('code128', text, { binarytext: true })));
  },
);
