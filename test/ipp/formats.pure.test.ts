/** Which of our languages a printer or a queue takes, by what it says. */
import { describe, expect, test } from 'vitest';
import type { IppAttribute } from '../../drivers/ipp/message.ts';
import { formatsTaken, rasterTaken, resolution } from '../../drivers/transports/document/ipp-formats.ts';

function said(attributes: Record<string, string[] | number[]>): IppAttribute[] {
  return Object.entries(attributes).map(([name, values]) => ({
    name,
    values: values.map((value) =>
      typeof value === 'number'
        ? { tag: 'resolution' as const, x: value, y: value, unit: 'dpi' as const }
        : { tag: 'keyword' as const, value },
    ),
  }));
}

const taken = (formats: string[], more: Record<string, string[]> = {}) =>
  formatsTaken(
    said({
      'document-format-supported': formats,
      'printer-make-and-model': ['Acme Label 4'],
      'printer-device-id': ['MFG:Acme;MDL:Label 4;CMD:TSPL2,PDF;'],
      ...more,
    }),
  );
const ANY = 'application/octet-stream';
const RAW = 'application/vnd.cups-raw';

describe('a printer', () => {
  test('says what it takes by its formats, best for labels first', () => {
    const all = ['image/png', 'image/pwg-raster', 'application/PDF', 'application/vnd.eltron-epl', ANY];
    expect(taken([...all, 'application/vnd.zebra-zpl'])).toEqual({
      languages: ['zpl', 'epl', 'pdf', 'pwg-raster', 'png'],
      mediaTypes: {
        zpl: 'application/vnd.zebra-zpl',
        tspl: ANY,
        epl: 'application/vnd.eltron-epl',
        pdf: 'application/pdf',
        'pwg-raster': 'image/pwg-raster',
        png: 'image/png',
      },
      queue: 'none',
    });
  });

  test('that takes bytes of any kind may be given its own language, but no pages', () => {
    expect(taken([ANY])).toEqual({
      languages: [],
      mediaTypes: { zpl: ANY, tspl: ANY, epl: ANY },
      queue: 'none',
    });
    expect(taken(['image/urf'])).toEqual({ languages: [], mediaTypes: {}, queue: 'none' });
  });

  test('whose PWG raster is nothing that we make takes none', () => {
    const types = { 'pwg-raster-document-type-supported': ['cmyk_8', 'black_16'] };
    expect(taken(['image/pwg-raster', 'image/png'], types).languages).toEqual(['png']);
  });
});

test('a raw queue takes what its device speaks, unchanged; one with a driver takes PDF too', () => {
  const formats = [RAW, 'application/pdf', 'image/png', 'image/pwg-raster', ANY];
  const raw = taken(formats, { 'printer-make-and-model': ['Local Raw Printer'] });
  expect(raw).toMatchObject({
    languages: ['tspl'],
    mediaTypes: { zpl: RAW, tspl: RAW, epl: RAW },
    queue: 'raw',
  });
  expect(taken(formats)).toMatchObject({ languages: ['tspl', 'pdf'], queue: 'driver' });
});

test.each<[string[], number[], number[], object | undefined]>([
  [['black_1', 'sgray_8', 'srgb_8'], [203], [203], { type: 'sgray_8', dpi: 203 }],
  [['srgb_8', 'black_1'], [203], [300, 600], { type: 'black_1', dpi: 300 }],
  [['srgb_8'], [600], [300, 600, 1200], { type: 'srgb_8', dpi: 600 }],
  [['srgb_8'], [], [300, 600], { type: 'srgb_8', dpi: 300 }],
  [[], [203], [], { type: 'sgray_8' }],
  [['cmyk_8'], [203], [203], undefined],
])('raster of %j at %j of %j', (types, own, listed, expected) => {
  const attributes = said({
    'pwg-raster-document-type-supported': types,
    'printer-resolution-default': own,
    'pwg-raster-document-resolution-supported': listed,
  });
  expect(rasterTaken(attributes)).toEqual(expected);
  expect(resolution(attributes)).toBe(own[0]);
});
