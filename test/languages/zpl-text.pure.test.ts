/** Text that the printer sets itself stands where our own raster of it stands. */
import { describe, expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, dotsOf, drawZpl, inkBox, jobFor, labelText } from '../kit/judges/judges.ts';

const PLAIN = Array.from({ length: 0xff - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).filter(
  (char) => !/[\x7f-\xa0\xad]/.test(char),
);

describe.each([203, 300, 600])('at %i dpi', (dpi) => {
  test.each([0, 90, 180, 270])('turned %i°, as wide and in the same place', async (rotation) => {
    for (const align of ['left', 'center', 'right']) {
      const source = design(60, 60, [
        {
          type: 'text',
          x: 5,
          y: 5,
          width: 50,
          height: 50,
          size: 6,
          text: 'HxH 42-7 (Mm) "H"',
          align,
          rotation,
          valign: 'middle',
        },
      ]);
      const list = (await compileLabel(source, { dpi, orientation: 'portrait' })).layout({});
      const text = await labelText(await openZpl(jobFor(source, [{}], { dpi })));
      expect(text).not.toContain('^GF');
      const native = inkBox(await dotsOf(await drawZpl(text, list.width, list.height)));
      const own = inkBox(rasterBitmap(list));
      for (const side of ['left', 'top', 'right', 'bottom'] as const) {
        // The faces differ by their glyphs' side bearings and by the height of brackets: a twentieth of the em.
        const em = (6 * dpi) / 25.4;
        expect.soft(Math.abs(native[side] - own[side]), `${align} ${side}`).toBeLessThanOrEqual(em / 20 + 1);
      }
    }
  });
});

test('every plain character is native, and has a glyph of the width we count with', async () => {
  for (let from = 0; from < PLAIN.length; from += 24) {
    const text = `H${PLAIN.slice(from, from + 24).join('')}H`;
    const source = design(100, 12, [{ type: 'text', x: 2, y: 2, size: 6, text: '{{v}}' }]);
    const list = (await compileLabel(source, { dpi: 203, orientation: 'portrait' })).layout({ v: text });
    const zplText = await labelText(await openZpl(jobFor(source, [{ v: text }])));
    expect(zplText).not.toContain('^GF');
    const native = inkBox(await dotsOf(await drawZpl(zplText, list.width, list.height)));
    const own = inkBox(rasterBitmap(list));
    expect(Math.abs(native.right - own.right)).toBeLessThanOrEqual(3);
  }
});

test.each(['Ωμέγα', 'Привет', 'مرحبا', 'שלום', 'हिन्दी', 'ไทย', '日本', '한국', '😀', 'a\u00a0b', 'x\u0301'])(
  '%s is a graphic, unless native is forced',
  async (v) => {
    const element = { type: 'text', x: 2, y: 2, size: 6, text: '{{v}}' };
    const auto = await labelText(await openZpl(jobFor(design(60, 12, [element]), [{ v }])));
    expect(auto).toContain('^GFA');
    expect(auto).not.toContain('^FD');
    const forced = await labelText(
      await openZpl(jobFor(design(60, 12, [{ ...element, render: 'native' }]), [{ v }])),
    );
    expect(forced).toMatch(/\^FH\^FD\w*_/);
    expect(forced).not.toContain('^GF');
  },
);

test('decomposed letters are composed, and then native', async () => {
  const source = design(60, 12, [{ type: 'text', x: 2, y: 2, size: 6, text: '{{v}}' }]);
  expect(await labelText(await openZpl(jobFor(source, [{ v: 'Cafe\u0301' }])))).toContain('^FDCaf_C3_A9^FS');
});

test('a format starts from known settings, ends with its copies, and prints even when it is blank', async () => {
  const encoder = await openZpl(jobFor(design(101.6, 152.4, []), [{}]));
  const start = '^XA^CI28^MUD^JMA^PON^PMN^LRN^LH0,0^LS0^LT0^FWN,0^MCY^CVN^PW812^LL1218';
  expect(await labelText(encoder, 0, 12)).toBe(`${start}^FO0,0^GB1,1,1,W^FS^PQ12^XZ`);
});

test.each(['auto', 'native'])('text below the 10 dots that ^A takes is a graphic (%s)', async (render) => {
  const element = { type: 'text', x: 2, y: 2, text: 'Small', render };
  const sent = async (size: number) =>
    await labelText(await openZpl(jobFor(design(60, 12, [{ ...element, size }]), [{}])));
  expect(await sent(1.25)).toContain('^A0N,10,10');
  expect(await sent(1.1)).not.toContain('^A0');
  expect(await sent(1.1)).toContain('^GF');
});
