/** What a thread keeps decoded of templates that it draws again and again. */
import { createCanvas } from '@napi-rs/canvas';
import { expect, test } from 'vitest';
import { designedTemplate } from '../../src/contract/template.ts';
import { createAssets, KeptAssets, textAsBefore } from '../../src/render/assets.ts';
import { compileLabel } from '../../src/render/label-layout.ts';

const label = (...pictures: string[]) =>
  designedTemplate.parse({
    name: 'A',
    width: 10,
    height: 10,
    images: pictures.map((data, at) => ({ name: `${at}`, data })),
    elements: [],
  });

function picture(width: number, height: number, type: 'image/png' | 'image/jpeg' = 'image/png'): string {
  const canvas = createCanvas(width, height);
  if (type === 'image/png') return canvas.toBuffer(type).toString('base64');
  return canvas.toBuffer(type, 10).toString('base64');
}

test('a picture is decoded once for one owner, and anew for another', async () => {
  const kept = new KeptAssets();
  const decoded = async (owner: string) => {
    const { images } = createAssets(label(picture(20, 20)), kept.of(owner));
    return await images.named('0');
  };
  const first = await decoded('one');
  expect(await decoded('one')).toBe(first);
  expect(await decoded('two')).not.toBe(first);
});

test('its dots are made once for each size', async () => {
  const kept = new KeptAssets();
  const dots = async (width: number) => {
    const { images } = createAssets(label(picture(20, 20)), kept.of('one'));
    return images.dots(await images.named('0'), { width, height: 8 }, { fit: 'cover', halftone: 'dither' });
  };
  const first = await dots(8);
  expect(await dots(8)).toBe(first);
  expect((await dots(9)).width).toBe(9);
});

test('large pictures are not kept, and count in each template as if they were not', async () => {
  const kept = new KeptAssets();
  const large = picture(4_000, 3_000, 'image/jpeg');
  const named = async (of: ReturnType<typeof label>, name: string) =>
    await createAssets(of, kept.of('one')).images.named(name);
  expect(await named(label(large), '0')).not.toBe(await named(label(large), '0'));
  // 7,000,000 pixels each: the fifth is too much, though the first is decoded already.
  const five = [1_000, 1_001, 1_002, 1_003, 1_004].map((width) => picture(width, 7_000, 'image/jpeg'));
  await named(label(...five), '0');
  const { images } = createAssets(label(...five), kept.of('one'));
  for (const name of ['0', '1', '2', '3']) await images.named(name);
  await expect(images.named('4')).rejects.toThrow('32000000');
});

test('a text that was drawn before is the item of then; one that differs in anything is not', async () => {
  const texts = new KeptAssets().of('one').texts;
  const item = async (members: object, dpi = 203) => {
    const element = { type: 'text', x: 1, y: 1, width: 20, height: 5, size: 3, text: 'No 1', ...members };
    const template = designedTemplate.parse({ name: 'A', width: 30, height: 10, elements: [element] });
    const job = { createdAt: '2026-11-28T12:00:00Z', copies: 1, records: { length: 1 } };
    const compiled = await compileLabel(template, { dpi, orientation: 'portrait', job });
    const [text] = compiled.layout({}, 0, 0).items;
    if (text?.kind !== 'text') throw new Error('the label has no text');
    return textAsBefore(text, texts);
  };
  const first = await item({});
  expect(await item({})).toBe(first);
  const others = [
    await item({ text: 'No 2' }),
    await item({ x: 1.5 }),
    await item({ size: 2.5 }),
    await item({ rotation: 90 }),
    await item({ font: 'sans' }),
    await item({}, 300),
  ];
  expect(new Set([first, ...others]).size).toBe(7);
  expect(await item({})).toBe(first);
});
