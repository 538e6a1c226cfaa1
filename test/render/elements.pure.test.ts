/** What elements do for a record: conditions, chosen images, counters. The same job gives the same labels. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openEncoder } from '../../drivers/languages/index.ts';
import type { JobFaultError } from '../../src/contract/fault.ts';
import { labelRecord } from '../../src/contract/print-request.ts';
import { template } from '../../src/contract/template.ts';
import { turnBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, differingDots, jobFor } from '../kit/judges/judges.ts';
import { difference } from './reference.ts';

const target = { dpi: 203, orientation: 'portrait' } as const;
const text = { type: 'text', x: 1, y: 1, size: 3 };
const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v6z"/></svg>',
);
const images = [{ name: 'flag', data: SVG.toString('base64') }];
const choice = { type: 'image', x: 1, y: 1, width: 8, height: 5, image: '{{picture}}' };

async function faultOf(run: () => unknown): Promise<JobFaultError['fault']> {
  try {
    await run();
  } catch (error) {
    return z.object({ fault: z.any() }).parse(error).fault;
  }
  throw new Error('nothing was thrown');
}

describe('conditions', () => {
  test.each([
    ['yes', 1],
    ['', 0],
    ['  ', 0],
    ['0', 0],
    ['FALSE', 0],
    ['00', 1],
    [0, 0],
    [false, 0],
    [null, 0],
    [true, 1],
  ])('%j', async (v, count) => {
    const label = await compileLabel(design(20, 10, [{ ...text, text: 'A', when: '{{v}}' }]), target);
    expect(label.layout({ v }).items).toHaveLength(count);
  });

  test('what is not drawn is not checked; what is drawn is', async () => {
    const code = { type: 'barcode', symbology: 'ean13', x: 1, y: 1, height: 5, module: 0.25, value: '{{v}}' };
    const label = await compileLabel(design(40, 10, [{ ...code, when: '{{v}}' }]), target);
    expect(label.layout({ v: '' }).items).toEqual([]);
    label.check({});
    expect(await faultOf(() => label.layout({ v: 'x' }, 3))).toMatchObject({
      code: 'value-invalid',
      record: 3,
    });
    expect(await faultOf(() => label.check({ v: 'x' }))).toMatchObject({ code: 'value-invalid' });
  });

  test('a condition that never holds leaves an element out, for all records', async () => {
    const label = await compileLabel(design(20, 10, [{ ...text, text: 'A', when: 'false' }]), target);
    expect([label.fixed, label.layout({}).items]).toEqual([[], []]);
  });

  test('a value that a filter cannot take names element and record, and not the value', async () => {
    const label = await compileLabel(
      design(20, 10, [{ ...text, text: '{{v | date}}', when: '{{w | date}}' }]),
      target,
    );
    expect(await faultOf(() => label.layout({ v: 'secret', w: '2026-11-21' }, 2))).toMatchObject({
      code: 'value-invalid',
      element: '/elements/0',
      record: 2,
      message: expect.stringMatching(/^(?!.*secret).*field "v".*ISO 8601/),
    });
    expect(await faultOf(() => label.check({ v: '', w: 'x' }))).toMatchObject({ code: 'value-invalid' });
  });
});

describe('images', () => {
  test('chosen by a field: drawn, left out, refused', async () => {
    const label = await compileLabel({ ...design(20, 10, [choice]), images }, target);
    expect(label.layout({ picture: 'flag' }).items).toHaveLength(1);
    expect(label.layout({ picture: 'flag' }).items[0]).toBe(label.layout({ picture: 'flag' }).items[0]);
    expect(label.layout({}).items).toEqual([]);
    expect(await faultOf(() => label.check({ picture: 'constructor' }, 1))).toMatchObject({
      code: 'value-invalid',
      element: '/elements/0',
      record: 1,
    });
  });

  test.each([
    ['neither data nor image', { image: undefined }],
    ['both', { data: images[0]?.data }],
    ['no such image', { image: 'flags' }],
    [
      'a picture that asks for others',
      { image: undefined, data: Buffer.from('<svg><use/></svg>').toString('base64') },
    ],
    ['no picture', { image: undefined, data: 'AAAA' }],
  ])('%s', async (_, change) => {
    const source = { ...design(20, 10, [{ ...choice, ...change }]), images };
    expect(await faultOf(() => compileLabel(source, target))).toMatchObject({
      code: 'template-invalid',
      element: '/elements/0',
    });
  });
});

test('landscape turns ellipses, images and spaced text with the label', async () => {
  const source = {
    ...design(30, 20, [
      { type: 'ellipse', x: 2, y: 2, width: 12, height: 6, thickness: 0.7 },
      { ...choice, x: 16, y: 3 },
      { ...text, y: 12, text: 'Spaced', letterSpacing: 0.3, font: 'sans', italic: true },
    ]),
    images,
  };
  const draw = async (orientation: 'portrait' | 'landscape') =>
    rasterBitmap((await compileLabel(source, { dpi: 203, orientation })).layout({ picture: 'flag' }));
  const turned = turnBitmap(await draw('portrait'), 90);
  const landscape = await draw('landscape');
  // The drawing library rounds a curve that lies and one that stands differently, on its edge.
  expect(difference(turned, landscape, 1)).toBe(0);
  expect(differingDots(turned, landscape)).toBeLessThan(20);
});

test.each(['zpl', 'pdf'] as const)(
  'the same job gives the same bytes, later and elsewhere: %s',
  async (language) => {
    const read = async (file: string) =>
      JSON.parse(await readFile(new URL(`../../templates/${file}`, import.meta.url), 'utf8'));
    const source = template.parse(await read('price-70x38.json'));
    const records = z.array(labelRecord).parse(await read('price-70x38.records.json'));
    const job = jobFor(source, records, { language });
    const print = async (from: number) => {
      const encoder = await openEncoder(job);
      const labels: string[] = [];
      for (let at = from; at < records.length; at++)
        labels.push(
          Buffer.from(await encoder.label(at, 1))
            .toString('latin1')
            .replace(/\/(?:Creation|Mod)Date \([^)]*\)|<[0-9A-F]{32}>/g, ''),
        );
      return labels;
    };
    const all = await print(0);
    expect(await print(2)).toEqual(all.slice(2));
  },
);
