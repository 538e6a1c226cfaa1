/**
 * Text in every script, as a stranger reads it: tesseract reads words off what zebrash draws of our ZPL and poppler of
 * our PDF. The words are ones that it reads right at both resolutions: what differs is ours. Emoji are no text to it;
 * those are compared with the outlines that HarfBuzz and Cairo take from the same font (`hb-view`).
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createCanvas, Path2D } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { openPdf } from '../../drivers/languages/pdf/encode.ts';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { type Bitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { FONT_FILES } from '../../src/render/text/fonts.ts';
import {
  design,
  dotsOf,
  drawPdf,
  drawZpl,
  inkBox,
  jobFor,
  labelText,
  readTextAsIs,
} from '../kit/judges/judges.ts';
import { difference } from './reference.ts';

const SIZE = 8;
const LABEL = design(
  100,
  20,
  [{ type: 'text', x: 5, y: 4, width: 90, size: SIZE, font: 'sans', text: '{{v}}' }],
  [{ name: 'v' }],
);

/** The label as each output's judge draws it. */
async function pictures(v: string, dpi: number): Promise<{ zpl: Buffer; pdf: Buffer }> {
  const job = jobFor(LABEL, [{ v }], { dpi });
  const { width, height } = (await compileLabel(LABEL, { dpi, orientation: 'portrait' })).media;
  return {
    zpl: await drawZpl(await labelText(await openZpl(job)), width, height),
    pdf: await drawPdf(await (await openPdf(job)).label(0, 1), dpi),
  };
}

describe.each([
  ['eng', ['Blood bank 42']],
  ['ell', ['Ελληνική ετικέτα']],
  ['rus', ['Кириллица здесь']],
  ['ara', ['السلام عليكم', 'فصيلة الدم']],
  ['heb', ['בנק הדם']],
  ['hin', ['हिन्दी लेबल', 'अस्पताल प्रयोगशाला', 'नमस्ते दुनिया']],
  ['tha', ['โรงพยาบาล', 'ตัวอย่างเลือด', 'ห้องปฏิบัติการ']],
  ['kor', ['대한민국', '병원 검사실', '한국어 라벨']],
  ['chi_sim', ['有限公司', '小心轻放', '生产日期']],
  ['jpn', ['検体ラベル', '東京都港区', '日本語の札']],
])('%s', (language, texts) => {
  test.each(texts)('%s', async (value) => {
    for (const dpi of [203, 300]) {
      for (const [output, picture] of Object.entries(await pictures(value, dpi))) {
        expect(await readTextAsIs(picture, language, dpi), `${output} at ${dpi} dpi`).toBe(value);
      }
    }
  });
});

/** The text as HarfBuzz shapes it and Cairo has its outlines, at a size in dots, cut to its ink. */
async function shapedElsewhere(text: string, font: string, size: number): Promise<Bitmap> {
  const args = [font, text, `--font-size=${size}`, '--output-format=svg', '--margin=9'];
  const { stdout } = await promisify(execFile)('hb-view', args);
  // Drawn here, outline by outline: Cairo cuts glyphs off at the font's idea of their width, which is too narrow.
  const outlines = new Map(
    [...stdout.matchAll(/id="(glyph[\d-]+)">\s*<path [^>]*\bd="([^"]*)"/g)].map(([, id, path]) => [id, path]),
  );
  const canvas = createCanvas(4 * size, 4 * size);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = 'black';
  for (const [, id, x, y] of stdout.matchAll(/<use xlink:href="#([^"]*)" x="([\d.]+)" y="([\d.]+)"/g)) {
    context.save();
    context.translate(Number(x), Number(y));
    context.fill(new Path2D(outlines.get(id)));
    context.restore();
  }
  return inked(await dotsOf(await canvas.encode('png')));
}

function inked(bitmap: Bitmap): Bitmap {
  const { left, top, right, bottom } = inkBox(bitmap);
  return cropBitmap(bitmap, left, top, right - left, bottom - top);
}

describe('emoji', () => {
  const dpi = 300;
  const size = (SIZE * dpi) / 25.4;
  const font = FONT_FILES.find(({ path }) => path.includes('NotoEmoji_400'))?.path ?? '';
  const emoji = ['🩸', '🧪', '📦', '👩🏽‍🔬', '🇩🇪'];

  test.each(emoji)('%s is that emoji, and no other', async (one) => {
    for (const [output, picture] of Object.entries(await pictures(one, dpi))) {
      const drawn = inked(await dotsOf(picture));
      const likeness = async (other: string) => {
        const shape = await shapedElsewhere(other, font, size);
        const [width, height] = [Math.min(shape.width, drawn.width), Math.min(shape.height, drawn.height)];
        // Their edges fall between dots elsewhere than ours.
        if (Math.abs(shape.width - drawn.width) > 2 || Math.abs(shape.height - drawn.height) > 2) return 1;
        return difference(cropBitmap(shape, 0, 0, width, height), cropBitmap(drawn, 0, 0, width, height), 2);
      };
      expect(await likeness(one), output).toBeLessThan(0.01);
      for (const other of emoji)
        if (other !== one) expect(await likeness(other), other).toBeGreaterThan(0.05);
    }
  });
});
