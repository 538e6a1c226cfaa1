/** Why a symbol does not hold a value, as a reason of its own wherever the library that encodes it says which. */
import { expect, test } from 'vitest';
import { SymbolError } from '../../src/render/symbol/bwip.ts';
import { encodeSymbol } from '../../src/render/symbol/symbol.ts';

test.each([
  ['gs1-128', '(01)04012345678901(02)04012345678901(37)1', 'gs1-exclusive', { ai: '01', other: '37' }],
  ['gs1-128', '(10)A(10)B', 'gs1-repeated', { ai: '10' }],
  ['qr', 'x'.repeat(8_000), 'value-too-long-for-symbol', {}],
  ['micro-qr', 'x'.repeat(800), 'value-too-long-for-symbol', {}],
  ['pdf417', 'x'.repeat(8_000), 'value-too-long-for-symbol', {}],
  ['aztec', 'x'.repeat(8_000), 'value-too-long-for-symbol', {}],
] as const)('%s, case %#', (symbology, value, code, values) => {
  expect(reasonFor(() => encodeSymbol(symbology, value, {}))).toEqual({ code, values });
});

function reasonFor(encode: () => unknown): unknown {
  try {
    return encode();
  } catch (error) {
    if (error instanceof SymbolError) return error.said;
    throw error;
  }
}
