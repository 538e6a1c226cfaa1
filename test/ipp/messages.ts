/** IPP messages for property tests: anything that the encoder takes. */
import fc from 'fast-check';
import {
  GROUP_TAGS,
  type GroupTag,
  type IppAttribute,
  type IppMessage,
  type IppValue,
  OUT_OF_BAND_TAGS,
  type OutOfBandTag,
  STRING_TAGS,
  type StringTag,
} from '../../drivers/ipp/message.ts';

const int32 = fc.integer({ min: -0x80000000, max: 0x7fffffff });
const text = fc.string({ unit: 'binary', maxLength: 40 });
const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 });
const octets = fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes));

const plain: fc.Arbitrary<IppValue> = fc.oneof(
  fc.record({ tag: fc.constantFrom('integer' as const, 'enum' as const), value: int32 }),
  fc.record({ tag: fc.constant('boolean' as const), value: fc.boolean() }),
  fc.record({ tag: fc.constant('octetString' as const), value: octets }),
  fc.record({
    tag: fc.constant('dateTime' as const),
    // Whole tenths of a second, as the wire has them; years 1 to 9998 in any time zone.
    value: fc
      .integer({ min: -621_000_000_000, max: 2_533_000_000_000 })
      .map((tenths) => new Date(tenths * 100)),
    offset: fc.integer({ min: -14 * 60, max: 14 * 60 }),
  }),
  fc.record({
    tag: fc.constant('resolution' as const),
    x: int32,
    y: int32,
    unit: fc.constantFrom('dpi' as const, 'dpcm' as const),
  }),
  fc.record({ tag: fc.constant('rangeOfInteger' as const), min: int32, max: int32 }),
  fc.record({
    tag: fc.constantFrom('textWithLanguage' as const, 'nameWithLanguage' as const),
    value: text,
    language: text,
  }),
  fc.record({ tag: fc.constantFrom(...(Object.keys(STRING_TAGS) as StringTag[])), value: text }),
  fc.record({ tag: fc.constantFrom(...(Object.keys(OUT_OF_BAND_TAGS) as OutOfBandTag[])) }),
  fc.record({
    tag: fc.constant('raw' as const),
    code: fc.constantFrom(0x14, 0x2f, 0x43, 0x7f),
    value: octets,
  }),
);

function attribute(values: fc.Arbitrary<IppValue>): fc.Arbitrary<IppAttribute> {
  return fc.record({ name, values: fc.array(values, { minLength: 1, maxLength: 4 }) });
}

const { value } = fc.letrec<{ value: IppValue; collection: IppValue }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 5, withCrossShrink: true }, plain, tie('collection')),
  collection: fc.record({
    tag: fc.constant('collection' as const),
    value: fc.array(attribute(tie('value')), { maxLength: 4 }),
  }),
}));

export const anyMessage: fc.Arbitrary<IppMessage> = fc.record({
  version: fc.record({ major: fc.nat(255), minor: fc.nat(255) }),
  code: fc.nat(0xffff),
  requestId: fc.nat(0x7fffffff),
  groups: fc.array(
    fc.record({
      tag: fc.constantFrom(...(Object.keys(GROUP_TAGS) as GroupTag[])),
      attributes: fc.array(attribute(value), { maxLength: 5 }),
    }),
    { maxLength: 4 },
  ),
  data: octets,
});

/** A reply as a label printer gives it, with every kind of value. */
export const PRINTER_REPLY: IppMessage = {
  version: { major: 2, minor: 0 },
  code: 0,
  requestId: 7,
  groups: [
    {
      tag: 'operation',
      attributes: [
        { name: 'attributes-charset', values: [{ tag: 'charset', value: 'utf-8' }] },
        { name: 'attributes-natural-language', values: [{ tag: 'naturalLanguage', value: 'en' }] },
      ],
    },
    {
      tag: 'printer',
      attributes: [
        { name: 'printer-uri-supported', values: [{ tag: 'uri', value: 'ipp://10.0.0.7/ipp/print' }] },
        { name: 'printer-name', values: [{ tag: 'name', value: 'Étiquettes 3' }] },
        { name: 'printer-info', values: [{ tag: 'textWithLanguage', value: 'Labor', language: 'de' }] },
        { name: 'printer-state', values: [{ tag: 'enum', value: 3 }] },
        {
          name: 'printer-state-reasons',
          values: [
            { tag: 'keyword', value: 'media-empty-error' },
            { tag: 'keyword', value: 'cover-open-warning' },
          ],
        },
        { name: 'printer-is-accepting-jobs', values: [{ tag: 'boolean', value: true }] },
        { name: 'printer-resolution-default', values: [{ tag: 'resolution', x: 203, y: 203, unit: 'dpi' }] },
        { name: 'copies-supported', values: [{ tag: 'rangeOfInteger', min: 1, max: 999 }] },
        { name: 'document-format-supported', values: [{ tag: 'mimeMediaType', value: 'application/pdf' }] },
        {
          name: 'printer-current-time',
          values: [{ tag: 'dateTime', value: new Date('2026-11-21T07:00:00.500Z'), offset: 60 }],
        },
        { name: 'printer-geo-location', values: [{ tag: 'unknown' }] },
        { name: 'printer-input-tray', values: [{ tag: 'octetString', value: Buffer.from('type=other;') }] },
        {
          name: 'media-col-default',
          values: [
            {
              tag: 'collection',
              value: [
                {
                  name: 'media-size',
                  values: [
                    {
                      tag: 'collection',
                      value: [
                        { name: 'x-dimension', values: [{ tag: 'integer', value: 10160 }] },
                        { name: 'y-dimension', values: [{ tag: 'integer', value: 15240 }] },
                      ],
                    },
                  ],
                },
                { name: 'media-tracking', values: [{ tag: 'keyword', value: 'gap' }] },
              ],
            },
          ],
        },
      ],
    },
  ],
  data: Buffer.alloc(0),
};
