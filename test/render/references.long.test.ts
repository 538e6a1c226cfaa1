/** Each script and each element beside its reference picture, as PNG, as PDF and as ZPL. */
import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { pdfDocument } from '../../drivers/languages/pdf/encode.ts';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import type { Bitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { labelPage } from '../../src/render/output/page.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, dotsOf, drawPdf, drawZpl, jobFor, labelText } from '../kit/judges/judges.ts';
import { difference, reference, showDifference } from './reference.ts';

const DPI = 203;

interface Case {
  readonly width: number;
  readonly height: number;
  readonly elements: readonly object[];
  readonly record?: LabelRecord;
  readonly images?: readonly { name: string; data: string }[];
}

const SCRIPTS = {
  latin: 'Žluťoučký kůň, Ærø, ﬁx, a\u0301o\u0308',
  vietnamese: 'Tiếng Việt: Nguyễn',
  greek: 'Ἀθῆναι, Θεσσαλονίκη',
  cyrillic: 'Щука, Київ, Ђорђе',
  arabic: 'مختبر الدم ١٢٣',
  persian: 'گچ پژ یک',
  hebrew: 'בְּדִיקַת דָּם',
  devanagari: 'क्षत्रिय रक्त',
  thai: 'น้ำปลา ผู้ป่วย',
  japanese: '東京都、ひらがなカタカナ',
  chinese: '北京 血液样本 门',
  korean: '서울 혈액 검사',
  emoji: '☂ 🚚 ❄ 🧪',
  'mixed-directions': 'Lot 12 דם A+ (مختبر) 3',
};

function script(text: string): Case {
  const lines = ['sans', 'condensed'].map((font, row) => {
    return {
      type: 'text',
      x: 1,
      y: 1 + 6 * row,
      width: 48,
      height: 6,
      size: 4.5,
      font,
      text,
      render: 'graphic',
    };
  });
  return { width: 50, height: 13, elements: lines };
}

const base64 = (svg: string) => Buffer.from(svg).toString('base64');
const DROP = base64(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 40"><path d="M15 1C20 12 28 18 28 27A13 12 0 0 1 2 27C2 18 10 12 15 1Z"/></svg>',
);
const RAMP = base64(
  '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><defs><linearGradient id="g"><stop offset="0"/><stop offset="1" stop-color="#fff"/></linearGradient></defs><rect width="80" height="40" fill="url(#g)"/><circle cx="40" cy="20" r="12" fill="#fff"/></svg>',
);
const [PNG, JPEG] = pictures();

function pictures(): [string, string] {
  const canvas = createCanvas(64, 32);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, 64, 32);
  context.fillStyle = 'black';
  context.fillRect(8, 8, 16, 16);
  context.fillStyle = '#888';
  context.fillRect(36, 4, 24, 24);
  return [
    canvas.toBuffer('image/png').toString('base64'),
    canvas.toBuffer('image/jpeg', 90).toString('base64'),
  ];
}

const sans = { type: 'text', size: 3.5, font: 'sans' };
const box = (x: number, y: number, width: number, height: number) => {
  return { type: 'box', x, y, width, height, thickness: 0.125 };
};
const image = (x: number, data: string, more: object = {}) => {
  return { type: 'image', x, y: 1, width: 11, height: 11, data, ...more };
};

const ELEMENTS: Readonly<Record<string, Case>> = {
  overflow: {
    width: 50,
    height: 44,
    elements: (['shrink', 'wrap', 'clip'] as const).flatMap((overflow, row) => [
      box(1, 1 + 8.5 * row, 24, 8),
      {
        ...sans,
        x: 1,
        y: 1 + 8.5 * row,
        width: 24,
        height: 8,
        text: 'Organic espresso, whole beans',
        overflow,
      },
      { ...sans, x: 26, y: 1 + 14 * row, width: 23, text: 'Line one and two\nthree', overflow, maxLines: 3 },
    ]),
  },
  alignment: {
    width: 50,
    height: 27,
    elements: (['left', 'center', 'right'] as const).flatMap((align, column) =>
      (['top', 'middle', 'bottom'] as const).flatMap((valign, row) => {
        const place = { x: 1 + 16 * column, y: 1 + 8.5 * row, width: 15.5, height: 8 };
        return [
          { ...box(0, 0, 1, 1), ...place },
          { ...sans, ...place, text: 'Hxg', align, valign },
        ];
      }),
    ),
  },
  rotation: {
    width: 50,
    height: 22,
    elements: [0, 90, 180, 270].flatMap((rotation, column) => [
      box(1 + 12 * column, 1, 11, 20),
      {
        ...sans,
        x: 1 + 12 * column,
        y: 1,
        width: 11,
        height: 20,
        text: 'Top {{v}}',
        overflow: 'wrap',
        rotation,
      },
    ]),
    record: { v: 'of text' },
  },
  faces: {
    width: 50,
    height: 30,
    elements: [
      { ...sans, x: 1, y: 1, text: 'Regular аб 東' },
      { ...sans, x: 26, y: 1, text: 'Bold аб 東', bold: true },
      { ...sans, x: 1, y: 6, text: 'Italic аб 東', italic: true },
      { ...sans, x: 26, y: 6, text: 'Both аб 東', bold: true, italic: true },
      { ...sans, x: 1, y: 11, text: 'Spaced fi', letterSpacing: 0.25 },
      { ...sans, x: 26, y: 11, text: 'Tight', letterSpacing: -0.08 },
      { ...sans, x: 1, y: 16, text: 'SPACED', letterSpacing: 0.25, font: 'condensed' },
      { ...sans, x: 26, y: 16, text: 'سلام joined', letterSpacing: 0.25 },
      {
        ...sans,
        x: 1,
        y: 21,
        width: 48,
        height: 8,
        text: 'White on black',
        reverse: true,
        align: 'center',
        valign: 'middle',
      },
    ],
  },
  shapes: {
    width: 50,
    height: 24,
    elements: [
      { type: 'box', x: 1, y: 1, width: 10, height: 8, thickness: 0.5 },
      { type: 'box', x: 13, y: 1, width: 10, height: 8, thickness: 0.8, radius: 2 },
      { type: 'box', x: 25, y: 1, width: 10, height: 8, filled: true, radius: 2 },
      { type: 'box', x: 37, y: 1, width: 12, height: 8, filled: true },
      { type: 'box', x: 39, y: 3, width: 6, height: 4, thickness: 0.5, color: 'white' },
      { type: 'line', x: 38, y: 8, x2: 48, y2: 8, thickness: 0.25, color: 'white' },
      { type: 'ellipse', x: 1, y: 12, width: 10, height: 10, thickness: 0.5 },
      { type: 'ellipse', x: 13, y: 12, width: 10, height: 6, thickness: 1.5 },
      { type: 'ellipse', x: 25, y: 12, width: 6, height: 10, filled: true },
      { type: 'line', x: 34, y: 12, x2: 48, y2: 22, thickness: 0.5 },
      { type: 'line', x: 34, y: 22, x2: 48, y2: 16, thickness: 0.25 },
      { type: 'line', x: 34, y: 11, x2: 48, y2: 11, thickness: 0.125 },
      { type: 'line', x: 48.5, y: 11, x2: 48.5, y2: 23, thickness: 0.375 },
    ],
  },
  'white-shapes': {
    width: 50,
    height: 14,
    elements: [
      { type: 'box', x: 1, y: 1, width: 40, height: 12, filled: true },
      { type: 'box', x: 3, y: 3, width: 8, height: 8, thickness: 0.8, radius: 2, color: 'white' },
      { type: 'box', x: 13, y: 3, width: 8, height: 8, filled: true, radius: 2, color: 'white' },
      { type: 'ellipse', x: 23, y: 3, width: 10, height: 8, thickness: 0.5, color: 'white' },
      { type: 'ellipse', x: 36, y: 3, width: 8, height: 8, filled: true, color: 'white' },
      { type: 'line', x: 5, y: 12, x2: 46, y2: 2, thickness: 0.5, color: 'white' },
      { type: 'box', x: 15, y: 5, width: 4, height: 4, filled: true },
    ],
  },
  images: {
    width: 50,
    height: 25,
    elements: [
      image(1, PNG),
      image(13, JPEG, { halftone: 'dither' }),
      image(25, RAMP),
      image(37, RAMP, { halftone: 'dither', fit: 'cover' }),
      ...[0, 90, 180, 270].map((rotation, at) => image(1 + 12 * at, DROP, { y: 13, rotation })),
    ],
  },
  'chosen-and-conditional': {
    width: 50,
    height: 14,
    images: [
      { name: 'drop', data: DROP },
      { name: 'ramp', data: RAMP },
    ],
    record: { a: 'drop', b: 'ramp', c: '', yes: true, no: false, zero: 0 },
    elements: [
      ...['a', 'b', 'c'].map((field, at) => {
        return { type: 'image', x: 1 + 12 * at, y: 1, width: 11, height: 11, image: `{{${field}}}` };
      }),
      { type: 'box', x: 26, y: 1, width: 4, height: 4, filled: true, when: '{{yes}}' },
      { type: 'box', x: 31, y: 1, width: 4, height: 4, filled: true, when: '{{no}}' },
      { type: 'box', x: 36, y: 1, width: 4, height: 4, filled: true, when: '{{zero}}' },
      { type: 'barcode', symbology: 'ean13', x: 26, y: 6, height: 4, value: '{{c}}', when: '{{c}}' },
      { ...sans, x: 26, y: 8, text: '#{{$record | padleft:3:0}} {{$today | date:dd.MM.yy}}' },
    ],
  },
  barcodes: {
    width: 60,
    height: 32,
    elements: [
      {
        type: 'barcode',
        symbology: 'ean13',
        x: 1,
        y: 1,
        height: 9,
        value: '4006381333931',
        module: 0.25,
        hri: 'below',
        render: 'graphic',
      },
      {
        type: 'barcode',
        symbology: 'code128',
        x: 1,
        y: 16,
        height: 8,
        value: 'AB-12',
        module: 0.25,
        hri: 'above',
        render: 'graphic',
      },
      { type: 'barcode', symbology: 'qr', x: 34, y: 1, value: 'PLATEN', module: 0.375 },
      { type: 'barcode', symbology: 'datamatrix', x: 46, y: 18, value: 'PLATEN', module: 0.5, rotation: 90 },
    ],
  },
};

const CASES: [string, Case][] = [
  ...Object.entries(SCRIPTS).map(([name, text]): [string, Case] => [`script-${name}`, script(text)]),
  ...Object.entries(ELEMENTS).map(([name, one]): [string, Case] => [`element-${name}`, one]),
];

async function requireLike(name: string, expected: Bitmap, drawn: Bitmap, most: number, reach: number) {
  const share = difference(expected, drawn, reach);
  if (share <= most) return;
  const path = await showDifference(name, expected, drawn);
  expect.fail(`${name}: ${(100 * share).toFixed(2)} % of the dots are not as in the reference, see ${path}`);
}

describe('reference pictures', () => {
  test.each(CASES)('%s', async (name, one) => {
    const source = { ...design(one.width, one.height, one.elements), images: [...(one.images ?? [])] };
    const record = one.record ?? {};
    const job = jobFor(source, [record], { dpi: DPI });
    const label = await compileLabel(source, { dpi: DPI, orientation: 'portrait', job });
    const list = label.layout(record);
    const drawn = rasterBitmap(list);
    const expected = await reference(name, drawn, DPI);
    // Another build of the drawing library may round a curve the other way.
    await requireLike(`${name}.png`, expected, drawn, 0.005, 0);
    const text = await labelText(await openZpl(job));
    // The interpreter draws some boxes one dot larger.
    const printed = await dotsOf(await drawZpl(text, list.width, list.height));
    await requireLike(`${name}.zpl`, expected, printed, 0.005, 1);
    // Poppler sets characters down to a dot away.
    const document = await pdfDocument([{ page: labelPage(list), copies: 1 }]);
    const page = await dotsOf(await drawPdf(document, DPI));
    await requireLike(`${name}.pdf`, expected, page, 0.05, 1);
  });

  test('a difference is seen, and shown', async () => {
    const draw = async (x: number) => {
      const source = design(20, 10, [{ ...sans, x, y: 2, text: 'A' }]);
      return rasterBitmap((await compileLabel(source, { dpi: DPI, orientation: 'portrait' })).layout({}));
    };
    const [here, there] = [await draw(2), await draw(3)];
    await expect(requireLike('self-test', here, there, 0.01, 1)).rejects.toThrow(/self-test.*see .*\.png/);
    await requireLike('self-test', here, await draw(2), 0, 0);
  });
});
