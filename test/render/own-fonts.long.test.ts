/** Fonts that a template brings: OCR-B (TrueType) and Inconsolata (CFF), neither of which Platen sets text in. */
import { GlobalFonts } from '@napi-rs/canvas';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { type DesignedTemplate, designedTemplate } from '../../src/contract/template.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { RenderPool } from '../../src/rendering/render-pool.ts';
import { logger } from '../kit/agent/site.ts';
import {
  differingDots,
  dotsOf,
  drawPdf,
  drawZpl,
  jobFor,
  labelText,
  pdfFonts,
  pdfText,
  readText,
} from '../kit/judges/judges.ts';
import { INCONSOLATA, OCR_A, OCR_B } from '../kit/judges/sample-fonts.ts';
import { difference } from './reference.ts';

/** Whole dots at 300 dpi, mm. */
const WIDTH = 50.8;
const HEIGHT = 25.4;
const SAYS = 'Batch 4711 MARK';
const text = { type: 'text', x: 3, y: 5, size: 4, text: SAYS };

/** A face as a template has it. */
function face(file: Buffer, more: object = {}) {
  return { name: 'Brand', data: file.toString('base64'), ...more };
}

function label(fonts: readonly object[], elements: readonly object[] = [{ ...text, font: 'Brand' }]) {
  return { name: 'Own font', width: WIDTH, height: HEIGHT, fonts, elements };
}

async function drawn(template: DesignedTemplate) {
  const compiled = await compileLabel(template, { dpi: 300, orientation: 'portrait' });
  return rasterBitmap(compiled.layout({}));
}

const parse = (source: unknown) => designedTemplate.parse(source);

describe.each([
  { kind: 'TrueType', file: OCR_B, inPdf: { type: 'CID TrueType', name: 'AAAAAA+OCRB', subset: true } },
  // The drawing library writes those glyphs that are used as procedures: outlines too, and fewer bytes than the font.
  { kind: 'CFF', file: INCONSOLATA, inPdf: { type: 'Type 3' } },
])('$kind', ({ file, inPdf }) => {
  const template = parse(label([face(file)]));

  test('is what is printed, at the same place in every language', async () => {
    const dots = await drawn(template);
    const packaged = await drawn(parse(label([], [{ ...text, font: 'sans' }])));
    expect(difference(packaged, dots, 2)).toBeGreaterThan(0.2);

    const native = await labelText(await openEncoder(jobFor(template, [{}], { dpi: 300 })));
    expect(native).toContain('^GF');
    expect(native).not.toContain('^A');
    const zpl = await drawZpl(native, dots.width, dots.height);
    expect(differingDots(dots, await dotsOf(zpl))).toBe(0);
    expect((await readText(zpl)).replace(/\s+/g, ' ')).toContain('4711');

    const png = await (await openEncoder(jobFor(template, [{}], { dpi: 300, language: 'png' }))).label(0, 1);
    expect(differingDots(dots, await dotsOf(png))).toBe(0);

    const pdf = await (await openEncoder(jobFor(template, [{}], { dpi: 300, language: 'pdf' }))).label(0, 1);
    // Poppler sets characters down to a dot away, and fills what it touches.
    expect(difference(dots, await dotsOf(await drawPdf(pdf, 300)), 2)).toBeLessThan(0.01);
    expect(await pdfText(pdf)).toContain(SAYS);
    expect(await pdfFonts(pdf)).toMatchObject([{ embedded: true, ...inPdf }]);
    expect(pdf.length).toBeLessThan(file.length);
  });
});

test('faces of one name: bold is its bold file', async () => {
  const fonts = [face(OCR_B), face(INCONSOLATA, { bold: true })];
  const bold = await drawn(parse(label(fonts, [{ ...text, font: 'Brand', bold: true }])));
  expect(differingDots(bold, await drawn(parse(label([face(INCONSOLATA)]))))).toBe(0);
  const slanted = compileLabel(parse(label(fonts, [{ ...text, font: 'Brand', italic: true }])), {
    dpi: 300,
    orientation: 'portrait',
  });
  await expect(slanted).rejects.toThrow('the font "Brand" has no italic face');
});

describe('characters that it does not have', () => {
  const saying = (says: string, font: string) => parse(label([face(OCR_B)], [{ ...text, font, text: says }]));

  test.each(['Ω', 'مرحبا', '日本'])('%s comes from the packaged fonts', async (says) => {
    expect(differingDots(await drawn(saying(says, 'Brand')), await drawn(saying(says, 'sans')))).toBe(0);
  });

  test('one that no font has is an error', async () => {
    await expect(drawn(saying('\u{13000}', 'Brand'))).rejects.toThrow('no font has the character U+13000');
  });

  test('a check tells', async () => {
    expect(await templateProblems(saying('12 Ω', 'Brand'))).toEqual([
      {
        severity: 'warning',
        code: 'glyph-borrowed',
        pointer: '/elements/0',
        message: 'the font has no U+03A9: that character is set in a packaged font',
        reason: { code: 'glyph-borrowed', values: { character: 'U+03A9' } },
      },
    ]);
    expect(await templateProblems(saying('12', 'Brand'))).toEqual([]);
    expect(await templateProblems(saying('12', 'sans'))).toMatchObject([
      { severity: 'warning', code: 'font-unused', pointer: '/fonts/0' },
    ]);
  });
});

/** The same font by other content: its last table gets a byte more. */
function variant(file: Buffer, number: number): Buffer {
  return Buffer.concat([file, Buffer.from(String(number))]);
}

describe('fonts of one name', () => {
  const brands = [OCR_B, INCONSOLATA, OCR_A].map((file) => parse(label([face(file)])));

  test('never mix, in one thread', async () => {
    const target = { dpi: 300, orientation: 'portrait' } as const;
    const alone = [];
    for (const template of brands) alone.push(await drawn(template));
    const [compiled, ...others] = await Promise.all(brands.map((template) => compileLabel(template, target)));
    if (compiled === undefined) throw new Error('no label');
    for (let round = 0; round < 3; round++) {
      for (const [index, one] of [compiled, ...others].entries()) {
        expect(
          differingDots(rasterBitmap(one.layout({})), alone[index] ?? rasterBitmap(compiled.layout({}))),
        ).toBe(0);
      }
    }
  });

  test('few are kept, and one that had to go comes back', async () => {
    const first = await compileLabel(parse(label([face(OCR_B)])), { dpi: 300, orientation: 'portrait' });
    const before = rasterBitmap(first.layout({}));
    const others = await drawn(parse(label([face(OCR_A)])));
    const families = GlobalFonts.families.length;
    for (let day = 0; day < 60; day++) {
      expect(differingDots(await drawn(parse(label([face(variant(OCR_A, day))]))), others)).toBe(0);
    }
    expect(GlobalFonts.families.length).toBeLessThanOrEqual(families + 16);
    expect(differingDots(rasterBitmap(first.layout({})), before)).toBe(0);
  });

  test('never mix, in several threads at a time', async () => {
    const { languagesModule } = standardDrivers;
    const pool = new RenderPool({ threads: 2, languagesModule, stuckMs: 30_000, logger });
    onTestFinished(() => pool.stop());
    const never = new AbortController().signal;
    const zplOf = async (template: DesignedTemplate): Promise<string> => {
      const session = pool.open(jobFor(template, [{}], { dpi: 300 }), { from: 0, maxCopies: 1 });
      const chunk = await session.peek(never);
      session.close();
      return Buffer.from(chunk?.bytes ?? []).toString();
    };
    const alone: string[] = [];
    for (const template of brands) alone.push(await zplOf(template));
    expect(new Set(alone).size).toBe(3);
    const jobs = Array.from({ length: 120 }, (_, index) => {
      const file = [OCR_B, INCONSOLATA, OCR_A][index % 3] ?? OCR_A;
      // Half of them are new to their thread, which has to let others go.
      return parse(label([face(index % 2 === 0 ? file : variant(file, index))]));
    });
    const made = await Promise.all(jobs.map(zplOf));
    expect(made).toEqual(jobs.map((_, index) => alone[index % 3]));
  });
});

describe('refused', () => {
  const woff = (tag: string) => Buffer.concat([Buffer.from(tag), OCR_B.subarray(4)]);
  const without = (tag: string) => {
    const file = Buffer.from(OCR_B);
    file.write('none', file.indexOf(tag), 'latin1');
    return file;
  };
  const pastTheEnd = Buffer.from(OCR_B);
  pastTheEnd.writeUInt32BE(OCR_B.length, 12 + 8);

  test.each([
    ['WOFF', woff('wOFF'), 'it is WOFF, a font for browsers: expected TTF or OTF'],
    ['WOFF2', woff('wOF2'), 'it is WOFF2, a font for browsers: expected TTF or OTF'],
    ['a collection', woff('ttcf'), 'it is a collection of fonts: expected TTF or OTF, one font'],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n, and so on'), 'it is no TTF or OTF'],
    ['nothing', Buffer.alloc(0), 'it is no TTF or OTF'],
    ['half of it', OCR_B.subarray(0, 7_000), 'is cut off'],
    ['a table that is not in it', pastTheEnd, 'is cut off'],
    ['no characters', without('cmap'), '"cmap" is missing'],
    ['no glyphs', without('glyf'), '"glyf" is missing'],
  ])('%s', async (_, file, message) => {
    const template = parse(label([face(file)]));
    const problems = await templateProblems(template);
    expect(problems).toContainEqual({
      severity: 'error',
      code: 'template-invalid',
      pointer: '/fonts/0/data',
      message: expect.stringContaining(message),
      reason: {
        code: 'font-refused',
        values: { font: '"Brand"', why: expect.stringContaining(message) },
        why: expect.objectContaining({ code: expect.stringMatching(/^font-/) }),
      },
    });
    await expect(drawn(template)).rejects.toThrow(message);
    await expect(drawn(template)).rejects.toThrow('/elements/0 (text): the font "Brand": ');
  });

  test.each([
    ['a name of ours', [face(OCR_B, { name: 'sans' })], 'expected another name'],
    ['two alike', [face(OCR_B), face(INCONSOLATA)], 'two faces of a font'],
    ['a file that nobody read', [{ name: 'Brand', file: 'brand.ttf' }], 'unrecognized_keys'],
    ['no base64', [{ name: 'Brand', data: 'æ' }], 'base64'],
    ['a large one', [face(Buffer.alloc(LIMITS.fontBytes + 1))], `at most ${LIMITS.fontBytes} bytes`],
    [
      'too much together',
      [1, 2, 3].map((number) => face(Buffer.alloc(LIMITS.fontBytes), { name: `Brand ${number}` })),
      `at most ${LIMITS.allFontBytes} bytes together`,
    ],
    [
      'too many',
      Array.from({ length: LIMITS.fonts + 1 }, (_, number) => face(OCR_A, { name: `Brand ${number}` })),
      `<=${LIMITS.fonts} items`,
    ],
  ])('%s', (_, fonts, message) => {
    expect(() => parse(label(fonts))).toThrow(message);
  });

  test('a font that there is not, and one of ours that printers should set', async () => {
    const none = parse(label([], [{ ...text, font: 'Brand' }]));
    await expect(drawn(none)).rejects.toThrow('the template has no font "Brand"');
    const native = parse(label([face(OCR_B)], [{ ...text, font: 'Brand', render: 'native' }]));
    await expect(drawn(native)).rejects.toThrow("no printer has the template's own fonts");
  });
});
