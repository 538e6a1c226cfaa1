import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { type IppAttribute, IppCodecError, type IppValue } from '../../drivers/ipp/message.ts';
import { anyMessage, PRINTER_REPLY } from './messages.ts';

const HEAD = [2, 0, 0, 0, 0, 0, 0, 1];
const OPERATION = 0x01;
const PRINTER = 0x04;
const END = 0x03;

/** One value as it stands on the wire. */
function wire(tag: number, name: string, value: number[]): number[] {
  return [tag, 0, name.length, ...Buffer.from(name), value.length >> 8, value.length & 0xff, ...value];
}

function message(...bytes: number[][]): Buffer {
  return Buffer.from([...HEAD, PRINTER, ...bytes.flat(), END]);
}

function only(bytes: Buffer): IppAttribute[] {
  return decodeIpp(bytes).groups[0]?.attributes ?? [];
}

function refused(bytes: Uint8Array, limits?: Parameters<typeof decodeIpp>[1]): string {
  try {
    decodeIpp(bytes, limits);
  } catch (error) {
    if (error instanceof IppCodecError) return error.code;
    throw error;
  }
  return 'taken';
}

test('the example of RFC 8010 §A.1, byte by byte', () => {
  // Print-Job request: charset, language, printer-uri, job-name, ipp-attribute-fidelity; copies, sides; data.
  const bytes = Buffer.concat([
    Buffer.from([1, 1, 0, 2, 0, 0, 0, 1, OPERATION]),
    Buffer.from(wire(0x47, 'attributes-charset', [...Buffer.from('utf-8')])),
    Buffer.from(wire(0x48, 'attributes-natural-language', [...Buffer.from('en-us')])),
    Buffer.from(wire(0x45, 'printer-uri', [...Buffer.from('ipp://printer.example.com/ipp/print/pinetree')])),
    Buffer.from(wire(0x42, 'job-name', [...Buffer.from('foobar')])),
    Buffer.from(wire(0x22, 'ipp-attribute-fidelity', [1])),
    Buffer.from([0x02]),
    Buffer.from(wire(0x21, 'copies', [0, 0, 0, 20])),
    Buffer.from(wire(0x44, 'sides', [...Buffer.from('two-sided-long-edge')])),
    Buffer.from([END]),
    Buffer.from('%!PDF'),
  ]);
  const decoded = decodeIpp(bytes);
  expect(decoded).toEqual({
    version: { major: 1, minor: 1 },
    code: 2,
    requestId: 1,
    groups: [
      {
        tag: 'operation',
        attributes: [
          { name: 'attributes-charset', values: [{ tag: 'charset', value: 'utf-8' }] },
          { name: 'attributes-natural-language', values: [{ tag: 'naturalLanguage', value: 'en-us' }] },
          {
            name: 'printer-uri',
            values: [{ tag: 'uri', value: 'ipp://printer.example.com/ipp/print/pinetree' }],
          },
          { name: 'job-name', values: [{ tag: 'name', value: 'foobar' }] },
          { name: 'ipp-attribute-fidelity', values: [{ tag: 'boolean', value: true }] },
        ],
      },
      {
        tag: 'job',
        attributes: [
          { name: 'copies', values: [{ tag: 'integer', value: 20 }] },
          { name: 'sides', values: [{ tag: 'keyword', value: 'two-sided-long-edge' }] },
        ],
      },
    ],
    data: Buffer.from('%!PDF'),
  });
  expect(encodeIpp(decoded).equals(bytes)).toBe(true);
});

test('what is written is read again, for every message', () => {
  fc.assert(
    fc.property(anyMessage, (sent) => {
      expect(decodeIpp(encodeIpp(sent))).toEqual(sent);
    }),
    { seed: 20261121, numRuns: 300 },
  );
});

test('a dateTime counts months from 1 and carries its time zone (RFC 2579)', () => {
  // 1992-5-26,13:30:15.0,-4:0 is the RFC's own example.
  const [attribute] = only(message(wire(0x31, 't', [0x07, 0xc8, 5, 26, 13, 30, 15, 0, 0x2d, 4, 0])));
  expect(attribute?.values).toEqual([
    { tag: 'dateTime', value: new Date('1992-05-26T17:30:15Z'), offset: -240 },
  ]);
});

test.each<[string, number, number[]]>([
  ['a clock that is not set', 0x31, [0, 0, 0, 0, 0, 0, 0, 0, 0x2b, 0, 0]],
  ['30 February', 0x31, [7, 0xea, 2, 30, 0, 0, 0, 0, 0x2b, 0, 0]],
  ['a short integer', 0x21, [0, 1]],
  ['a boolean of 2', 0x22, [2]],
  ['a resolution in furlongs', 0x32, [0, 0, 0, 203, 0, 0, 0, 203, 9]],
  ['half a range', 0x33, [0, 0, 0, 1]],
  ['a language longer than its value', 0x35, [0x7f, 0xff, 0x61]],
  ['an unknown value with bytes', 0x12, [1]],
  ['a tag of the future', 0x6e, [1, 2, 3]],
])('%s is kept as it came, and the rest is read', (_, tag, value) => {
  const bytes = message(wire(tag, 'odd', value), wire(0x21, 'fine', [0, 0, 0, 5]));
  expect(only(bytes)).toEqual([
    { name: 'odd', values: [{ tag: 'raw', code: tag, value: Buffer.from(value) }] },
    { name: 'fine', values: [{ tag: 'integer', value: 5 }] },
  ]);
});

const open = wire(0x34, 'c', []);
const close = wire(0x37, '', []);
const member = (name: string) => wire(0x4a, '', [...Buffer.from(name)]);
const five = wire(0x21, '', [0, 0, 0, 5]);

test.each<[string, Buffer, string]>([
  ['nothing', Buffer.alloc(0), 'truncated'],
  ['a web page', Buffer.from('<html><body>Not found</body></html>'), 'malformed'],
  ['no end', Buffer.from([...HEAD, PRINTER]), 'truncated'],
  ['an attribute without group', Buffer.from([...HEAD, ...wire(0x21, 'a', [0, 0, 0, 1]), END]), 'malformed'],
  ['a value without attribute', message(five), 'malformed'],
  ['a reserved delimiter', Buffer.from([...HEAD, 0x0d, END]), 'malformed'],
  ['a length beyond the end', message([0x44, 0, 1, 0x61, 0xff, 0xff]), 'truncated'],
  ['a name length beyond the end', message([0x44, 0xff, 0xff]), 'truncated'],
  ['a collection without end', message(open, member('m'), five), 'malformed'],
  ['an end without collection', message(wire(0x21, 'a', [0, 0, 0, 1]), close), 'malformed'],
  ['a member outside', message(wire(0x21, 'a', [0, 0, 0, 1]), member('m')), 'malformed'],
  ['a member without value', message(open, member('m'), close), 'malformed'],
  ['a value before its member', message(open, five, close), 'malformed'],
  ['a member without name', message(open, member(''), five, close), 'malformed'],
  ['a named value in a collection', message(open, wire(0x21, 'x', [0, 0, 0, 5]), close), 'malformed'],
])('refused: %s', (_, bytes, code) => {
  expect(refused(bytes)).toBe(code);
});

test('limits: bytes, values, depth', () => {
  const limits = { bytes: 1_000, values: 50, depth: 3 };
  const nested = (depth: number) =>
    message(
      open,
      ...Array.from({ length: depth - 1 }, () => [...member('m'), ...wire(0x34, '', [])]),
      member('m'),
      five,
      ...Array.from({ length: depth }, () => close),
    );
  expect(refused(nested(3), limits)).toBe('taken');
  expect(refused(nested(4), limits)).toBe('limit-exceeded');
  expect(refused(nested(5_000))).toBe('limit-exceeded');
  expect(refused(message(wire(0x21, 'a', [0, 0, 0, 1]), ...Array(60).fill(five)), limits)).toBe(
    'limit-exceeded',
  );
  expect(refused(message(wire(0x30, 'a', Array(1_100).fill(0))), limits)).toBe('limit-exceeded');
  // The document behind the attributes is not counted.
  expect(refused(Buffer.concat([message(), Buffer.alloc(5_000)]), limits)).toBe('taken');
});

test.each<[string, IppValue]>([
  ['an integer over 32 bits', { tag: 'integer', value: 2 ** 31 }],
  ['a fraction', { tag: 'enum', value: 1.5 }],
  ['a text over 32,767 bytes', { tag: 'text', value: 'x'.repeat(32_768) }],
  ['an invalid date', { tag: 'dateTime', value: new Date(Number.NaN), offset: 0 }],
  ['a raw end of collection', { tag: 'raw', code: 0x37, value: Buffer.alloc(0) }],
  ['a raw delimiter', { tag: 'raw', code: 0x03, value: Buffer.alloc(0) }],
  ['a member without value', { tag: 'collection', value: [{ name: 'm', values: [] }] }],
])('not written: %s', (_, value) => {
  const sent = {
    ...PRINTER_REPLY,
    groups: [{ tag: 'job' as const, attributes: [{ name: 'a', values: [value] }] }],
  };
  expect(() => encodeIpp(sent)).toThrow(expect.objectContaining({ code: 'value-invalid' }));
});

test('whatever arrives: a message or a codec error, nothing else', () => {
  const cases = Number(process.env['IPP_FUZZ'] ?? 3_000);
  const changes = fc.array(
    fc.record({ at: fc.nat(1_500), remove: fc.nat(8), insert: fc.uint8Array({ maxLength: 6 }) }),
    { minLength: 1, maxLength: 5 },
  );
  const valid = fc.oneof(fc.constant(encodeIpp(PRINTER_REPLY)), anyMessage.map(encodeIpp));
  const mutated = fc.tuple(valid, changes).map(([bytes, list]) => {
    let result = bytes;
    for (const { at, remove, insert } of list) {
      const from = at % (result.length + 1);
      result = Buffer.concat([result.subarray(0, from), insert, result.subarray(from + remove)]);
    }
    return result;
  });
  const flipped = fc.tuple(valid, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    const copy = Buffer.from(bytes);
    copy[at % copy.length] = byte;
    return copy;
  });
  const cut = fc.tuple(valid, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % bytes.length));
  const crafted = fc
    .array(fc.constantFrom(open, close, member('m'), five, [PRINTER], [0x7f], [0xff], [0x80, 0, 0]), {
      maxLength: 60,
    })
    .map((parts) => message(...parts));
  const hostile = fc.oneof(fc.uint8Array({ maxLength: 300 }), mutated, flipped, cut, crafted);
  const tally: Record<string, number> = {};
  fc.assert(
    fc.property(hostile, (bytes) => {
      const outcome = refused(bytes, { bytes: 4_096, values: 200, depth: 4 });
      tally[outcome] = (tally[outcome] ?? 0) + 1;
    }),
    { seed: 20261121, numRuns: cases },
  );
  // Every way out was taken, or the test would show nothing.
  expect(Object.keys(tally).sort()).toEqual(['limit-exceeded', 'malformed', 'taken', 'truncated']);
}, 600_000);
