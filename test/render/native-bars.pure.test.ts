/** `"render"` of a barcode: the printer's own command, or a graphic, as the template says. */
import { describe, expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { SYMBOLOGIES } from '../../src/contract/template.ts';
import { createRecordCheck } from '../../src/render/check.ts';
import { symbologyRules } from '../../src/render/symbol/symbol.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { design, drawZpl, jobFor, labelText, readSymbols } from '../kit/judges/judges.ts';
import { CASES } from './symbology-cases.ts';

const place = { type: 'barcode', x: 3, y: 3, height: 10, moduleDots: 2 };

function label(element: object) {
  return design(100, 40, [{ ...place, ...element }], [{ name: 'v' }]);
}

async function zplOf(element: object, v: string) {
  return labelText(await openZpl(jobFor(label(element), [{ v }])));
}

/** What the check of a record says; undefined: nothing. */
async function refusal(element: object, v: string, dpi = 203): Promise<string | undefined> {
  try {
    const check = await createRecordCheck(label(element), { dpi, orientation: 'portrait' });
    check({ v }, 0);
  } catch (error) {
    if (error instanceof JobFaultError) return `${error.fault.code} ${error.message}`;
    throw error;
  }
  return undefined;
}

describe('native', () => {
  test.each([
    ['code128', '1234Ab-1', '^BC', 'Code128'],
    ['gs1-128', '(01)04012345678901', '^BC', 'Code128'],
    ['code39', 'AB-12', '^B3', 'Code39'],
    ['itf', '00123456', '^B2', 'ITF'],
    ['itf14', '04012345678901', '^B2', 'ITF'],
    ['leitcode', '21348075016401', '^B2', 'ITF'],
    ['identcode', '563102430313', '^B2', 'ITF'],
    ['ean13', '4006381333931', '^BE', 'EAN13'],
    ['upca', '012345678905', '^BE', 'EAN13'],
  ])('%s is the printer’s command, and read', async (symbology, v, command, format) => {
    const hri = command === '^BE' ? { hri: 'below' } : {};
    const element = { symbology, value: '{{v}}', render: 'native', ...hri };
    const text = await zplOf(element, v);
    expect(text).toContain(command);
    expect(text).not.toContain('^GF');
    const [found] = await readSymbols(await drawZpl(text, 799, 320));
    expect(found?.format).toBe(format);
    // What the template does not leave to the printer is drawn.
    const drawn = await zplOf({ ...element, render: 'graphic' }, v);
    expect(drawn).toContain('^GF');
    expect(drawn).not.toMatch(/\^B[0-9A-X]/);
    const [same] = await readSymbols(await drawZpl(drawn, 799, 320));
    expect(same?.text).toBe(found?.text);
  });

  test('Code 128 in one set throughout', async () => {
    const text = await zplOf(
      { symbology: 'code128', value: '{{v}}', codeSet: 'B', render: 'native' },
      'A-123456',
    );
    const [found] = await readSymbols(await drawZpl(text, 799, 320));
    expect([found?.text, text.includes('^BC')]).toEqual(['A-123456', true]);
  });

  const drawn = SYMBOLOGIES.filter((symbology) => symbologyRules(symbology).command === undefined);
  test.each(drawn)('%s has no command: refused by name, for every record', async (symbology) => {
    const one = CASES.find((each) => each.symbology === symbology);
    const element = {
      type: 'barcode',
      x: 3,
      y: 3,
      symbology,
      value: '{{v}}',
      ...one?.element,
      render: 'native',
    };
    const template = design(120, 80, [element], [{ name: 'v' }]);
    await expect(createRecordCheck(template, { dpi: 203, orientation: 'portrait' })).rejects.toThrow(
      `Template "Test label", element /elements/0 (barcode ${symbology}): "render": "native" is not possible`,
    );
  });

  test.each([
    ['control characters', { symbology: 'code128' }, 'A\tB', /^value-invalid .*record 1.*set A/],
    ['a change of code set', { symbology: 'code128' }, 'AB123456', /^value-invalid .*set C/],
    ['a character that is a command', { symbology: 'code128' }, 'a^b', /^value-invalid .*reads as something/],
    ['a character that invokes', { symbology: 'code128' }, 'a>b', /^value-invalid .*reads as something/],
    ['Latin-1', { symbology: 'code128' }, 'é', /^value-invalid .*drawn for every printer/],
    ['an add-on', { symbology: 'ean13', hri: 'below' }, '4006381333931+12', /^value-invalid .*add-on/],
    ['no digits below', { symbology: 'ean13' }, '4006381333931', /^template-invalid .*"hri"/],
    [
      'large modules',
      { symbology: 'code39', moduleDots: 11 },
      'A',
      /^template-invalid .*at most 10 dots, here 11/,
    ],
    [
      'a ratio in between',
      { symbology: 'code39', moduleDots: 3, ratio: 2.3 },
      'A',
      /^template-invalid .*ratio/,
    ],
  ])('%s cannot be a command: refused, and drawn when left to choose', async (_, element, v, reason) => {
    const whole = { value: '{{v}}', ...element };
    expect(await refusal({ ...whole, render: 'native' }, v)).toMatch(reason);
    expect(await refusal({ ...whole, render: 'native' }, v)).not.toContain(v.length > 1 ? v : '\0');
    expect(await refusal(whole, v)).toBeUndefined();
    expect(await zplOf(whole, v)).toContain('^GF');
  });

  test('is told by the template check', async () => {
    const qr = { type: 'barcode', symbology: 'qr', value: 'A', x: 2, y: 2, render: 'native' };
    expect(await templateProblems(design(40, 40, [qr]))).toMatchObject([
      { severity: 'error', code: 'template-invalid', pointer: '/elements/0' },
    ]);
  });
});
