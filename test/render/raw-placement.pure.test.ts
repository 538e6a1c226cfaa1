import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reasonText } from '../../src/contract/reason.ts';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { zplRenderer } from '../../src/render/output/zpl-renderer.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { drawFields } from '../../src/zpl/interpreter/draw.ts';
import { labelPieces, labelZpl } from '../../src/zpl/interpreter/label-zpl.ts';
import { plannedLabel } from '../../src/zpl/interpreter/planned-label.ts';
import { type RawMedia, rawPlacementFaults } from '../../src/zpl/raw/placement.ts';
import { dotsOf, inkBox } from '../kit/judges/judges.ts';

const MEDIA: RawMedia = { dpi: 203, width: 101.6, height: 50.8 }; // 812 × 406 dots

function raw(source: string, more = {}) {
  return rawZplTemplate.parse({ name: 'r', language: 'zpl', source, ...more });
}

function found(fields: string, media = MEDIA, more = {}) {
  return rawPlacementFaults(raw(`^XA\n${fields}\n^XZ`, more), media).map(
    ({ code, reason }) => `${code} ${reasonText(reason)}`,
  );
}

describe('fields of a raw ZPL template', () => {
  test.each([
    ['a text', '^FO10,10^A0N,30,30^FD{{a}}^FS'],
    ['a frame as large as the label', '^FO0,0^GB812,406,3^FS'],
    ['the same in the dots of 203.2 dpi', '^FO0,0^GB813,406,3^FS'],
    ['^PW and ^LL of a 104 mm head', '^PW832^LL406^FO10,10^FDx^FS'],
    ['a text that ends at the right edge', '^FO812,10,1^FDx^FS'],
    ['a text at its baseline', '^FT10,400^A0N,60,60^FDx^FS'],
    ['a graphic whose lower edge is told', '^FT10,20^GFA,20,20,1,FFFFFFFFFFFFFFFFFFFF^FS'],
    ['a block', '^FO12,10^FB800,2,0,C^FDx^FS'],
    ['what is moved back by the label home', '^FO10,10^FDx^FS^LH0,0'],
    ['nothing printed there', '^FO900,10^FX a comment^FS'],
    ['in mm', '^MUM^FO100,40^GB1,1,1^FS'],
  ])('%s is on the label', (_, fields) => {
    expect(found(fields)).toEqual([]);
  });

  test.each([
    ['a text beyond the width', '^FX one^FS\n^FO900,10^FD{{a}}^FS', /^off-label line 3: .*900,10.*beyond/],
    ['a numbered field', '^FO900,10^FN1"a"^FS', /^off-label line 2: .*900,10 \(\^FN\)/],
    ['a text beyond the length', '^FO10,406^FDx^FS', /^off-label line 2: .*10,406/],
    ['characters over the lower edge', '^FO10,390^A0N,30,30^FDx^FS', /reaches over/],
    ['characters over the right edge, turned', '^FO800,10^A0R,30,30^FDx^FS', /reaches over/],
    ['characters by ^CF and ^FW', '^FWR^CF0,30^FO800,10^FDx^FS', /reaches over/],
    ['bars over the lower edge', '^BY2,3,100^FO10,350^BCN^FDx^FS', /reaches over/],
    ['bars with a height of their own', '^FO10,350^B3N,N,100^FDx^FS', /reaches over/],
    ['a block over the right edge', '^FO50,10^FB800^FDx^FS', /800 × 0 dots, reaches over/],
    ['a box', '^FO10,10^GB900,5,5^FS', /\(\^GB\), 900 × 5 dots, reaches over/],
    ['a circle', '^FO700,10^GC200^FS', /200 × 200 dots/],
    ['a graphic', '^FO10,400^GFA,20,20,1,FFFFFFFFFFFFFFFFFFFF^FS', /8 × 20 dots/],
    ['what the label home moves', '^LH800,0^FO50,10^FDx^FS', /850,10/],
    ['what ^LS moves', '^LS50^FO10,10^GB9,9,9^FS', /-40,10.*beyond/],
    ['what ^PW cuts', '^PW400^FO500,10^FDx^FS', /beyond the 400 × 406 dots/],
    ['in inches', '^MUI^FO5,1^GB1,1,1^FS', /1015,203/],
  ])('%s', (_, fields, message) => {
    expect(found(fields)).toEqual([expect.stringMatching(message)]);
  });

  test('a stored graphic counts as large as it is recalled', () => {
    const source = '~DGR:L.GRF,20,2,FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF^XA^FO790,10^XGR:L.GRF,3,1^FS^XZ';
    const faults = rawPlacementFaults(raw(source), MEDIA);
    expect(faults.map(({ code, reason }) => [code, reasonText(reason)])).toEqual([
      ['off-label', expect.stringContaining('48 × 10 dots')],
    ]);
  });

  test('the interpreter draws graphics where they are said to be', async () => {
    const box = fc.record({
      x: fc.nat(150),
      y: fc.integer({ min: 80, max: 180 }),
      home: fc.tuple(fc.nat(20), fc.nat(20)),
      by: fc.constantFrom('FO', 'FT'),
      graphic: fc.oneof(
        fc
          .tuple(fc.nat(80), fc.nat(80), fc.integer({ min: 1, max: 9 }))
          .map((size) => `^GB${size.join(',')}`),
        fc.constant('^GFA,16,16,2,FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'),
      ),
    });
    await fc.assert(
      fc.asyncProperty(box, async ({ x, y, home, by, graphic }) => {
        const media = { dpi: 203, width: 300, height: 300 };
        const { plan } = plannedLabel(`^XA^LH${home.join(',')}^${by}${x},${y}${graphic}^FS^XZ`, media);
        if (plan === undefined) throw new Error('nothing is printed');
        const picture = await drawFields(await labelZpl(labelPieces(plan, 0), zplRenderer), plan);
        const { left, top, right, bottom } = inkBox(await dotsOf(picture ?? Buffer.alloc(0)));
        expect(plan.marks).toEqual([
          expect.objectContaining({ x: left, y: top, width: right - left, height: bottom - top }),
        ]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a raw ZPL template for other media', () => {
  test.each([
    [
      '300 dpi on 203',
      '^PW1200^LL600',
      MEDIA,
      {},
      [/^size-mismatch line 2: \^PW1200 .* 300 dpi, not at 203/],
    ],
    ['203 dpi on 300', '^PW812', { ...MEDIA, dpi: 300 }, {}, [/at 203 dpi, not at 300/]],
    ['said by the template itself', '^PW812^LL406', { ...MEDIA, dpi: 300 }, { dpi: 203 }, []],
    ['wider', '^PW900', MEDIA, {}, [/^size-mismatch line 2: \^PW900 .* 812 dots/]],
    ['longer', '\n^LL500', MEDIA, {}, [/^size-mismatch line 3: \^LL500 .* 406 dots/]],
    ['narrower', '^PW400^LL200', MEDIA, {}, []],
    ['media that nothing is known of', '^PW9000^FO1,1', {}, {}, []],
  ])('%s', (_, setting, media, more, expected) => {
    expect(found(`${setting}^FDx^FS`, media, more)).toEqual(
      expected.map((message) => expect.stringMatching(message)),
    );
  });

  test('is warned of by the template check', async () => {
    const template = raw('^XA^FO900,1^FD{{a}}^FS^XZ', { fields: [{ name: 'a' }] });
    expect(await templateProblems(template)).toEqual([]);
    const warned = [expect.objectContaining({ severity: 'warning', code: 'off-label', pointer: '/source' })];
    expect(await templateProblems(template, { dpi: 203, width: 100, height: 50 })).toEqual(warned);
    expect(await templateProblems({ ...template, dpi: 203, width: 100, height: 50 })).toEqual(warned);
  });

  test('a long template is read once: as many faults as lines', () => {
    const lines = 20_000;
    const faults = rawPlacementFaults(raw(`^XA\n${'^FO900,10^FDx^FS\n'.repeat(lines)}^XZ`), MEDIA);
    expect(faults).toHaveLength(lines);
    const words = [faults[0], faults.at(-1)].map((fault) => fault && reasonText(fault.reason));
    expect(words).toEqual([
      expect.stringMatching(/^line 2: /),
      expect.stringMatching(new RegExp(`^line ${lines + 1}: `)),
    ]);
  });

  test('whatever a template says, the check has an answer', () => {
    const command = fc.tuple(
      fc.constantFrom(
        'FO',
        'FT',
        'GB',
        'GF',
        'XG',
        'FB',
        'LH',
        'MU',
        'PW',
        'LL',
        'A0',
        'BC',
        'FD',
        'FS',
        'PO',
      ),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(command), (commands) => {
        const fields = commands.map(([name, params]) => `^${name}${params.replace(/[\^~]/g, '')}`).join('');
        for (const { reason } of rawPlacementFaults(raw(`^XA${fields}^XZ`), MEDIA)) {
          const message = reasonText(reason);
          expect(message).toMatch(/^line \d+: /);
          expect(message).not.toContain('NaN');
        }
      }),
    );
  });
});
