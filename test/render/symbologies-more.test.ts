/** Symbols of pharmacies and hospitals, GS1 Composite, rMQR, Code 11: their data, their check digits, their sizes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SYMBOLOGIES, type Symbology } from '../../src/contract/template.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { bwipWidths, SymbolError } from '../../src/render/symbol/bwip.ts';
import { encodeSymbol } from '../../src/render/symbol/symbol.ts';
import { code11Checks } from '../../src/values/check-digits.ts';
import { design, readSymbols } from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';
import { zintRows } from '../kit/judges/zint.ts';
import { CASES } from './symbology-cases.ts';

async function picture(element: object, v: string): Promise<Uint8Array> {
  const label = design(150, 80, [{ type: 'barcode', x: 2, y: 2, value: '{{v}}', moduleDots: 3, ...element }]);
  return rasterize((await compileLabel(label, { dpi: 203, orientation: 'portrait' })).layout({ v }));
}

function linear(symbology: Symbology, value: string) {
  const symbol = encodeSymbol(symbology, value, {});
  if (symbol.kind !== 'linear') throw new Error(`${symbology} is not linear`);
  return symbol;
}

describe('a value that the symbology does not hold is refused, and not quoted', () => {
  test.each<[Symbology, string, RegExp]>([
    ['pzn', '12345679', /check digit is wrong/],
    ['pzn', '0000003', /no such PZN/],
    ['pzn', '123456', /7 digits/],
    ['code32', '012345671', /check digit is wrong/],
    ['code32', 'B01234567', /8 digits/],
    ['pharmacode', '2', /3 to 131070/],
    ['pharmacode', '131071', /3 to 131070/],
    ['hibc-code128', 'secret1', /HIBC holds/],
    ['hibc-datamatrix', '+', /nothing but the flag/],
    ['code11', '12A45', /Code 11 holds/],
    ['telepen', 'SECRÉT', /ASCII/],
    ['rmqr', 'SECRET'.repeat(60), /long|length|content/],
    ['ean13-composite', '2112345678900', /a composite is/],
    ['ean13-composite', '211234567890|(99)12', /digits, the check digit among them/],
    ['ean13-composite', '2112345678901|(99)12', /check digit/i],
    ['databar-composite', '(01)03612345678905|(11)990102', /AI \(01\)/],
    ['databar-composite', '(01)03612345678904|(11)991302', /AI \(11\).*month/],
    ['gs1-128-composite', '(01)03612345678904|990102', /AIs in brackets/],
  ])('%s: %j', (symbology, value, reason) => {
    const attempt = () => encodeSymbol(symbology, value, {});
    expect(attempt).toThrowError(SymbolError);
    expect(attempt).toThrowError(reason);
    if (value.length > 1) expect(attempt).not.toThrowError(value);
  });
});

describe('check digits are those that another encoder adds', () => {
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
  const numRuns = 100;

  test('PZN', () => {
    fc.assert(
      fc.property(digits(7), (v) => {
        let theirs: number[] | undefined;
        try {
          theirs = bwipWidths('pzn', v, { pzn8: true });
        } catch (error) {
          if (!(error instanceof SymbolError)) throw error;
        }
        if (theirs === undefined) expect(() => linear('pzn', v)).toThrowError(/no such PZN/);
        else expect(linear('pzn', v).widths()).toEqual(theirs);
      }),
      { numRuns },
    );
    expect(linear('pzn', '1234562').text).toBe('PZN-12345626');
  });

  test('Code 32', () => {
    fc.assert(
      fc.property(digits(8), (v) => {
        expect(linear('code32', v).widths()).toEqual(bwipWidths('code32', v));
        const { text } = linear('code32', v);
        expect(linear('code32', text).text).toBe(text);
      }),
      { numRuns },
    );
  });

  test('HIBC', () => {
    const data = fc.string({ unit: fc.constantFrom(...'0189AKZ-. $/+%'), minLength: 1, maxLength: 18 });
    fc.assert(
      fc.property(data, (v) => {
        fc.pre(!v.startsWith('+'));
        expect(linear('hibc-code39', v).widths()).toEqual(bwipWidths('hibccode39', v));
      }),
      { numRuns },
    );
    expect(linear('hibc-code128', 'A123BJC5D6E71').text).toBe('*+A123BJC5D6E71G*');
    // The flag may be there already, and a blank is printed as something that is seen.
    expect(linear('hibc-code39', '+A123BJC5D6E71').text).toBe('*+A123BJC5D6E71G*');
    const blank = linear('hibc-code39', 'Z$').text;
    expect(blank).toMatch(/^\*\+Z\$[^ ]\*$/);
  });

  test('Code 11', async () => {
    for (const value of [
      '0',
      '-',
      '0123-45',
      '999999999',
      '0123-456789',
      '98765432109876543210',
      '----------',
    ]) {
      const [row] = await zintRows('1', value, value.length < 10 ? ['--vers=1'] : []);
      const widths = bwipWidths('code11', value + code11Checks(value));
      const bits = widths.map((width, at) => (at % 2 === 0 ? '1' : '0').repeat(width > 1 ? 2 : 1)).join('');
      expect(row?.replace(/0+$/, '')).toBe(bits);
    }
  });
});

describe('rMQR', () => {
  test('holds what it is given, in the symbol of least area', async () => {
    const text = fc.oneof(
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 100 }),
      fc.string({ unit: fc.constantFrom(...'éßÄЖ日本語'), minLength: 1, maxLength: 12 }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (v) => {
        // A reader that looks for every kind takes a part of one in a thousand for a Micro QR code.
        const [found] = await readSymbols(await picture({ symbology: 'rmqr' }, v), { formats: ['RMQRCode'] });
        expect(found).toMatchObject({ format: 'RMQRCode', text: v });
      }),
      { numRuns: 40 },
    );
    for (const [value, size] of [
      ['1234', '11 × 27'],
      ['A'.repeat(40), undefined],
    ] as const) {
      const rows = await zintRows('145', value, ['--secure=2']);
      const symbol = encodeSymbol('rmqr', value, {});
      if (symbol.kind !== 'matrix') throw new Error('not a matrix');
      const width = Math.max(...rows.map((row) => row.lastIndexOf('1'))) + 1;
      expect(symbol.columns * symbol.rows).toBeLessThanOrEqual(width * rows.length);
      if (size !== undefined) expect(`${symbol.rows} × ${symbol.columns}`).toBe(size);
    }
  });
});

describe('GS1 Composite', () => {
  const cases = CASES.filter(({ symbology }) => symbology.endsWith('-composite'));

  test('each has a case', () => {
    expect(cases.map(({ symbology }) => symbology)).toEqual(
      SYMBOLOGIES.filter((symbology) => symbology.endsWith('-composite')),
    );
  });

  test.each(cases)('$symbology: its linear part is read by itself', async ({ symbology, value }) => {
    const found = await readSymbols(await picture({ symbology }, value));
    const below = value.split('|')[0]?.replaceAll(/[()]/g, '') ?? '';
    const read = found.map(({ text }) => text);
    // zxing gives a UPC-A as the EAN-13 and a UPC-E as the UPC-A that it stands for.
    const stands: Partial<Record<Symbology, string>> = {
      'upca-composite': `0${below}`,
      'upce-composite': '0001234000057',
    };
    expect(read).toContain(stands[symbology] ?? below);
  });
});
