/** Barcodes of raw ZPL that the rasteriser does not draw, as decoders and an encoder of others see our pictures of them. */
import { describe, expect, test } from 'vitest';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { isBlack } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { compileRawPictures } from '../../src/render/output/raw-picture.ts';
import { inkBox, readSymbols } from '../kit/judges/judges.ts';
import {
  barsOnPicture,
  everyOther,
  postalOnPicture,
  rowsOnPicture,
  withoutMargins,
  zintRows,
} from '../kit/judges/zint.ts';

const MEDIA = { dpi: 203, width: 100, height: 60 };

async function picture(fields: string) {
  const template = rawZplTemplate.parse({
    name: 'Raw',
    language: 'zpl',
    source: `^XA${fields}^XZ`,
    ...MEDIA,
  });
  return rasterBitmap(await compileRawPictures(template, MEDIA).layout({}));
}

const DATABAR = '010401234567890110AB(12#21X';

async function read(fields: string) {
  const found = await readSymbols(encodePng(await picture(fields), MEDIA.dpi));
  return found.map(({ symbologyIdentifier, text }) => [symbologyIdentifier, text]);
}

describe.each(['N', 'R', 'I', 'B'])('turned %s, read by zxing', (turn) => {
  test.each([
    ['UPC-A', `BU${turn},80`, '01234567890', ']E0', '0012345678905'],
    ['UPC-A of fewer digits', `BU${turn},80,N`, '12345', ']E0', '0000000123457'],
    ['UPC-E', `B9${turn},80,Y`, '1230000045', ']E0', '0012300000451'],
    ['UPC-E by its six digits', `B9${turn},80`, '981231', ']E0', '0098100001232'],
    ['UPC-E of number system 1', `B9${turn},80`, '19810000123', ']E0', '0198100001239'],
    ['EAN-8', `B8${turn},80`, '1234567', ']E4', '12345670'],
    ['Code 93', `BA${turn},80`, 'CODE 93', ']G0', 'CODE 93'],
    ['Code 93 with a shifted character', `BA${turn},80,N`, 'A)B', ']G0', 'Ab'],
    ['Codabar', `BK${turn},N,80,,,B,D`, '12-3', ']F0', 'B12-3D'],
    ['LOGMARS', `BL${turn},80`, 'AB12', ']A1', 'AB12O'],
    ['Aztec', `B0${turn},5`, 'aztec', ']z0', 'aztec'],
    ['MicroPDF417', `BF${turn},8,9`, 'Micro PDF', ']L2', 'Micro PDF'],
    ['TLC39 without a serial number', `BT${turn}`, '123456', ']A0', '123456'],
    ['TLC39 of seven digits', `BT${turn},3,2.5,60`, '1234567', ']A0', '123456'],
    ['DataBar', `BR${turn},1`, '0401234567890', ']e0', '0104012345678901'],
    ['DataBar of fewer digits', `BR${turn},2`, '401234567890', ']e0', '0104012345678901'],
    ['DataBar stacked', `BR${turn},3`, '0401234567890', ']e0', '0104012345678901'],
    ['DataBar stacked omnidirectional', `BR${turn},4`, '0401234567890', ']e0', '0104012345678901'],
    ['DataBar limited', `BR${turn},5`, '0401234567890', ']e0', '0104012345678901'],
    ['DataBar expanded', `BR${turn},6,1`, DATABAR, ']e0', DATABAR.replace('#', '\x1d')],
    ['DataBar expanded in rows', `BR${turn},6,2,1,25,4`, DATABAR, ']e0', DATABAR.replace('#', '\x1d')],
    ['UPC-A by ^BR', `BR${turn},7`, '01234567890', ']E0', '0012345678905'],
    ['UPC-E by ^BR', `BR${turn},8`, '1230000045', ']E0', '0012300000451'],
    ['EAN-13 by ^BR', `BR${turn},9`, '400638133393', ']E0', '4006381333931'],
    ['EAN-8 by ^BR', `BR${turn},10`, '1234567', ']E4', '12345670'],
    ['GS1-128 by ^BR', `BR${turn},11,1,1,60`, '010401234567890110AB12', ']C1', '010401234567890110AB12'],
  ])('%s', async (_, command, data, identifier, text) => {
    expect(await read(`^FO60,60^BY3^${command}^FD${data}^FS`)).toEqual([[identifier, text]]);
  });
});

test.each([
  ['Industrial 2 of 5', 'BIN,40,N', '123456', '7'],
  ['Standard 2 of 5', 'BJN,40,N', '123456', '4'],
  ['Plessey', 'BPN,N,40,N', '1234AB', '86'],
])('%s has the bars of zint', async (_, command, data, type) => {
  const [row = ''] = await zintRows(type, data);
  const bars = barsOnPicture(await picture(`^FO60,60^BY2,3^${command}^FD${data}^FS`), 0, 2);
  expect(bars).toBe(row.replace(/0+$/, ''));
});

test.each([
  ['MSI', 'BMN,A,40,N', '1234', '47', []],
  ['MSI with mod 10', 'BMN,B,40,N', '1234', '47', ['--vers=1']],
  ['Code 11', 'B1N,N,40,N', '123-45', '1', []],
  ['Code 11 with one check digit', 'B1N,Y,40,N', '123-45', '1', ['--vers=1']],
])('%s has the bars of zint, wide ones twice as wide', async (_, command, data, type, options) => {
  const [row = ''] = await zintRows(type, data, options);
  const bars = barsOnPicture(await picture(`^FO60,60^BY2,2^${command}^FD${data}^FS`), 0, 2);
  expect(bars).toBe(row.replace(/0+$/, ''));
});

describe.each([
  ['N', 0],
  ['R', 90],
  ['I', 180],
  ['B', 270],
] as const)('a postal code turned %s has the bars of zint', (turn, degrees) => {
  test.each([
    ['POSTNET', `BZ${turn},40`, '12345', '40', 2],
    ['POSTNET of nine digits', `BZ${turn},40,N,N,0`, '123456789', '40', 2],
    ['PLANET', `BZ${turn},40,N,N,1`, '01234567890', '82', 2],
    ['PLANET by its own command', `B5${turn},40`, '01234567890', '82', 2],
    ['USPS Intelligent Mail', `BZ${turn},40,N,N,3`, '01234567094987654321', '85', 3],
  ] as const)('%s', async (_, command, data, type, rows) => {
    const bars = postalOnPicture(await picture(`^FO20,20^BY2^${command}^FD${data}^FS`), degrees, rows);
    const made = everyOther(await zintRows(type, data), bars[0]?.length ?? 0);
    expect(bars).toEqual(made);
  });
});

test.each([
  ['1', '0361234567890', '132', '0361234567890', []],
  ['2', '0361234567890', '132', '0361234567890', []],
  ['3', '0361234567890', '137', '0361234567890', []],
  ['4', '0361234567890', '138', '0361234567890', []],
  ['5', '0351234567890', '133', '0351234567890', []],
  ['6', '0103612345678904', '134', '[01]03612345678904', []],
  ['7', '41600033610', '135', '416000336108', []],
  ['8', '1230000045', '136', '01234531', []],
  ['9', '331234567890', '130', '331234567890', []],
  ['10', '1234567', '130', '1234567', []],
  ['11', '0103812345678908', '131', '[01]03812345678908', ['--mode=1']],
  ['12', '0103812345678908', '131', '[01]03812345678908', ['--mode=3']],
])(
  'type %s of ^BR with a composite part has the rows of zint',
  async (type, below, zint, primary, options) => {
    const made = await zintRows(zint, '[99]1234-abcd[10]A', [`--primary=${primary}`, ...options]);
    const drawn = await picture(`^FO20,20^BRN,${type}^FD${below}|991234-abcd#10A^FS`);
    expect(withoutMargins(rowsOnPicture(drawn, 0, 2))).toEqual(withoutMargins(made));
  },
);

test('a composite part begins where it does above DataBar Expanded in one row, in several too', async () => {
  const primary = '[01]03612345678904[10]AB12';
  const made = await zintRows('139', '[99]1234-abcd[10]A', ['--cols=2', `--primary=${primary}`]);
  const drawn = await picture('^FO20,20^BRN,6,2,1,25,4^FD010361234567890410AB12|991234-abcd#10A^FS');
  expect(withoutMargins(rowsOnPicture(drawn, 0, 2))).toEqual(withoutMargins(made));
});

test('^BR has modules, separators and bars of the sizes that it says, and is turned to the right', async () => {
  const size = async (command: string) => {
    const { left, top, right, bottom } = inkBox(await picture(`^FO20,20^${command}^FD0401234567890^FS`));
    return [right - left, bottom - top];
  };
  expect(await size('BRN,3,2')).toEqual([100, 26]);
  expect(await size('BRN,3,3,2')).toEqual([150, 42]);
  expect(await size('BR,3,2')).toEqual([26, 100]);
  const bars = inkBox(await picture('^FO20,20^BRN,11,2,1,77^FD0104012345678901^FS'));
  expect(bars.bottom - bars.top).toBe(77);
});

describe('PDF417', () => {
  const TEXT =
    'Zebra Technologies Corporation strives to be the expert supplier of innovative solutions. '.repeat(3);
  const symbol = async (fields: string, module: number) => {
    const drawn = await picture(`^FO20,20${fields}`);
    const { left, top, right, bottom } = inkBox(drawn);
    const [found] = await readSymbols(encodePng(drawn, MEDIA.dpi));
    // Start, stop and two indicators of 17 modules, and one module more.
    const columns = (right - left - module) / (17 * module) - 4;
    return { columns, rows: rowsOnPicture(drawn, 0, module).length, tall: bottom - top, text: found?.text };
  };

  test.each([
    ['of at most 30 rows', '^BY2^B7N,4', 2, { columns: 5, rows: 29, tall: 116 }],
    ['with modules of three dots', '^BY3^B7N,6', 3, { columns: 5, rows: 29, tall: 174 }],
    ['of 7 columns', '^BY2^B7N,4,,7', 2, { columns: 7, rows: 21 }],
    ['of 40 rows', '^BY2^B7N,4,5,,40', 2, { columns: 6, rows: 40 }],
    ['of both', '^BY2^B7N,4,5,8,30', 2, { columns: 8, rows: 30 }],
    ['as high as ^BY says', '^BY2,3,100^B7N,,0,6', 2, { columns: 6, rows: 24, tall: 96 }],
    // The right indicator and all of the stop but a bar are missing.
    ['truncated', '^BY2^B7N,4,,7,,Y', 2, { columns: 5, rows: 21 }],
  ])('%s', async (_, command, module, size) => {
    expect(await symbol(`${command}^FD${TEXT}^FS`, module)).toMatchObject({ ...size, text: TEXT });
  });

  test('a line end and a backslash', async () => {
    expect(await symbol('^BY2^B7N,8^FDC:\\\\x\\&y^FS', 2)).toMatchObject({ text: 'C:\\x\r\ny' });
  });
});

test('bars of a postal code are as wide as a module, 22 to an inch by the example of the guide, short ones 0.4 of the tall', async () => {
  const plain = await picture('^FO100,100^BY3^BZN,50^FD12345^FS');
  const edges = inkBox(plain);
  // 32 bars of 3 dots, 9 apart.
  expect(edges).toEqual({ left: 100, top: 100, right: 100 + 31 * 9 + 3, bottom: 150 });
  const black = (bar: number, y: number) => isBlack(plain, 100 + 9 * bar + 1, y);
  expect([black(0, 100), black(1, 129), black(1, 130)]).toEqual([true, false, true]);
  const named = inkBox(await picture('^FO100,100^BY3^BZN,50,Y^FD12345^FS'));
  expect(named.bottom).toBeGreaterThan(170);
});

test('Code 49 has the rows of zint', async () => {
  // Without the bars between rows, which zint cuts shorter.
  const data = (rows: string[]) =>
    withoutMargins(rows.filter((row) => row.replace(/^0+|0+$/g, '').includes('0')));
  const ours = rowsOnPicture(await picture('^FO60,60^BY2^B4N,10,N,A^FDCODE 49^FS'), 0, 2);
  expect(data(ours)).toEqual(data(await zintRows('24', 'CODE 49')));
});

test('the line that people read stays clear of the bars, and goes above them where it is asked to', async () => {
  const box = async (fields: string) => inkBox(await picture(fields));
  const plain = await box('^FO100,200^BY2^BKN,N,60,N^FD123^FS');
  expect([plain.top, plain.bottom]).toEqual([200, 260]);
  const below = await box('^FO100,200^BY2^BKN,N,60,Y,N^FD123^FS');
  expect(below.top).toBe(200);
  expect(below.bottom).toBeGreaterThan(270);
  const above = await box('^FO100,200^BY2^BKN,N,60,Y,Y^FD123^FS');
  expect(above.top).toBeLessThan(190);
  expect(above.bottom).toBe(260);
  const typeset = await box('^FT100,200^BY2^BKN,N,60,N^FD123^FS');
  expect([typeset.top, typeset.bottom]).toEqual([140, 200]);
});

test.each([
  ['N', 'BK', { left: 200, top: 140, bottom: 200 }],
  ['R', 'BK', { left: 200, top: 200, right: 260 }],
  ['I', 'BK', { right: 200, top: 200, bottom: 260 }],
  ['B', 'BK', { right: 200, bottom: 200, left: 140 }],
])('^FT turned %s is where the base of the bars begins', async (turn, name, edges) => {
  expect(inkBox(await picture(`^FT200,200^BY2^${name}${turn},N,60,N^FD1^FS`))).toMatchObject(edges);
  // The rasteriser does the same with barcodes of its own.
  expect(inkBox(await picture(`^FT200,200^BY2^B3${turn},N,60,N^FD1^FS`))).toMatchObject(edges);
});

test('Codablock E is F with FNC1 before its data', async () => {
  const firstRow = async (mode: string) => {
    const rows = rowsOnPicture(await picture(`^FO60,60^BY2^BBN,8,N,8,2,${mode}^FDABCD^FS`), 0, 2);
    return rows[1]?.match(/.{11}/g) ?? [];
  };
  // ISO/IEC 15417: FNC1, and A to D.
  const fnc1 = '11110101110';
  const data = ['10100011000', '10001011000', '10001000110', '10110001000'];
  const [e, f] = [await firstRow('E'), await firstRow('F')];
  expect(e).toHaveLength(f.length);
  expect(e[3]).toBe(fnc1);
  expect(f).not.toContain(fnc1);
  for (const row of [e, f]) expect(row.filter((one) => data.includes(one))).toEqual(data);
});

test.each(['N', 'R', 'I', 'B'])('turned %s, digits stand between the guard bars', async (turn) => {
  const upright = await picture('^FO100,100^BY3^BUN,60,Y^FD01234567890^FS');
  const turned = await picture(`^FO100,100^BY3^BU${turn},60,Y^FD01234567890^FS`);
  const sides = ({ left, top, right, bottom }: ReturnType<typeof inkBox>) => [right - left, bottom - top];
  const [across = 0, down = 0] = sides(inkBox(upright));
  const box = sides(inkBox(turned));
  const [long = 0, short = 0] = turn === 'R' || turn === 'B' ? box.reverse() : box;
  expect(Math.abs(long - across)).toBeLessThanOrEqual(1);
  expect(Math.abs(short - down)).toBeLessThanOrEqual(1);
});

test.each([
  ['^BUN,80^FDabc^FS', '^BU cannot hold this data'],
  ['^B9N,80^FD1234567890^FS', '^B9 cannot hold this data: no UPC-E stands for it'],
  ['^BKN,N,80^FD12A4^FS', '^BK cannot hold this data'],
  ['^BFN,8,0^FDfar too much for the smallest of all sizes^FS', 'a symbol (micropdf417)'],
  ['^BBN,8,N,8,2,A^FDABC^FS', '^BB is not drawn in mode A'],
  [`^BBN,8^FD${'x'.repeat(501)}^FS`, '^BB of too much data'],
  ['^BY100^BBN,32000,N,8^FDABC^FS', 'too large'],
  ['^BJN,80^FD12-4^FS', '^BJ cannot hold this data'],
  ['^BZN,40^FD1234^FS', 'a symbol (postnet)'],
  [`^B7N,8,0,3,4^FD${'x'.repeat(100)}^FS`, '^B7 has too few rows for this data'],
  [`^B7N,8^FD${'x'.repeat(3073)}^FS`, '^B7 of too much data'],
  ['^BTN^FD123456,ABCd12345678901234^FS', '^BT is not drawn with a serial number'],
  ['^BTN^FD12345^FS', '^BT cannot hold this data'],
  ['^BRN,1^FD04012345678901^FS', '^BR cannot hold this data'],
  ['^BRN,6^FD(01)04012345678901^FS', '^BR cannot hold this data'],
  ['^BRN,5^FD9401234567890^FS', 'a symbol (databarlimited)'],
  ['^BZN,40,N,N,2^FD12345^FS', '^BZ is not drawn as postal code 2'],
  ['^B5N,40^FD12345-7890^FS', '^B5 cannot hold this data'],
])('%s is refused by name', async (fields, said) => {
  await expect(picture(`^FO60,60${fields}`)).rejects.toThrow(said);
});
