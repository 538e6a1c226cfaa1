/** What the pictures of raw templates show of graphics, and what of them is refused before it takes memory. */
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { blacken, createBitmap, isBlack } from '../../src/render/image/bitmap.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { compileRawPictures } from '../../src/render/output/raw-picture.ts';
import { zplRenderer } from '../../src/render/output/zpl-renderer.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { composeMedia, drawFields } from '../../src/zpl/interpreter/draw.ts';
import { forEachDot } from '../../src/zpl/interpreter/drawn-dots.ts';
import { labelPieces, labelZpl } from '../../src/zpl/interpreter/label-zpl.ts';
import { plannedLabel } from '../../src/zpl/interpreter/planned-label.ts';
import { dotsOf, inkBox } from '../kit/judges/judges.ts';

const MEDIA = { dpi: 203, width: 100, height: 30 };
const DOTS = { width: 800, height: 240, dpi: 203 };
const MB = 1024 * 1024;

function raw(source: string) {
  return rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source, ...MEDIA });
}

function z64(data: Buffer): string {
  return `:Z64:${deflateSync(data, { level: 9 }).toString('base64')}:0000`;
}

const ROW = 4;
const PICTURE = Buffer.from('80000001ff0000fffffffffff000000f00000000ffffffff', 'hex');
const FORMS: Readonly<Record<string, string>> = {
  hexadecimal: PICTURE.toString('hex'),
  Z64: z64(PICTURE),
  B64: `:B64:${PICTURE.toString('base64')}:0000`,
  'run-length': '8L01HFJ0HF!FL0F,!',
};

describe('a graphic is the same picture in each of its forms', () => {
  const bytes = `${PICTURE.length},${ROW}`;
  test.each([
    ['^GF', (data: string) => `^XA^FO8,8^GFA,${PICTURE.length},${bytes},${data}^FS^XZ`],
    ['~DG', (data: string) => `~DGR:A.GRF,${bytes},${data}^XA^FO8,8^XGR:A.GRF,2,3^FS^XZ`],
    ['~DY', (data: string) => `~DYR:A,A,G,${bytes},${data}^XA^FO8,8^XGR:A.GRF,2,3^FS^XZ`],
  ])('%s', async (_, program) => {
    const drawn = new Set<string>();
    for (const data of Object.values(FORMS)) {
      const { plan, faults } = plannedLabel(program(data), DOTS);
      expect([...faults, ...(plan?.faults ?? ['nothing prints'])]).toEqual([]);
      if (plan === undefined) continue;
      expect(await labelZpl(labelPieces(plan, 0), zplRenderer)).not.toContain('64:');
      drawn.add(
        (await drawFields(await labelZpl(labelPieces(plan, 0), zplRenderer), plan))?.toString('base64') ?? '',
      );
    }
    expect(drawn.size).toBe(1);
  });
});

const ZEROS = Buffer.alloc(64 * MB);
const SMALL = z64(Buffer.alloc(2 * MB));
const gf = (data: string) => `^FO0,0^GFA,100,100,100,${data}^FS`;

describe('a graphic that unpacks to too much', () => {
  test.each([
    ['Z64', `^XA${gf(z64(ZEROS))}^XZ`],
    ['many of Z64', `^XA${gf(SMALL).repeat(5)}^XZ`],
    ['run-length', `^XA${gf('z0'.repeat(50_000))}^XZ`],
    ['rows like the one before', `^XA^FO0,0^GFA,9,9,999999,0:${':'.repeat(100)}^FS^XZ`],
    ['fills', `^XA^FO0,0^GFA,9,9,999999999,,!^FS^XZ`],
    ['~DG', `~DGR:A.GRF,100,100,${z64(ZEROS)}^XA^FO0,0^XGR:A.GRF^FS^XZ`],
    ['~DY', `~DYR:A,A,G,100,100,${z64(ZEROS)}^XA^FO0,0^XGR:A.GRF^FS^XZ`],
    [
      'many of ~DG',
      `${['A', 'B', 'C', 'D', 'E'].map((name) => `~DGR:${name}.GRF,9,9,${SMALL}`).join('')}^XA^FO0,0^GB9,9^FS^XZ`,
    ],
  ])('%s: is refused at import, in pictures and in print', async (_, source) => {
    const before = process.memoryUsage.rss();
    const reason = { code: 'zpl-line', why: { code: 'zpl-graphics-large' } };
    const [problem] = await templateProblems(raw(source));
    expect(problem).toMatchObject({ severity: 'error', pointer: '/source', reason });
    expect(problem?.message).toMatch(/line 1: its graphics .* unpack to more than 8 MB/);
    expect(() => compileRawPictures(raw(source), MEDIA)).toThrow(problem?.message ?? '-');
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MB);
  });

  test.each([
    ['^GF', `^XA${gf(z64(ZEROS))}^XZ`],
    ['two of ^GF', `^XA${gf(SMALL).repeat(2)}^XZ`],
    ['^XG, enlarged', `~DGR:A.GRF,50000,100,${z64(Buffer.alloc(50_000))}^XA^FO0,0^XGR:A.GRF,10,10^FS^XZ`],
    [
      '^XG, again and again',
      `~DGR:A.GRF,50000,100,${z64(Buffer.alloc(50_000))}^XA${'^FO0,0^XGR:A.GRF^FS'.repeat(100)}^XZ`,
    ],
  ])('%s: is not given to the rasteriser', async (_, program) => {
    const { plan } = plannedLabel(program, DOTS);
    expect(plan?.faults).toContain('a graphic that is too large');
    expect(plan && (await labelZpl(labelPieces(plan, 0), zplRenderer)).length).toBeLessThan(10 * MB);
  });

  test('a download leaves nothing in the memory of a printer', () => {
    const { faults } = plannedLabel(`~DGR:A.GRF,9,9,${z64(ZEROS)}^XA^FO0,0^XGR:A.GRF^FS^XZ`, DOTS);
    expect(faults).toEqual(['a graphic that is too large']);
  });
});

test('a graphic as large as a label of 600 dpi is drawn', async () => {
  const bytes = 300 * 7200;
  const source = `^XA^FO0,0^GFA,${bytes},${bytes},300,${z64(Buffer.alloc(bytes, 0xaa))}^FS^XZ`;
  const pictures = compileRawPictures(raw(source), MEDIA);
  expect((await pictures.layout({})).items).toHaveLength(1);
});

const TURNED = [true, false].flatMap((inverted) => [true, false].map((mirrored) => ({ inverted, mirrored })));
test.each(TURNED)('the dots are those of the virtual printer: %o', async ({ inverted, mirrored }) => {
  const fields =
    '^FO30,20^A0N,50,50^FDAbgq^FS^FO9,90^GB300,9,9^FS^FO200,20^BQN,2,5^FDMA,platen^FS^FO20,130^GE99,60,3^FS';
  for (const media of [DOTS, { ...DOTS, width: 500, height: 150 }]) {
    const { plan } = plannedLabel(`^XA^PW600^LL200${fields}^XZ`, media);
    if (plan === undefined) throw new Error('nothing prints');
    const page = { ...plan, inverted, mirrored, mediaWidth: media.width, mediaHeight: media.height };
    const drawn = await drawFields(await labelZpl(labelPieces(plan, 0), zplRenderer), page);
    if (drawn === undefined) throw new Error('nothing is drawn');
    const ours = createBitmap(media.width, media.height);
    forEachDot(drawn, page, (x, y) => blacken(ours, x, y));
    const theirs = await dotsOf(await composeMedia(page, drawn, false));
    expect(Buffer.compare(ours.data, theirs.data)).toBe(0);
    expect(ours.data.some((byte) => byte !== 0)).toBe(true);
  }
});

test.each([
  ['^GB50,40,3', { left: 100, top: 160, right: 150, bottom: 200 }],
  ['^GE50,40,3', { left: 100, top: 160, right: 150, bottom: 200 }],
  [
    `^GFA,${PICTURE.length},${PICTURE.length},${ROW},${FORMS.hexadecimal}`,
    { left: 100, top: 194, bottom: 200 },
  ],
  ['^XGR:A.GRF,2,3', { left: 100, top: 182, bottom: 200 }],
])('^FT is where the lower left corner of %s is', async (graphic, edges) => {
  const download = `~DGR:A.GRF,${PICTURE.length},${ROW},${FORMS.hexadecimal}`;
  const box = async (source: string) =>
    inkBox(rasterBitmap(await compileRawPictures(raw(source), MEDIA).layout({})));
  expect(await box(`${download}^XA^FT100,200${graphic}^FS^XZ`)).toMatchObject(edges);
  const homed = await box(`${download}^XA^LH10,20^FT90,180${graphic}^FS^XZ`);
  expect(homed).toMatchObject(edges);
});

test('an ellipse is in its box, with a line of its thickness inwards', async () => {
  const draw = async (graphic: string) =>
    rasterBitmap(await compileRawPictures(raw(`^XA^FO100,20${graphic}^FS^XZ`), MEDIA).layout({}));
  const ring = await draw('^GE201,101,10');
  expect(inkBox(ring)).toEqual({ left: 100, top: 20, right: 301, bottom: 121 });
  const black = (x: number, y: number) => isBlack(ring, x, y);
  // Its middle row and column, from the left and from the top.
  expect([99, 100, 109, 110, 200, 290, 291, 300].map((x) => black(x, 70))).toEqual([
    false,
    true,
    true,
    false,
    false,
    false,
    true,
    true,
  ]);
  expect([20, 29, 30, 70].map((y) => black(200, y))).toEqual([true, true, false, false]);
  expect(black(105, 25)).toBe(false);
  // All of it, where the line is thicker than it: a quarter of pi of the box.
  const disc = await draw('^GE201,101,200');
  let dots = 0;
  for (let y = 20; y < 121; y++) for (let x = 100; x < 301; x++) if (isBlack(disc, x, y)) dots += 1;
  expect(dots / (201 * 101)).toBeCloseTo(Math.PI / 4, 2);
  await expect(draw('^GE50,40,3,W')).rejects.toThrow('a white ^GE is not drawn');
});

test('shapes are no larger than the guide lets them be', async () => {
  const { plan } = plannedLabel('^XA^FO0,0^GC99999999,1,B^FS^FO0,0^GB99999999,9,9^FS^XZ', DOTS);
  expect(plan && (await labelZpl(labelPieces(plan, 0), zplRenderer))).toContain('^GC4095,1,B');
  expect(plan && (await labelZpl(labelPieces(plan, 0), zplRenderer))).toContain('^GB32000,9,9');
});

test('a label of more dots than are drawn in one piece is refused', () => {
  const large = rawZplTemplate.parse({ ...raw('^XA^FO0,0^GB9,9^FS^XZ'), dpi: 600, width: 300, height: 300 });
  expect(() => compileRawPictures(large, MEDIA)).toThrow(/51 million dots at 600 dpi/);
});
