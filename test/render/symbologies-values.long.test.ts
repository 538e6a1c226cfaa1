/** What a symbology holds and what it refuses, its options, its human-readable line, its bearer bars and add-ons. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SYMBOLOGIES, type Symbology } from '../../src/contract/template.ts';
import type { BarsItem, DisplayList } from '../../src/render/display-list.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { bwipWidths, SymbolError } from '../../src/render/symbol/bwip.ts';
import { checkOptions, encodeSymbol } from '../../src/render/symbol/symbol.ts';
import { deutschePost, luhn, mod11, mod16, mod43 } from '../../src/values/check-digits.ts';
import { design } from '../kit/judges/judges.ts';
import { zintRows } from '../kit/judges/zint.ts';
import { CASES } from './symbology-cases.ts';

const DPI = 203;

async function layout(element: object, record: Record<string, string> = {}, dpi = DPI): Promise<DisplayList> {
  const source = design(120, 60, [{ type: 'barcode', x: 2, y: 2, value: '{{v}}', ...element }]);
  return (await compileLabel(source, { dpi, orientation: 'portrait' })).layout(record);
}

function bars(list: DisplayList): BarsItem[] {
  return list.items.filter((item) => item.kind === 'bars');
}

function texts(list: DisplayList): string[] {
  return list.items.flatMap((item) => (item.kind === 'text' ? [item.text] : []));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe('a value that the symbology does not hold is refused, and not quoted', () => {
  test.each<[Symbology, string, RegExp, object?]>([
    ['code128', 'lower', /set A/, { codeSet: 'A' }],
    ['code128', 'SECRET\t', /set B/, { codeSet: 'B' }],
    ['code128', '123', /set C/, { codeSet: 'C' }],
    ['code39', 'secret', /capitals/],
    ['code39', 'SECRÉT', /ASCII/, { fullAscii: true }],
    ['code93', 'SECRÉT', /ASCII/],
    ['codabar', 'SECRET', /Codabar holds/],
    ['codabar', 'A1234', /start and a stop/],
    ['itf', '12345', /even/],
    ['itf', 'SECRET', /digits only/],
    ['itf14', '04012345678902', /check digit is wrong/],
    ['msi', 'SECRET', /digits only/],
    ['msi', '6', /no modulo 11/, { checkDigit: 'mod11' }],
    ['ean13', '4006381333932', /check digit is wrong/],
    ['ean13', '4006381333931+123', /add-on/],
    ['ean13', '4006381333931+', /add-on/],
    ['ean8', '123456', /EAN-8 holds 7/],
    ['upca', '012345678904', /check digit is wrong/],
    ['upce', '21234565', /number system/],
    ['upce', '01234564', /check digit is wrong/],
    ['databar', '(01)04012345678902', /AI \(01\).*check digit is wrong: expected 1/],
    ['databar', '(10)SECRET', /AI \(01\) and nothing else/],
    ['databar', '(00)340123450000000017', /AI \(01\)/],
    ['gs1-qr', '0', /AIs/],
    ['databar-expanded', '(01)(10)SECRET', /AI \(01\)/],
    ['gs1-qr', '(01)04012345678901(10)A(1)', /AI/],
    ['databar-limited', '(01)24012345678905', /AI \(01\).*starts with 0 or 1/],
    ['databar-expanded', '(01)04012345678901(17)269901', /AI \(17\).*month/],
    ['databar-expanded', `(01)04012345678901(10)${'S'.repeat(21)}`, /AI \(10\).*too long/],
    ...(['databar-expanded', 'databar-expanded-stacked'] as const).map(
      (symbology): [Symbology, string, RegExp] => [
        symbology,
        '(01)04012345678901(10)secret-lot-12(21)s/n=0(240)2d3lx',
        /too long/,
      ],
    ),
    [
      'databar-expanded-composite',
      '(01)04012345678901(10)secret-lot-12(21)s/n=0(240)2d3lx|(99)A',
      /too long/,
    ],
    ['gs1-qr', '(8020)SECRET SECRET', /CSET|AI \(8020\)|characters/],
    ['micro-qr', 'SECRET'.repeat(10), /too long/],
    ['pdf417', 'SECRET'.repeat(600), /length|exceed|long/],
    ['micropdf417', 'SECRET'.repeat(60), /length|exceed|long/],
    ['aztec', 'SECRET'.repeat(900), /long/],
    ['maxicode', 'SECRET'.repeat(30), /long/],
    ['maxicode', 'SECRET', /mode|postcode|primary|service|country/i, { mode: 2 }],
    ['royal-mail', 'le28hs', /capitals/],
    ['kix', 'SECRET 1', /capitals/],
    ['usps-imb', '0523', /20 digits/],
    ['postnet', '1234', /5, 9 or 11/],
    ['planet', '1234', /11 or 13/],
    ['japan-post', 'SECRET?', /Japan Post holds/],
    ['australia-post', '1234', /format control code/],
    ['leitcode', '21348075016402', /check digit is wrong/],
    ['identcode', '1234', /Identcode holds 11/],
  ])('%s: %j', (symbology, value, reason, options = {}) => {
    const attempt = () => encodeSymbol(symbology, value, options);
    expect(attempt).toThrowError(SymbolError);
    expect(attempt).toThrowError(reason);
    expect(attempt).not.toThrowError(value);
    expect(attempt).not.toThrowError(/SECR/);
  });

  test('whatever the value, a symbol or a reason, and never the value', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 32 }),
      fc
        .string({ unit: fc.constantFrom(...'0123456789AZaz-+()^%'), maxLength: 20 })
        .map((rest) => `(01)${rest}`),
    );
    fc.assert(
      fc.property(fc.constantFrom(...SYMBOLOGIES), text, (symbology, value) => {
        try {
          encodeSymbol(symbology, value, {});
        } catch (error) {
          if (!(error instanceof SymbolError)) throw error;
          expect(error.message).not.toBe('');
          if (value.length > 6) expect(error.message).not.toContain(value);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('options', () => {
  test.each<[Symbology, object, RegExp]>([
    ['qr', { ratio: 2.5 }, /"ratio" is no option of qr/],
    ['qr', { ecLevel: 2 }, /one of L, M, Q, H/],
    ['micro-qr', { ecLevel: 'H' }, /one of L, M, Q/],
    ['pdf417', { ecLevel: 'L' }, /0 to 8/],
    ['aztec', { ecLevel: 'L' }, /percent/],
    ['pdf417', { rowHeight: 2 }, /at least 3/],
    ['micropdf417', { columns: 5 }, /1 to 4/],
    ['databar-expanded-stacked', { columns: 3 }, /even/],
    ['code39', { checkDigit: 'mod10' }, /none, mod43/],
    ['ean13', { bearer: 'bars' }, /no option/],
  ])('%s with %j is a fault of the template', async (symbology, options, reason) => {
    expect(() => checkOptions(symbology, options)).toThrowError(reason);
    await expect(layout({ symbology, height: 10, ...options })).rejects.toMatchObject({
      fault: { code: 'template-invalid', element: '/elements/0' },
    });
  });

  test('the module in dots, whatever the resolution', async () => {
    for (const dpi of [203, 300, 600]) {
      const [item] = bars(await layout({ symbology: 'code93', height: 5, moduleDots: 3 }, { v: 'AB' }, dpi));
      expect(item?.module).toBe(3);
      expect(item?.width).toBe(3 * 55);
    }
  });

  test.each([
    [2, 2.5, 5],
    [3, 2.5, 8],
    [1, 2.2, 2],
    [4, 2.25, 9],
  ])('a module of %i dots and a ratio of %d: wide bars of %i dots', async (moduleDots, ratio, wide) => {
    const element = { symbology: 'code39', height: 5, moduleDots, ratio };
    const [item] = bars(await layout(element, { v: 'AB12' }));
    expect(new Set(item?.widths())).toEqual(new Set([moduleDots, wide]));
    expect(sum(item?.widths() ?? [])).toBe(item?.width);
  });

  test('GS1 DataBar has a least height, and that without one', async () => {
    const element = { symbology: 'databar', moduleDots: 2 };
    const [item] = bars(await layout(element, { v: '04012345678901' }));
    expect(item?.height).toBe(66);
    await expect(layout({ ...element, height: 8 }, { v: '04012345678901' })).rejects.toMatchObject({
      fault: { code: 'template-invalid' },
    });
  });
});

test.each(CASES)('$name is as wide as it says', ({ symbology, value, element }) => {
  const symbol = encodeSymbol(symbology, value, element ?? {});
  if (symbol.kind === 'linear') {
    const widths = symbol.widths();
    const wides = symbol.wides === 0 ? 0 : widths.filter((width) => width > 1).length;
    const modules = symbol.wides === 0 ? sum(widths) : widths.length - wides;
    expect(wides).toBe(symbol.wides);
    const { addOn } = symbol.retail ?? {};
    expect(modules).toBe(symbol.retail?.modules ?? symbol.modules);
    const starts = new Map<number, number>();
    widths.reduce((at, width, index) => {
      if (index % 2 === 0) starts.set(at, width);
      return at + width;
    }, 0);
    for (const { at, width } of symbol.retail?.guards ?? []) expect(starts.get(at)).toBe(width);
    if (addOn !== undefined) {
      expect(sum(addOn.widths())).toBe(addOn.modules);
      expect(symbol.modules).toBe(addOn.at + addOn.modules);
    }
  } else if (symbol.kind === 'matrix') {
    const bitmap = symbol.bitmap();
    expect([bitmap.width, bitmap.height]).toEqual([symbol.columns, symbol.rows]);
  } else {
    expect(symbol.kind === 'postal' ? symbol.bars.length : symbol.dark.length).toBeGreaterThan(30);
  }
});

test('MaxiCode has the hexagons that another encoder gives it', async () => {
  const postal = '152382802\u001d840\u001d001';
  for (const [value, mode, data, options] of [
    ['Maxi 42', 4, 'Maxi 42', []],
    [`${postal}\u001dABC`, 2, 'ABC', ['--primary=152382802840001']],
  ] as const) {
    const rows = await zintRows('57', data, [`--mode=${mode}`, ...options]);
    const dark = rows.flatMap((row, y) =>
      Array.from(row.slice(0, 30), (bit, x) => (bit === '1' ? 30 * y + x : -1)),
    );
    const symbol = encodeSymbol('maxicode', value, { mode });
    const ours = symbol.kind === 'maxicode' ? [...symbol.dark] : [];
    expect(ours.sort((a, b) => a - b)).toEqual(dark.filter((module) => module >= 0));
  }
});

test('check digits are those that another encoder adds', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 18 });
  const code39 = fc.string({ unit: fc.constantFrom(...'0A9Z-. $/+%'), minLength: 1, maxLength: 12 });
  const codabar = fc.string({ unit: fc.constantFrom(...'0192837465-$:/.+'), minLength: 1, maxLength: 12 });
  const same = (bcid: string, ours: string, data: string, options: Record<string, string | boolean>) => {
    expect(bwipWidths(bcid, ours)).toEqual(bwipWidths(bcid, data, { includecheck: true, ...options }));
  };
  fc.assert(
    fc.property(code39, (v) => {
      same('code39', v + mod43(v), v, {});
    }),
    { numRuns: 60 },
  );
  fc.assert(
    fc.property(codabar, (v) => {
      same('rationalizedCodabar', `A${v}${mod16(`A${v}B`)}B`, `A${v}B`, {});
    }),
    { numRuns: 60 },
  );
  fc.assert(
    fc.property(digits, (v) => {
      same('msi', v + luhn(v), v, { checktype: 'mod10' });
      same('msi', v + luhn(v) + luhn(v + luhn(v)), v, { checktype: 'mod1010' });
      const check = mod11(v);
      if (check !== undefined) same('msi', v + check, v, { checktype: 'mod11' });
    }),
    { numRuns: 60 },
  );
  expect(deutschePost('2134807501640')).toBe('1');
  expect(deutschePost('56310243031')).toBe('3');
});

describe('the human-readable line', () => {
  test.each<[Symbology, string, string[], object?]>([
    ['ean13', '400638133393', ['4', '006381', '333931']],
    ['ean13', '9780201379624+51299', ['9', '780201', '379624', '51299']],
    ['ean8', '1234567', ['1234', '5670']],
    ['upca', '01234567890', ['0', '12345', '67890', '5']],
    ['upce', '123456', ['0', '123456', '5']],
    ['itf14', '0401234567890', ['04012345678901']],
    ['code39', 'AB12', ['AB12O'], { checkDigit: 'mod43' }],
    ['msi', '1234', ['12344'], { checkDigit: 'mod10' }],
    ['codabar', '1234', ['1234']],
    ['code93', 'AB12', ['AB12']],
    ['databar', '04012345678901', ['(01)04012345678901']],
    ['databar-expanded', '(01)04012345678901(10)AB', ['(01)04012345678901(10)AB']],
    ['leitcode', '2134807501640', ['21348.075.016.40 1']],
    ['identcode', '56310243031', ['56.310 243.031 3']],
  ])('%s', async (symbology, v, lines, options = {}) => {
    const height = symbology.startsWith('databar') ? {} : { height: 10 };
    const list = await layout({ symbology, ...height, hri: 'below', module: 0.25, ...options }, { v });
    expect(texts(list).sort()).toEqual([...lines].sort());
  });

  test('stands over all of a retail symbol, when asked to', async () => {
    const list = await layout(
      { symbology: 'upca', height: 10, hri: 'above', module: 0.25 },
      { v: '01234567890+12' },
    );
    expect(texts(list)).toEqual(['012345678905 12']);
    expect(list.items.filter((item) => item.kind === 'fill')).toEqual([]);
  });

  test('is refused where there are no bars to stand under', async () => {
    for (const symbology of ['qr', 'pdf417', 'usps-imb', 'maxicode']) {
      await expect(layout({ symbology, hri: 'below' }, { v: '1' })).rejects.toMatchObject({
        fault: { code: 'template-invalid' },
      });
    }
  });
});

test('ITF-14 has bearer bars over its quiet zones, unless told otherwise', async () => {
  const element = { symbology: 'itf14', height: 10, moduleDots: 2 };
  const record = { v: '0401234567890' };
  const list = await layout(element, record);
  const [symbol] = bars(list);
  const fills = list.items.filter((item) => item.kind === 'fill');
  expect(fills.map(({ x, width, height }) => [x, width, height])).toEqual([
    [16, (symbol?.width ?? 0) + 40, 8],
    [16, (symbol?.width ?? 0) + 40, 8],
  ]);
  expect(fills.map(({ y }) => y)).toEqual([(symbol?.y ?? 0) - 8, (symbol?.y ?? 0) + (symbol?.height ?? 0)]);
  const bare = await layout({ ...element, bearer: 'none' }, record);
  expect(bare.items).toHaveLength(1);
});

test('brackets in a record are data in GS1 DataBar Expanded too', async () => {
  const element = {
    symbology: 'databar-expanded',
    moduleDots: 1,
    value: '(01)04012345678901(10){{v}}',
    hri: 'below',
  };
  expect(texts(await layout(element, { v: 'A(21)7' }))).toEqual(['(01)04012345678901(10)A(21)7']);
});
