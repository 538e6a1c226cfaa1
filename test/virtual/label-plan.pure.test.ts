import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zplRenderer } from '../../src/render/output/zpl-renderer.ts';
import { type LabelPlan, planLabel } from '../../src/zpl/interpreter/label-plan.ts';
import { labelPieces, labelZpl } from '../../src/zpl/interpreter/label-zpl.ts';
import { PrinterMemory } from '../../src/zpl/interpreter/printer-memory.ts';
import { defaultSyntax, ZplStream } from '../../src/zpl/stream.ts';

const MEDIA = { width: 400, height: 200, dpi: 203 };

function plans(text: string, memory = new PrinterMemory(1 << 20)): (LabelPlan | undefined)[] {
  const found: (LabelPlan | undefined)[] = [];
  new ZplStream(defaultSyntax(), 1 << 20, (event) => {
    if (event.kind === 'format') found.push(planLabel(event.format, memory, MEDIA));
  }).push(Buffer.from(text));
  return found;
}

describe('what a format prints', () => {
  it.each([
    ['an empty format', '^XA^XZ'],
    ['set-up only', '^XA~TA000~JSN^LT0^MNW^MTD^PON^LH0,0^JMA^PR5,5~SD10^JUS^LRN^CI0^XZ'],
    ['a stored format', '^XA^DFR:A.ZPL^FS^FO1,1^FDx^FS^XZ'],
    ['fields without data', '^XA^FO1,1^FS^XZ'],
  ])('nothing: %s', (_, text) => {
    expect(plans(text)).toEqual([undefined]);
  });

  it.each([
    ['^PQ7,2,3', { quantity: 7, pauseEvery: 2, replicates: 3 }],
    ['^PQ7,2,3,Y', { quantity: 7, pauseEvery: 0, replicates: 3 }],
    ['^PQ0', { quantity: 1 }],
    ['^PQ', { quantity: 1, pauseEvery: 0, replicates: 1 }],
    ['^PQ999999999999', { quantity: 99_999_999 }],
    ['^PW9999^LL9999', { width: 400, length: 200 }],
    ['^PP', { pauseAfter: true }],
  ])('%s', (setting, expected) => {
    expect(plans(`^XA${setting}^FO1,1^FDx^FS^XZ`)[0]).toMatchObject(expected);
  });

  it('fills a stored format in, with its copies, and escapes what is not ASCII', async () => {
    const [, plan] = plans('^XA^DFR:A^FS^FO1,1^FN1^FS^FO2,2^FN2^FDkept^FS^PQ4^XZ^XA^XFR:A^FS^FN1^FDé^FS^XZ');
    expect(plan?.quantity).toBe(4);
    expect(plan && (await labelZpl(labelPieces(plan, 0), zplRenderer))).toBe(
      '^XA^LH0,0^FS^FO1,1^FH_^FD_C3_A9^FS^FO2,2^FDkept^FS^FS^XZ',
    );
  });

  it.each([
    ['^LH30,30^BY5^XFR:A^FS', '^LH30,30^BY5^FS^FO1,1^FDold^FS^FS'],
    ['^XFR:A^FN1^FDnew^FS^LH30,30^FO2,2^FDx^FS', '^FS^FO1,1^FDnew^FS^LH30,30^FO2,2^FDx^FS'],
    ['^LH9,9^XFR:A^FO3,3^BCN^LH30,30^FN1^FDnew^FS^FDx^FS', '^LH9,9^FS^FO1,1^FDnew^FS^LH30,30^FDx^FS'],
    ['^XFR:A^FS^CI28^FN1^FDnew^FS', '^CI28^FS^FO1,1^FDnew^FS^FS'],
  ])('keeps the order of settings and what is recalled: %s', async (recalling, expected) => {
    const [, plan] = plans(`^XA^DFR:A^FS^FO1,1^FN1^FDold^FS^XZ^XA${recalling}^XZ`);
    expect(plan && (await labelZpl(labelPieces(plan, 0), zplRenderer))).toBe(`^XA^LH0,0${expected}^XZ`);
  });

  it('prints as many as ^PQ says, though it stands in the field of a value', () => {
    const [, plan] = plans('^XA^DFR:A^FS^FO1,1^FN1^FS^XZ^XA^XFR:A^PQ3^FN1^FDx^FS^XZ');
    expect(plan?.quantity).toBe(3);
  });

  it('takes the height of every linear barcode in the unit in force', async () => {
    const label = (bars: string) => {
      const [plan] = plans(`^XA^MUM^FO1,1${bars}^FD1^FS^XZ`);
      return plan === undefined ? [] : labelPieces(plan, 0);
    };
    expect(await labelZpl(label('^BCN,10,N'), zplRenderer)).toContain('^FO8,8^BCN,80,N^FD1');
    expect(label('^B8N,10')).toContainEqual(expect.objectContaining({ name: 'B8', params: 'N,80' }));
    expect(label('^BKN,N,10')).toContainEqual(expect.objectContaining({ name: 'BK', params: 'N,N,80' }));
  });

  it('leaves a barcode without data out, as a printer does', async () => {
    const [plan] = plans('^XA^FO1,1^BCN,80^FN1^FS^FO2,2^BQN,2,5^FD^FS^FO3,3^BUN^FD^FS^FO4,4^B3N^SN7^FS^XZ');
    expect(plan?.faults).toEqual([]);
    expect(plan && (await labelZpl(labelPieces(plan, 0), zplRenderer))).toBe(
      '^XA^LH0,0^FO1,1^FS^FO2,2^FS^FO3,3^FS^FO4,4^B3N^FD7^FS^XZ',
    );
  });

  it('does not let stored objects outgrow the memory', () => {
    const memory = new PrinterMemory(10_000);
    for (let index = 0; index < 50; index++)
      plans(`^XA^DFR:F${index}^FS^FD${'x'.repeat(1000)}^FS^XZ`, memory);
    expect(memory.object('R:F0.ZPL')).toBeDefined();
    expect(memory.object('R:F49.ZPL')).toBeUndefined();
  });

  it('is never undone by what is sent: whatever comes is planned or ignored', async () => {
    const commands = [
      'FO',
      'GF',
      'XG',
      'IL',
      'IM',
      'SN',
      'FN',
      'FH',
      'FD',
      'DF',
      'XF',
      'ID',
      'MU',
      'LL',
      'LH',
      'PQ',
    ];
    const command = fc.tuple(fc.constantFrom(...commands), fc.string({ unit: 'binary', maxLength: 20 }));
    const format = fc.array(command, { maxLength: 20 }).map((list) => {
      const body = list.map(([name, params]) => `^${name}${params.replace(/[\^~]/g, '')}`).join('');
      return `^XA${body}^FO1,1^FDend^FS^XZ`;
    });
    await fc.assert(
      fc.asyncProperty(fc.array(format, { maxLength: 4 }), async (formats) => {
        for (const plan of plans(formats.join(''))) {
          if (!plan) continue;
          expect(plan.quantity).toBeGreaterThanOrEqual(1);
          // One format in is one label out, whatever its data.
          expect((await labelZpl(labelPieces(plan, 3), zplRenderer)).match(/\^X[AZ]/g)).toEqual([
            '^XA',
            '^XZ',
          ]);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
