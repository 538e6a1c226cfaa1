/** Field values are data: whatever they hold, the printer gets the label that was meant and nothing else. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { rawZplTemplate, type Symbology } from '../../src/contract/template.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { escapeFieldData } from '../../src/zpl/field-data.ts';
import { design, drawZpl, jobFor, labelText, readSymbols, readText } from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';

const HOSTILE: readonly string[] = [
  '^XZ~JR',
  '_5E',
  '_5EXA',
  '~HS',
  '{{x}}',
  '"quoted" \'twice\'',
  'back\\slash',
  '\\&',
  '>:>5>8A',
  'line\nbreak',
  'tab\there',
  'nul\0inside',
  'Ünïcödé',
  '^FS^XZ^XA^FDx',
  '$&$1',
];
const SCRIPTS: readonly string[] = [
  'Αθήνα',
  'Москва',
  'القاهرة',
  'ירושלים',
  'दिल्ली',
  'กรุงเทพฯ',
  '東京都',
  '서울',
  '北京',
  '😀👍',
];

/** The commands that we write. ^FD and ^GF end with the next prefix, so that a value in them cannot hide one. */
const OURS = /^\^(?:XA|CI|MU|JM|PO|PM|LR|LH|LS|LT|FW|MC|CV|PW|LL|FO|FT|A0|FH|FD|FR|FS|GB|GF|BY|BC|BE|PQ|XZ)/;

function commands(text: string): string[] {
  return text.split(/(?=[\^~])/).map((command) => command.slice(0, 3));
}

function expectOneFormat(text: string, copies: number): void {
  const found = commands(text);
  expect(found.filter((command) => !OURS.test(command))).toEqual([]);
  expect(found.filter((command) => command === '^XA')).toHaveLength(1);
  expect(found.filter((command) => command === '^XZ')).toHaveLength(1);
  expect(found[0]).toBe('^XA');
  expect(found.at(-1)).toBe('^XZ');
  expect(text.endsWith(`^PQ${copies}^XZ`)).toBe(true);
  // Nothing but printable ASCII on the wire.
  expect(/^[\x20-\x7e]*$/.test(text)).toBe(true);
}

/** What ^FH makes of field data (ZPL II Programming Guide, "Field Hexadecimal Indicator"). */
function decodeFieldData(data: string, indicator = '_'): string {
  const bytes: number[] = [];
  for (let at = 0; at < data.length; at++) {
    if (data[at] === indicator) {
      bytes.push(Number.parseInt(data.slice(at + 1, at + 3), 16));
      at += 2;
    } else bytes.push(data.charCodeAt(at));
  }
  return Buffer.from(bytes).toString('utf8');
}

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.constantFrom(...HOSTILE, ...SCRIPTS, 'A', '1', ' '), { maxLength: 5 }).map((p) => p.join('')),
);

describe('designed templates', () => {
  const text = (render: string) =>
    design(80, 30, [
      {
        type: 'text',
        x: 2,
        y: 2,
        width: 76,
        height: 8,
        size: 4,
        text: 'a {{v}} b',
        overflow: 'clip',
        render,
      },
    ]);

  test.each(['auto', 'native', 'graphic'])(
    'any value in a text (%s) is one format of our commands',
    async (render) => {
      const source = text(render);
      await fc.assert(
        fc.asyncProperty(nasty, fc.integer({ min: 1, max: 99 }), async (v, copies) => {
          try {
            expectOneFormat(await labelText(await openZpl(jobFor(source, [{ v }])), 0, copies), copies);
          } catch (error) {
            // A character that no font has is refused, and only that.
            if (!(error instanceof JobFaultError)) throw error;
            expect(error.fault.code).toBe('value-invalid');
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test.each(['code128', 'qr', 'datamatrix'] satisfies Symbology[])(
    'any value in %s is one format',
    async (symbology) => {
      const source = design(300, 120, [
        {
          type: 'barcode',
          symbology,
          x: 1,
          y: 1,
          module: 0.13,
          value: '{{v}}',
          ...(symbology === 'code128' ? { height: 5, hri: 'below' } : {}),
        },
      ]);
      await fc.assert(
        fc.asyncProperty(nasty, async (v) => {
          try {
            expectOneFormat(await labelText(await openZpl(jobFor(source, [{ v }])), 0, 2), 2);
          } catch (error) {
            if (!(error instanceof JobFaultError)) throw error;
            expect(['value-invalid', 'does-not-fit']).toContain(error.fault.code);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test('a barcode reads as what was posted', async () => {
    const wide = { qr: 0.5, datamatrix: 0.5, code128: 0.25 } as const;
    for (const symbology of ['code128', 'qr', 'datamatrix'] as const) {
      const source = design(100, 40, [
        {
          type: 'barcode',
          symbology,
          x: 2,
          y: 2,
          value: '{{v}}',
          module: wide[symbology],
          ...(symbology === 'code128' ? { height: 10 } : {}),
        },
      ]);
      const values = [...HOSTILE, ...(symbology === 'code128' ? [] : SCRIPTS)];
      const encoder = await openZpl(
        jobFor(
          source,
          values.map((v) => ({ v })),
        ),
      );
      for (const [index, value] of values.entries()) {
        const png = await drawZpl(await labelText(encoder, index), 799, 320);
        const found = await readSymbols(png);
        expect
          .soft(
            found.map((symbol) => symbol.text),
            `${symbology} ${JSON.stringify(value)}`,
          )
          .toEqual([value]);
      }
    }
  });

  test('text reads as what was posted, natively and as a graphic', async () => {
    const lines = ['XZ~JR is harmless', 'A_5E and "quotes"', '{{name}} stays a {{name}}', 'back\\slash 100%'];
    for (const render of ['auto', 'graphic']) {
      const source = design(90, 20, [
        { type: 'text', x: 3, y: 4, width: 84, height: 12, size: 8, text: '{{v}}', render },
      ]);
      const records = lines.map((v) => ({ v }));
      const encoder = await openZpl(jobFor(source, records));
      for (const [index, line] of lines.entries()) {
        const read = await readText(await drawZpl(await labelText(encoder, index), 719, 160));
        // Quotes and braces differ by a stroke or two in a bold face; letters and digits must be right.
        const letters = (text: string) => text.replace(/[^A-Za-z0-9%~\\]/g, '');
        expect.soft(letters(read), `${render} ${line}`).toBe(letters(line));
      }
    }
  });

  test('10,000 characters are an error of theirs, not a cut label', async () => {
    const long = 'x'.repeat(10_000);
    for (const [element, code] of [
      [{ type: 'text', x: 2, y: 2, width: 76, height: 8, size: 4, text: '{{v}}' }, 'does-not-fit'],
      [{ type: 'text', x: 2, y: 2, size: 4, text: '{{v}}' }, 'does-not-fit'],
      [
        { type: 'text', x: 2, y: 2, width: 76, height: 20, size: 4, text: '{{v}}', overflow: 'wrap' },
        'does-not-fit',
      ],
      [{ type: 'barcode', symbology: 'code128', x: 2, y: 2, height: 5, value: '{{v}}' }, 'does-not-fit'],
      [{ type: 'barcode', symbology: 'qr', x: 2, y: 2, value: '{{v}}' }, 'value-invalid'],
      [{ type: 'barcode', symbology: 'datamatrix', x: 2, y: 2, value: '{{v}}' }, 'value-invalid'],
    ] as const) {
      const encoder = await openZpl(jobFor(design(80, 30, [element]), [{ v: 'ok' }, { v: long }]));
      await encoder.label(0, 1);
      const fault = await encoder.label(1, 1).then(
        () => undefined,
        (error: unknown) => (error instanceof JobFaultError ? error.fault : error),
      );
      expect.soft(fault).toMatchObject({ code, record: 1, element: '/elements/0' });
      expect(JSON.stringify(fault)).not.toContain('xxx');
    }
    const room = design(400, 400, [
      { type: 'text', x: 2, y: 2, width: 390, height: 390, size: 3, text: '{{v}}', overflow: 'wrap' },
    ]);
    const words = Array.from({ length: 1600 }, (_, index) => `w${index}`)
      .join(' ')
      .slice(0, 10_000);
    const text = await labelText(await openZpl(jobFor(room, [{ v: words }])));
    const printed = [...text.matchAll(/\^FD([^^]*)\^FS/g)].map((match) => match[1]).join(' ');
    expect(printed).toBe(words);
  });

  test('the preview shows the same hostile text', async () => {
    const source = design(90, 20, [
      { type: 'text', x: 3, y: 4, width: 84, height: 12, size: 8, text: '{{v}}' },
    ]);
    const label = await compileLabel(source, { dpi: 203, orientation: 'portrait' });
    expect(await readText(await rasterize(label.layout({ v: 'JR 5E plain text' })))).toBe('JR 5E plain text');
  });
});

describe('escapes', () => {
  test('what ^FH decodes is the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('_', '\\', '%', '#'), (value, indicator) => {
        const escaped = escapeFieldData(value, indicator);
        expect(/^[\x20-\x7e]*$/.test(escaped)).toBe(true);
        expect(/[\^~]/.test(escaped)).toBe(false);
        expect(decodeFieldData(escaped, indicator)).toBe(value.toWellFormed());
      }),
    );
  });

  test.each([
    ['plain 123', 'plain 123'],
    ['^XZ', '_5EXZ'],
    ['~JR', '_7EJR'],
    ['_5E', '_5F5E'],
    ['\\&', '_5C&'],
    ['a\nb\0', 'a_0Ab_00'],
    ['é€', '_C3_A9_E2_82_AC'],
    ['\ud800', '_EF_BF_BD'],
  ])('%j is %s', (value, data) => {
    expect(escapeFieldData(value)).toBe(data);
  });
});

describe('raw ZPL templates', () => {
  const raw = rawZplTemplate.parse({
    name: 'Raw',
    language: 'zpl',
    source:
      '^XA^FO20,20^A0N,40,40^FDa_b {{v}}^FS^FO20,80^FH\\^A0N,30,30^FDx\\20{{v}}^FS^FO20,140^A0N,30,30^FN1"v"^FS^XZ',
  });

  test.each([
    '^XA^CI13^FO20,20^A0N,40,40^FH\\^FDQt\\82 {{v}}^FS^FO20,80^A0N,30^FDa{{v}}^FS^XZ',
    '^XA^FO20,20^A0N,40,40^FH\\^FDQt\\82 {{v}}^FS^FO20,80^A0N,30^FH\\^FD\\82^FS^XZ',
    '^XA^DFR:A.ZPL^FS^CI27^FO20,20^FN1"v"^FDQté^FS^FO20,80^BQN,2,5^FN2^FS^XZ^XA^XFR:A.ZPL^FS^FN2^FDQA,{{v}}^FS^XZ',
  ])('any value leaves the commands as they were, but for the encoding of its field: %s', async (source) => {
    const template = { ...raw, source };
    const others = (text: string) => commands(text).filter((command) => command !== '^CI');
    const plain = others(await labelText(await openZpl(jobFor(template, [{ v: 'x' }]))));
    await fc.assert(
      fc.asyncProperty(nasty, async (v) => {
        const job = jobFor(template, [{ v }]);
        try {
          const text = await labelText(await openZpl(job), 0, 3);
          expect(others(text)).toEqual(plain);
          expect(/^[\x20-\x7e]*$/.test(text)).toBe(true);
        } catch (error) {
          // Half of a surrogate pair in a barcode is refused, and only that.
          if (!(error instanceof JobFaultError)) throw error;
          expect(error.fault.code).toBe('value-invalid');
          expect(v.isWellFormed()).toBe(false);
        }
      }),
    );
  });

  test('any value leaves the commands as they were', async () => {
    const template = commands(await labelText(await openZpl(jobFor(raw, [{ v: 'x' }]))));
    await fc.assert(
      fc.asyncProperty(nasty, async (v) => {
        const text = await labelText(await openZpl(jobFor(raw, [{ v }])), 0, 3);
        expect(commands(text)).toEqual(template);
        expect(/^[\x20-\x7e]*$/.test(text)).toBe(true);
      }),
    );
  });
});
