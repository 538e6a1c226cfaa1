/** Pictures and fonts that a ZPL program downloads: what is drawn of them, and what is refused before it is decoded. */
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { type Bitmap, blacken, createBitmap, isBlack } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { compileRawPictures } from '../../src/render/output/raw-picture.ts';
import { plannedLabel } from '../../src/zpl/interpreter/planned-label.ts';
import { composed, fontOf } from '../kit/judges/font-bombs.ts';
import { differingDots, dotsOf, drawZpl, inkBox } from '../kit/judges/judges.ts';
import { INCONSOLATA, OCR_B } from '../kit/judges/sample-fonts.ts';

const MEDIA = { dpi: 203, width: (800 / 203) * 25.4, height: (400 / 203) * 25.4 };
const DOTS = { width: 800, height: 400, dpi: 203 };

async function picture(source: string): Promise<Bitmap> {
  const template = rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source, ...MEDIA });
  return rasterBitmap(await compileRawPictures(template, MEDIA).layout({}));
}

function z64(data: Uint8Array): string {
  return `:Z64:${deflateSync(data).toString('base64')}:0000`;
}

const hex = (data: Uint8Array) => Buffer.from(data).toString('hex').toUpperCase();

const DOTTED = createBitmap(37, 21);
for (let y = 0; y < 21; y++)
  for (let x = 0; x < 37; x++) if ((x * y) % 3 === 1 || x === 0) blacken(DOTTED, x, y);
const PNG = Buffer.from(encodePng(DOTTED, 203));

/** Each dot of the picture at its place, and nothing else. */
function expectDotted(drawn: Bitmap, left: number, top: number, across = 1, down = 1): void {
  for (let y = 0; y < drawn.height; y++) {
    for (let x = 0; x < drawn.width; x++) {
      const [column, row] = [Math.floor((x - left) / across), Math.floor((y - top) / down)];
      const inside = column >= 0 && row >= 0 && column < DOTTED.width && row < DOTTED.height;
      if (isBlack(drawn, x, y) !== (inside && isBlack(DOTTED, column, row))) throw new Error(`at ${x},${y}`);
    }
  }
}

describe('a PNG of ~DY', () => {
  test.each([
    ['digits', `P,P,${PNG.length},,${hex(PNG)}`],
    ['Z64', `P,P,${PNG.length},,${z64(PNG)}`],
    ['B64', `A,P,${PNG.length},,:B64:${PNG.toString('base64')}:0000`],
    ['no size', `P,P,,,${hex(PNG)}`],
  ])('in %s is drawn dot by dot', async (_, data) => {
    expectDotted(await picture(`~DYR:A.PNG,${data}^XA^FO50,60^IMR:A.PNG^FS^XZ`), 50, 60);
  });

  test('is drawn enlarged, at the origin, and more than once', async () => {
    const download = `~DYR:A,P,P,${PNG.length},,${hex(PNG)}`;
    expectDotted(await picture(`${download}^XA^FO50,60^XGR:A.PNG,2,3^FS^XZ`), 50, 60, 2, 3);
    expectDotted(await picture(`${download}^XA^ILR:A.PNG^FS^XZ`), 0, 0);
    const twice = await picture(`${download}^XA^FO0,0^IMR:A.PNG^FS^FO100,0^IMR:A.PNG^FS^XZ`);
    expect(inkBox(twice)).toMatchObject({ left: 0, right: 136 });
  });

  test('in binary is what a printer gets', () => {
    const head = `~DYR:A.PNG,B,P,${PNG.length},,`;
    const program = Buffer.concat([Buffer.from(head), PNG, Buffer.from('^XA^FO5,6^IMR:A.PNG^FS^XZ')]);
    const { plan, faults } = plannedLabel(program, DOTS);
    expect([...faults, ...(plan?.faults ?? ['nothing prints'])]).toEqual([]);
    expect(plan?.marks).toMatchObject([{ name: 'IM', x: 5, y: 6, width: 37, height: 21 }]);
    expect(plan?.pieces).toContainEqual({ kind: 'picture', file: PNG, across: 1, down: 1 });
  });

  const sized = (width: number, height: number) => {
    const bomb = Buffer.from(PNG);
    bomb.writeUInt32BE(width, 16);
    bomb.writeUInt32BE(height, 20);
    return bomb;
  };
  test.each([
    ['30,000 dots square', sized(30_000, 30_000), 'a graphic that is too large'],
    ['wider than what it holds', sized(3_000, 21), 'a picture of ~DY'],
    ['cut off', PNG.subarray(0, PNG.length - 20), 'a picture of ~DY'],
    ['a header', PNG.subarray(0, 20), 'a picture of ~DY that is no PNG'],
    ['another kind', Buffer.from('GIF89a000000000000000000'), 'a picture of ~DY that is no PNG'],
  ])('of %s is refused', async (_, file, said) => {
    const program = `~DYR:A.PNG,P,P,${file.length},,${hex(file)}^XA^FO0,0^IMR:A.PNG^FS^XZ`;
    await expect(picture(program)).rejects.toThrow(said);
  });

  test('that unpacks to more than two megabytes is refused before it is unpacked', async () => {
    const program = `~DYR:A.PNG,P,P,,,${z64(Buffer.alloc(64 * 1024 * 1024))}^XA^FO0,0^IMR:A.PNG^FS^XZ`;
    const before = process.memoryUsage.rss();
    await expect(picture(program)).rejects.toThrow('a graphic that is too large');
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  });
});

describe('a downloaded font', () => {
  const FONT = `~DUR:OCR.TTF,${OCR_B.length},${hex(OCR_B)}`;
  const TEXT = '^FDPlaten 0123^FS';

  test.each([
    ['by the letter of ^CW', '^CWZ,R:OCR.TTF', `^FO20,30^AZN,40,30${TEXT}`],
    ['by its letter, turned', '^CWZ,R:OCR.TTF', `^FO20,30^AZR,40,40${TEXT}`],
    ['by its name', '', `^FO20,30^A@N,40,40,R:OCR.TTF${TEXT}`],
  ])('is drawn as the interpreter of others draws it: %s', async (_, assigned, field) => {
    const source = `${FONT}^XA^PW800${assigned}${field}^XZ`;
    const theirs = await dotsOf(await drawZpl(source, 800, 400));
    expect(differingDots(await picture(source), theirs)).toBe(0);
    const { right, bottom } = inkBox(theirs);
    expect(Math.max(right, bottom)).toBeGreaterThan(100);
  });

  test.each([
    ['~DY', `~DYR:OCR,A,T,${OCR_B.length},,${z64(OCR_B)}`, `^CWZ,R:OCR.TTF^FO20,30^AZN,40,40${TEXT}`],
    ['^CF', FONT, `^CWZ,R:OCR.TTF^CFZ,40,40^FO20,30${TEXT}`],
    ['^CF of the size', FONT, `^CWZ,R:OCR.TTF^CFZ,40,40^FO20,30^AZN${TEXT}`],
    ['the last name of ^A@', FONT, `^A@N,9,9,R:OCR.TTF^FS^FO20,30^A@N,40,40${TEXT}`],
    ['^CW in an earlier format', `${FONT}^XA^CWZ,R:OCR.TTF^XZ`, `^FO20,30^AZN,40,40${TEXT}`],
  ])('is the same by %s', async (_, before, fields) => {
    const named = await picture(`${FONT}^XA^FO20,30^A@N,40,40,R:OCR.TTF${TEXT}^XZ`);
    expect(differingDots(await picture(`${before}^XA${fields}^XZ`), named)).toBe(0);
  });

  test('is not that of the printer', async () => {
    const own = await picture(`${FONT}^XA^FO20,30^A@N,40,40,R:OCR.TTF${TEXT}^XZ`);
    expect(differingDots(own, await picture(`^XA^FO20,30^A0N,40,40${TEXT}^XZ`))).toBeGreaterThan(500);
  });

  test('that all printers have is their font 0', async () => {
    const resident = await picture(`^XA^CWZ,E:TT0003M_.FNT^FO20,30^AZN,40,40${TEXT}^XZ`);
    expect(differingDots(resident, await picture(`^XA^FO20,30^A0N,40,40${TEXT}^XZ`))).toBe(0);
  });

  test.each([
    ['is not there', '', '^CWZ,E:ARIAL.TTF^FO0,0^AZN,40', 'the font E:ARIAL.TTF was not downloaded'],
    ['is named and not there', '', '^FO0,0^A@N,40,40,E:ARIAL.TTF', 'the font E:ARIAL.TTF was not downloaded'],
    [
      'is the usual one and not there',
      '',
      '^CWZ,R:X.TTF^CFZ,40^FO0,0',
      'the font R:X.TTF was not downloaded',
    ],
    [
      'has CFF outlines',
      `~DYR:A.TTF,A,T,${INCONSOLATA.length},,${z64(INCONSOLATA)}`,
      '^CWZ,R:A.TTF^FO0,0^AZN,40',
      'a downloaded font has CFF outlines, which are not drawn',
    ],
    [
      'is a bomb',
      `~DUR:A.TTF,,${z64(fontOf(composed((glyph) => [glyph])))}`,
      '^CWZ,R:A.TTF^FO0,0^AZN,40',
      'a downloaded font: it is broken: its table of glyphs is broken',
    ],
    ['is none', '~DUR:A.TTF,4,00112233', '^CWZ,R:A.TTF^FO0,0^AZN,40', 'a downloaded font'],
    ['has no data', '~DUR:A.TTF,0,', '^FO0,0^A0N,40', 'a font without data'],
    ['has broken digits', '~DUR:A.TTF,4,0011ZZ33', '^FO0,0^A0N,40', 'a file whose digits are broken'],
    ['is said to be large', '~DUR:A.TTF,99999999,00', '^FO0,0^A0N,40', 'a graphic that is too large'],
    ['is of dots', '~DBR:A.FNT,10,10,3,5,1,COPYRIGHT,', '^FO0,0^A0N,40', '~DB is not drawn'],
    [
      'is of another kind',
      '~DYR:A.BMP,A,B,9,,00',
      '^FO0,0^A0N,40',
      '~DY is not drawn with objects of kind B',
    ],
    [
      'is packed as nobody knows',
      '~DYR:A.PNG,C,P,0,,',
      '^FO0,0^A0N,40',
      '~DY is not drawn with data of that format',
    ],
  ])('that %s is refused by name', async (_, download, field, said) => {
    const { plan, faults } = plannedLabel(`${download}^XA${field}${TEXT}^XZ`, DOTS);
    const found = [...faults, ...(plan?.faults ?? [])];
    if (found.length > 0) expect(found.join()).toContain(said);
    else await expect(picture(`${download}^XA${field}${TEXT}^XZ`)).rejects.toThrow(said);
  });

  test('fonts of more than two megabytes in one label are refused', async () => {
    const large = Buffer.concat([OCR_B, Buffer.alloc(1_200_000)]);
    const fonts = ['A', 'B'].map((name) => `~DYR:${name}.TTF,A,T,${large.length},,${z64(large)}`).join('');
    const fields = ['A', 'B'].map((name) => `^FO9,9^A@N,40,40,R:${name}.TTF${TEXT}`).join('');
    await expect(picture(`${fonts}^XA${fields}^XZ`)).rejects.toThrow(
      'the fonts of a label have more than 2 MB',
    );
  });

  test('is forgotten with the power, and by ^ID', () => {
    const { plan } = plannedLabel(
      `${FONT}^XA^IDR:OCR.TTF^FS^XZ^XA^FO0,0^A@N,40,40,R:OCR.TTF${TEXT}^XZ`,
      DOTS,
    );
    expect(plan?.faults).toEqual(['the font R:OCR.TTF was not downloaded']);
  });
});
