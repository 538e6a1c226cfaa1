import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { dots, millimetres } from '../../src/contract/dots.ts';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { type CheckTarget, templateProblems } from '../../src/render/template-check.ts';
import { design } from '../kit/judges/judges.ts';

const target: CheckTarget = { dpi: 203, width: 60, height: 40 };

async function found(
  elements: readonly object[],
  fields: readonly object[] = [],
  format?: CheckTarget,
  more = {},
) {
  const problems = await templateProblems({ ...design(60, 40, elements, fields), ...more }, format);
  return problems.map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);
}

const text = { type: 'text', x: 2, y: 2, width: 40, size: 4, text: 'Fixed' };
const qr = { type: 'barcode', symbology: 'qr', x: 20, y: 10, value: 'HELLO', module: 0.5 };
const code = { type: 'barcode', symbology: 'code128', x: 5, y: 10, height: 8, value: '{{v}}' };

describe('a template check', () => {
  test('finds nothing in a good template', async () => {
    const frame = { type: 'box', x: 0, y: 0, width: 60, height: 40 };
    const diagonal = { type: 'line', x: 0, y: 40, x2: 60, y2: 36, thickness: 0.3 };
    expect(await found([text, { ...qr }, frame, diagonal])).toEqual([]);
    // Nothing of these letters is above or below the edge, though their line is.
    const capitals = { ...text, text: 'FIXED' };
    expect(await found([-0.1, 36.8].map((y) => ({ ...capitals, y })))).toEqual([]);
    expect(await found([{ ...code, hri: 'below' }], [{ name: 'v', sample: 'AB-1234' }])).toEqual([]);
  });

  test.each([
    ['an unknown filter', { ...text, text: '{{a | shout}}' }, 'error template-invalid /elements/0'],
    ['a bad condition', { ...text, when: '{{a | shout}}' }, 'error template-invalid /elements/0/when'],
    [
      'a fixed text too long',
      { ...text, width: 3, text: 'far too long for this' },
      'error does-not-fit /elements/0',
    ],
    ['no glyph', { ...text, text: '\u{13000}' }, 'error value-invalid /elements/0'],
    [
      'a built-in field that its filter does not take',
      { ...text, text: '{{$today | date:HHmm}}' },
      'error value-invalid /elements/0',
    ],
    [
      'a condition with such a one',
      { ...text, when: '{{$timeZone | number:0}}' },
      'error value-invalid /elements/0',
    ],
    [
      'a fixed value',
      { ...code, symbology: 'ean13', value: '4006381333932' },
      'error value-invalid /elements/0',
    ],
    ['a box off the label', { type: 'box', x: 70, y: 2, width: 5, height: 5 }, 'error off-label /elements/0'],
    [
      'a box over the edge',
      { type: 'box', x: 50, y: 2, width: 15, height: 5 },
      'warning off-label /elements/0',
    ],
    [
      'text whose tops are cut off',
      { ...text, y: -1.2, size: 5, text: 'PREIS' },
      'error does-not-fit /elements/0',
    ],
    [
      'text whose tails are cut off',
      { ...text, y: 36.2, size: 5, text: 'gypsy' },
      'error does-not-fit /elements/0',
    ],
    [
      'no such image',
      { type: 'image', x: 1, y: 1, width: 5, height: 5, image: 'x' },
      'error template-invalid /elements/0',
    ],
    [
      'no picture',
      { type: 'image', x: 1, y: 1, width: 5, height: 5, data: 'AAAA' },
      'error template-invalid /elements/0',
    ],
    ['italic where there is none', { ...text, italic: true }, 'error template-invalid /elements/0'],
  ])('%s', async (_, element, expected) => {
    const problems = await found([element]);
    expect(problems.filter((problem) => !problem.includes('field-undeclared'))).toEqual([expected]);
  });

  // The drawing library draws the rows that it has, and says nothing: half a logo on every label.
  test.each(['image/png', 'image/jpeg'] as const)('a picture that is cut off, %s', async (type) => {
    const canvas = createCanvas(80, 60);
    const context = canvas.getContext('2d');
    for (let y = 0; y < 60; y++) {
      context.fillStyle = `hsl(${y * 6} 80% 50%)`;
      context.fillRect(0, y, 80, 1);
    }
    const whole = type === 'image/png' ? canvas.toBuffer(type) : canvas.toBuffer(type, 90);
    const image = { type: 'image', x: 1, y: 1, width: 20, height: 15 };
    const wrong = async (bytes: Buffer) => {
      const data = bytes.toString('base64');
      const images = [{ name: 'logo', data }];
      return [
        await found([{ ...image, data }]),
        await found([{ ...image, image: 'logo' }], [], undefined, { images }),
      ];
    };
    expect(await wrong(whole)).toEqual([[], []]);
    for (const share of [0.5, 0.9, 0.99]) {
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      expect(await wrong(cut)).toEqual([
        ['error template-invalid /elements/0'],
        ['error template-invalid /elements/0', 'error template-invalid /images/0/data'],
      ]);
    }
  });

  test('samples warn, and are not errors', async () => {
    const ean = { ...code, symbology: 'ean13', value: '{{v}}' };
    expect(await found([ean], [{ name: 'v', sample: '4006381333932' }])).toEqual([
      'warning value-invalid /elements/0',
    ]);
    expect(await found([ean], [{ name: 'v' }])).toEqual([]);
  });

  test('an element that the samples do not draw is not asked for its values', async () => {
    const hidden = { ...code, symbology: 'ean13', when: '{{v}}' };
    expect(await found([hidden], [{ name: 'v', default: '' }])).toEqual([]);
  });

  test('fields: unused, undeclared, reserved', async () => {
    const element = { ...text, text: '{{used}} {{missing}} {{$record}}', when: '{{other}}' };
    expect(await found([element], [{ name: 'used' }, { name: 'unused' }, { name: '$now' }])).toEqual([
      'error template-invalid /fields/2',
      'warning field-unused /fields/1',
      'warning field-undeclared /elements/0',
      'warning field-undeclared /elements/0/when',
    ]);
  });

  test.each([0, 90, 180, 270])('the quiet zone of a linear symbol turned by %i', async (rotation) => {
    // Code 128 takes 10 modules to the left and the right of it, and nothing over and under it.
    const symbol = { ...code, x: 20, y: 10, value: 'ABC', height: 10, module: 0.25, rotation };
    const upright = rotation % 180 === 0;
    const dot = (x: number, y: number) => ({ type: 'box', x, y, width: 0.25, height: 0.25, filled: true });
    const [length, height] = [23, 10];
    const inZone = upright ? dot(20.5, 14) : dot(24, 10.5);
    const atEnd = upright ? dot(20 + length + 5, 14) : dot(24, 10 + length + 5);
    const beside = upright ? dot(24, 10 + height + 1) : dot(20 + height + 1, 14);
    expect(await found([symbol, inZone])).toEqual(['warning quiet-zone /elements/0']);
    expect(await found([symbol, atEnd, beside])).toEqual([]);
    expect(await found([symbol, text])).toEqual([]);
  });

  test.each([
    ['ean13', '4006381333931', 11, 95],
    ['upca', '012345678905', 9, 95],
  ])(
    'the quiet zone after the add-on of %s is shorter than after the symbol',
    async (symbology, value, left, width) => {
      // Two dots a module; the gap before an add-on of two digits is 9 modules, the add-on 20, its quiet zone 5.
      const end = dots(2, 203) + 2 * (left + width + 9 + 20 + 5);
      const symbol = { ...code, symbology, value: `${value}+12`, moduleDots: 2, x: 2 };
      const behind = (x: number) => {
        const box = { type: 'box', x: millimetres(x, 203), y: 11, width: 0.25, height: 3, filled: true };
        return found([symbol, box], [], target);
      };
      expect(await behind(end + 1)).toEqual([]);
      expect(await behind(end - 2)).toEqual(['warning quiet-zone /elements/0']);
    },
  );

  test('what is drawn over a symbol, though its box is larger', async () => {
    const ring = { type: 'ellipse', x: 12, y: 4, width: 30, height: 30 };
    const cross = { type: 'line', x: 18, y: 12, x2: 40, y2: 20 };
    expect(await found([qr, ring])).toEqual([]);
    expect(await found([qr, cross])).toEqual(['warning quiet-zone /elements/0']);
  });

  test('bearer bars lie on the quiet zones of a symbol, and do not widen them', async () => {
    // 3 dots a module, wide bars of 8: 48 × 3 + 29 × 8 = 376 dots of bars, 30 of quiet zone and 12 of bearer bar a side.
    const itf = {
      ...code,
      symbology: 'itf14',
      value: '04012345678901',
      moduleDots: 3,
      x: 2,
      y: 5,
      height: 10,
    };
    const first = dots(2, 203);
    const mm = (count: number) => millimetres(count, 203);
    const beside = (from: number) => [
      { type: 'box', x: mm(from), y: 6, width: 0.25, height: 5, filled: true },
    ];
    for (const [bearer, side] of [
      ['bars', 0],
      ['box', 12],
      ['none', 0],
    ] as const) {
      const end = first + 2 * side + 30 + 376 + 30;
      expect(await found([{ ...itf, bearer }, ...beside(end + 1)], [], target), bearer).toEqual([]);
      expect(await found([{ ...itf, bearer }, ...beside(end - 3)], [], target), bearer).toEqual([
        'warning quiet-zone /elements/0',
      ]);
    }
  });

  test('what holds at one resolution only is a warning', async () => {
    // 67 modules and quiet zones: 3 dots at 203 dpi are wider than 4 at 300.
    const tight = { ...code, value: 'ABC', module: 0.33, width: 30 };
    const at = await templateProblems(design(60, 40, [tight]));
    expect(at).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringMatching(/\(at 203 dpi\)$/) }),
    ]);
    expect(await found([tight], [], { dpi: 300, width: 60, height: 40 })).toEqual([]);
  });

  test('format: size, resolution, modules', async () => {
    const format = { dpi: 203, width: 100, height: 40 };
    expect(await found([{ ...code, value: 'ABC', module: 0.17 }], [], format, { dpi: 600 })).toEqual([
      'warning size-mismatch /dpi',
      'warning size-mismatch /width',
      'warning module-rounded /elements/0/module',
    ]);
    expect(await found([text], [], { dpi: 203, width: 40, height: 60 })).toEqual([]);
  });

  test('a sheet: for media of its size, or of the label where a roll has labels', async () => {
    const sheet = { width: 210, height: 297, columns: 3, rows: 7, left: 10, top: 5 };
    const on = (width: number, height: number) => found([text], [], { dpi: 203, width, height }, { sheet });
    expect(await on(210, 297)).toEqual([]);
    expect(await on(60, 40)).toEqual([]);
    expect(await on(215.9, 279.4)).toEqual(['warning size-mismatch /sheet/width']);
  });

  test('raw ZPL', async () => {
    const raw = (source: string, fields: object[] = []) =>
      templateProblems(rawZplTemplate.parse({ name: 'r', language: 'zpl', source, fields }));
    expect(await raw('^XA^FO1,1^FD{{a}}^FS^XZ', [{ name: 'a' }])).toEqual([]);
    expect((await raw('^XA^FO1,1^FD{{a}}^FS^XZ', [{ name: 'b' }])).map(({ code }) => code)).toEqual([
      'field-unused',
      'field-undeclared',
    ]);
    expect(await raw('^XA^FD{{a|shout}}^FS^XZ')).toEqual([
      expect.objectContaining({ severity: 'error', pointer: '/source' }),
    ]);
  });
});
