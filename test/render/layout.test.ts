import { describe, expect, test } from 'vitest';
import { createRecordCheck } from '../../src/render/check.ts';
import type { DisplayList, TextItem } from '../../src/render/display-list.ts';
import { turnBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, differingDots, dotsOf, inkBox, readText } from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';

const DPI = 203;
const mm = (dots: number) => (dots * 25.4) / DPI;

async function layout(
  elements: readonly object[],
  record = {},
  size = { width: 100, height: 60 },
): Promise<DisplayList> {
  const label = await compileLabel(design(size.width, size.height, elements), {
    dpi: DPI,
    orientation: 'portrait',
  });
  return label.layout(record);
}

function lines(list: DisplayList): TextItem[] {
  return list.items.filter((item) => item.kind === 'text');
}

describe('text in a box', () => {
  const box = { type: 'text', x: 10, y: 10, width: 40, height: 12, size: 5, text: '{{v}}' };

  test('shrinks until it fits, and not where it fits', async () => {
    const [fits] = lines(await layout([box], { v: 'Short' }));
    const long = await layout([box], { v: 'A line that is far too long at this size' });
    const [shrunk] = lines(long);
    expect(fits?.size).toBe(40);
    expect(shrunk?.size).toBeLessThan(30);
    const ink = inkBox(rasterBitmap(long));
    expect(mm(ink.right)).toBeLessThanOrEqual(50);
    expect(mm(ink.right)).toBeGreaterThan(46);
  });

  test('wraps at blanks, at the line spacing, and then shrinks', async () => {
    const wrap = { ...box, overflow: 'wrap', lineSpacing: 1.2 };
    const two = lines(await layout([wrap], { v: 'Organic whole bean espresso' }));
    expect(two.map((line) => line.text)).toEqual(['Organic whole', 'bean espresso']);
    expect((two[1]?.y ?? 0) - (two[0]?.y ?? 0)).toBe(48);
    const more = lines(
      await layout([wrap], { v: 'Organic whole bean espresso, roasted slowly in small batches by hand' }),
    );
    expect(more[0]?.size).toBeLessThan(40);
    expect(more.map((line) => line.text).join(' ')).toBe(
      'Organic whole bean espresso, roasted slowly in small batches by hand',
    );
  });

  test('a line limit is kept', async () => {
    const limited = { ...box, height: 40, overflow: 'wrap', maxLines: 2 };
    expect(
      lines(await layout([limited], { v: 'one two three four five six seven eight nine ten' })),
    ).toHaveLength(2);
  });

  test('clips whole characters and whole lines', async () => {
    const clip = { ...box, overflow: 'clip' };
    const list = await layout([clip], { v: 'A line that is far too long at this size\nsecond\nthird' });
    const [first, second, ...rest] = lines(list);
    expect('A line that is far too long at this size').toContain(first?.text);
    expect(second?.text).toBe('second');
    expect(rest).toEqual([]);
    expect(mm(inkBox(rasterBitmap(list)).right)).toBeLessThanOrEqual(50);
  });

  test('line ends break lines, tabs are blanks, other controls are seen', async () => {
    const list = await layout([{ ...box, font: 'sans' }], { v: 'a\r\nb\tc\0' });
    expect(lines(list).map((line) => line.text)).toEqual(['a', 'b c\ufffd']);
  });

  test('breaks Thai and Japanese between words and characters', async () => {
    const wrap = { ...box, font: 'sans', height: 40, overflow: 'wrap' };
    for (const v of ['สวัสดีครับยินดีต้อนรับสู่ประเทศไทย', '東京都新宿区西新宿二丁目八番一号です。']) {
      const broken = lines(await layout([wrap], { v }));
      expect(broken.length).toBeGreaterThan(1);
      expect(broken.map((line) => line.text).join('')).toBe(v);
      expect(broken.every((line) => !line.text.startsWith('。'))).toBe(true);
    }
  });

  test.each([
    ['left', 10, undefined],
    ['right', undefined, 50],
    ['center', undefined, undefined],
  ] as const)('aligns %s', async (align, left, right) => {
    const ink = inkBox(rasterBitmap(await layout([{ ...box, align }], { v: 'HHH' })));
    if (left !== undefined) expect(mm(ink.left)).toBeCloseTo(left, 0);
    if (right !== undefined) expect(mm(ink.right)).toBeCloseTo(right, 0);
    if (align === 'center') expect(mm(ink.left) + mm(ink.right)).toBeCloseTo(60, 0);
  });

  test.each(['top', 'middle', 'bottom'] as const)('stays in its box, %s, turned any way', async (valign) => {
    for (const rotation of [0, 90, 180, 270]) {
      const turned = { ...box, x: 10, y: 10, width: 30, height: 30, valign, rotation };
      const ink = inkBox(rasterBitmap(await layout([turned], { v: 'Hxg' })));
      expect(mm(ink.left)).toBeGreaterThanOrEqual(9.5);
      expect(mm(ink.top)).toBeGreaterThanOrEqual(9.5);
      expect(mm(ink.right)).toBeLessThanOrEqual(40.5);
      expect(mm(ink.bottom)).toBeLessThanOrEqual(40.5);
    }
  });

  test('white on black fills the box and is read', async () => {
    const list = await layout([{ ...box, size: 8, reverse: true, align: 'center', valign: 'middle' }], {
      v: 'FRAGILE',
    });
    const ink = inkBox(rasterBitmap(list));
    expect([ink.left, ink.top, ink.right, ink.bottom].map((at) => Math.round(mm(at)))).toEqual([
      10, 10, 50, 22,
    ]);
    expect(await readText(await rasterize(list))).toContain('FRAGILE');
  });

  test.each([0, 90, 180, 270] as const)(
    'white text without a box is on black, turned by %i',
    async (rotation) => {
      const bare = { type: 'text', x: 40, y: 30, size: 6, text: 'FRAGILE', reverse: true, rotation };
      const list = await layout([bare]);
      const upright = turnBitmap(
        rasterBitmap(list),
        rotation === 90 ? 270 : rotation === 270 ? 90 : rotation,
      );
      const { left, right, top, bottom } = inkBox(upright);
      expect([mm(right - left), mm(bottom - top)].map(Math.round)).toEqual([21, 6]);
      if (rotation === 0) expect(await readText(await rasterize(list))).toContain('FRAGILE');
    },
  );

  test.each(['condensed', 'sans'])('marks of white letters stand on black, in %s', async (font) => {
    const white = { type: 'text', x: 10, y: 10, width: 40, height: 6, size: 6, reverse: true, font };
    const dotsOfText = async (text: string) => {
      const bitmap = rasterBitmap(await layout([{ ...white, text }]));
      const black = bitmap.data.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
      const { left, right, top, bottom } = inkBox(bitmap);
      return (right - left) * (bottom - top) - black;
    };
    // The marks are white dots besides those of the letters.
    expect(await dotsOfText('ÄÑÅ')).toBeGreaterThan(1.05 * (await dotsOfText('ANA')));
  });
});

describe('orientation', () => {
  test('landscape is the whole label turned clockwise, to the dot', async () => {
    const source = design(60, 40, [
      { type: 'text', x: 4, y: 4, width: 30, height: 8, size: 6, text: 'Turn {{v}}' },
      { type: 'text', x: 40, y: 4, width: 8, height: 30, size: 5, text: 'Side', rotation: 270 },
      {
        type: 'barcode',
        symbology: 'code128',
        x: 4,
        y: 14,
        height: 10,
        value: '{{v}}',
        module: 0.25,
        hri: 'below',
      },
      { type: 'barcode', symbology: 'datamatrix', x: 4, y: 29, value: '{{v}}', module: 0.5 },
      { type: 'box', x: 1, y: 1, width: 58, height: 38, radius: 2 },
      { type: 'line', x: 50, y: 5, x2: 56, y2: 30 },
    ]);
    const target = (orientation: 'portrait' | 'landscape') => ({ dpi: DPI, orientation });
    const portrait = (await compileLabel(source, target('portrait'))).layout({ v: 'A12' });
    const landscape = (await compileLabel(source, target('landscape'))).layout({ v: 'A12' });
    expect([landscape.width, landscape.height]).toEqual([portrait.height, portrait.width]);
    expect([landscape.widthMm, landscape.heightMm]).toEqual([40, 60]);
    // Diagonals are drawn anew, and may differ by the dots of their edge.
    const turned = turnBitmap(rasterBitmap(portrait), 90);
    expect(differingDots(rasterBitmap(landscape), turned)).toBeLessThan(20);
  });
});

describe('errors name template, element, record and reason, and never the value', () => {
  const secret = 'SECRET-VALUE';
  test.each([
    [
      'EAN-13 with letters',
      { type: 'barcode', symbology: 'ean13', height: 5 },
      secret,
      'value-invalid',
      /12 digits/,
    ],
    [
      'EAN-13 check digit',
      { type: 'barcode', symbology: 'ean13', height: 5 },
      '4006381333930',
      'value-invalid',
      /check digit/,
    ],
    [
      'Code 128 over Latin-1',
      { type: 'barcode', symbology: 'code128', height: 5 },
      'SECRETΩ',
      'value-invalid',
      /Latin-1/,
    ],
    ['an empty barcode', { type: 'barcode', symbology: 'qr' }, '', 'value-invalid', /empty/],
    [
      'half a surrogate pair',
      { type: 'barcode', symbology: 'qr' },
      'SECRET\ud800',
      'value-invalid',
      /surrogate/,
    ],
    [
      'too wide for its space',
      { type: 'barcode', symbology: 'code128', height: 5, width: 20 },
      secret,
      'does-not-fit',
      /needs .* mm and has 20.0 mm/,
    ],
    [
      'over the edge',
      { type: 'barcode', symbology: 'code128', height: 5, module: 1 },
      secret,
      'does-not-fit',
      /edge/,
    ],
    [
      'quiet zone over the edge',
      { type: 'barcode', symbology: 'code128', height: 5, x: -2 },
      'A',
      'does-not-fit',
      /edge/,
    ],
    [
      'GS1: no brackets',
      { type: 'barcode', symbology: 'gs1-128', height: 5 },
      secret,
      'value-invalid',
      /AIs/,
    ],
    [
      'GS1: check digit',
      { type: 'barcode', symbology: 'gs1-128', height: 5 },
      '(00)340123450000000018',
      'value-invalid',
      /AI \(00\).*check digit is wrong: expected/,
    ],
    [
      'GS1: date',
      { type: 'barcode', symbology: 'gs1-datamatrix' },
      '(01)04012345678901(17)261345',
      'value-invalid',
      /AI \(17\).*month/,
    ],
    [
      'GS1: too short',
      { type: 'barcode', symbology: 'gs1-128', height: 5 },
      '(01)123',
      'value-invalid',
      /AI \(01\).*too short/,
    ],
    [
      'GS1: unknown AI',
      { type: 'barcode', symbology: 'gs1-128', height: 5 },
      '(0999)12',
      'value-invalid',
      /AI \(0999\).*recogni/,
    ],
    [
      'GS1: AIs that exclude each other',
      { type: 'barcode', symbology: 'gs1-128', height: 5 },
      '(01)04012345678901(37)5',
      'value-invalid',
      /AIs \(01\) and \(37\) are mutually exclusive/,
    ],
    ['a character no font has', { type: 'text', size: 4 }, '\u{12000}SECRET', 'value-invalid', /U\+12000/],
    ['text over the edge', { type: 'text', size: 4, x: 90 }, secret, 'does-not-fit', /edge/],
  ] as const)('%s', async (_, element, v, code, reason) => {
    const field = element.type === 'text' ? { text: '{{v}}' } : { value: '{{v}}' };
    const source = design(100, 60, [
      { type: 'box', x: 0, y: 0, width: 1, height: 1 },
      { x: 2, y: 2, ...element, ...field },
    ]);
    const target = { dpi: DPI, orientation: 'portrait' } as const;
    const label = await compileLabel(source, target);
    const check = await createRecordCheck(source, target);
    for (const attempt of [() => label.layout({ v }, 4), () => check({ v }, 4)]) {
      expect(attempt).toThrowError(
        expect.objectContaining({
          message: expect.stringMatching(reason),
          fault: expect.objectContaining({ code, record: 4, element: '/elements/1' }),
        }),
      );
      expect(attempt).toThrowError(/"Test label".*\/elements\/1.*record 5/);
      expect(attempt).not.toThrowError(/SECRET/);
    }
  });

  test.each([
    ['a linear barcode without height', { type: 'barcode', symbology: 'code128', value: 'A' }],
    [
      'a human-readable line under a matrix symbol',
      { type: 'barcode', symbology: 'qr', value: 'A', hri: 'below' },
    ],
    ['a picture that is none', { type: 'image', width: 5, height: 5, data: 'AAAA' }],
  ])('%s is a fault of the template', async (_, element) => {
    await expect(layout([{ x: 2, y: 2, ...element }])).rejects.toMatchObject({
      fault: { code: 'template-invalid', element: '/elements/0' },
    });
  });
});

test('a record that cannot add an AI: brackets in a value are data', async () => {
  const element = {
    type: 'barcode',
    symbology: 'gs1-128',
    x: 2,
    y: 2,
    height: 5,
    module: 0.13,
    value: '(01)04012345678901(10){{lot}}',
  };
  const bars = (await layout([element], { lot: 'A(21)7' })).items[0];
  const plain = (await layout([element], { lot: 'A*21*7' })).items[0];
  expect(bars?.kind === 'bars' && plain?.kind === 'bars' && bars.width === plain.width).toBe(true);
});

test('the check agrees with the layout at the edge of every size of matrix symbol', async () => {
  for (const symbology of ['qr', 'datamatrix'] as const) {
    const source = design(60, 60, [
      { type: 'barcode', symbology, x: 1, y: 1, width: 20, module: 0.5, value: '{{v}}' },
    ]);
    const target = { dpi: DPI, orientation: 'portrait' } as const;
    const label = await compileLabel(source, target);
    const check = await createRecordCheck(source, target);
    const outcome = (run: () => unknown) => {
      try {
        run();
        return 'fits';
      } catch (error) {
        return error instanceof Error ? error.message : 'not an error';
      }
    };
    let fitting = 0;
    for (let length = 1; length < 220; length += 7) {
      for (const unit of ['x', 'é', '7']) {
        const v = unit.repeat(length);
        const whole = outcome(() => label.layout({ v }));
        expect(outcome(() => check({ v }, 0))).toBe(whole);
        if (whole === 'fits') fitting++;
      }
    }
    expect(fitting).toBeGreaterThan(5);
  }
});

test('a PNG is the raster, with its resolution', async () => {
  const list = await layout([{ type: 'box', x: 3, y: 3, width: 20, height: 10, radius: 3, filled: true }]);
  const png = Buffer.from(await rasterize(list));
  expect(differingDots(await dotsOf(png), rasterBitmap(list))).toBe(0);
  // pHYs: 203 dpi is 7992 dots a metre.
  expect(png.readUInt32BE(png.indexOf('pHYs') + 4)).toBe(7992);
});

test('GS1: an AI whose companion may stand in another symbol of the label is no fault', async () => {
  const barcode = { type: 'barcode', symbology: 'gs1-128', height: 20, x: 2 };
  const source = design(150, 60, [
    { ...barcode, y: 2, value: '(00){{sscc}}' },
    { ...barcode, y: 30, value: '(02){{gtin}}(37){{count}}' },
  ]);
  const label = await compileLabel(source, { dpi: DPI, orientation: 'portrait' });
  const record = { sscc: '340123450000000017', gtin: '04012345678901', count: 12 };
  expect(label.layout(record).items.filter(({ kind }) => kind === 'bars')).toHaveLength(2);
  for (const [symbology, value] of [
    ['databar-expanded', '(10){{lot}}'],
    ['databar-expanded-stacked', '(10){{lot}}'],
    ['databar-expanded-composite', '(10){{lot}}|(21){{lot}}'],
  ]) {
    const one = design(150, 60, [{ type: 'barcode', symbology, x: 2, y: 2, value }]);
    const { layout } = await compileLabel(one, { dpi: DPI, orientation: 'portrait' });
    expect(layout({ lot: 'A(1)' }).items).toHaveLength(1);
  }
});
