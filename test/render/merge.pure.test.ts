import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { templateFields } from '../../src/render/template-fields.ts';
import { fieldDefaults } from '../../src/values/built-ins.ts';
import { compileText } from '../../src/values/merge.ts';
import { design } from '../kit/judges/judges.ts';

describe('merging', () => {
  test.each([
    ['a string', '[{{v}}]', { v: 'x' }, '[x]'],
    ['blanks in the braces', '[{{ v }}]', { v: 'x' }, '[x]'],
    ['a number', '{{v}}', { v: 12.5 }, '12.5'],
    ['a number that JavaScript writes with an exponent', '{{v}}', { v: 1e21 }, '1000000000000000000000'],
    ['a small number', '{{v}}', { v: -1.5e-7 }, '-0.00000015'],
    ['a small number with a filter', '{{v | number:8}}', { v: 0.0000001 }, '0.00000010'],
    ['a boolean', '{{v}}', { v: false }, 'false'],
    ['null', '[{{v}}]', { v: null }, '[]'],
    ['nothing', '[{{v}}]', {}, '[]'],
    ['a default', '[{{d}}]', {}, '[dee]'],
    ['null with a default', '[{{d}}]', { d: null }, '[dee]'],
    ['an empty string, which is a value', '[{{d}}]', { d: '' }, '[]'],
    ['a value like a placeholder', '{{v}}{{w}}', { v: '{{w}}', w: '1' }, '{{w}}1'],
    ['a value like a replacement pattern', '{{v}}', { v: '$&$1$`' }, '$&$1$`'],
    ['single braces', '{v} v}}', { v: 'x' }, '{v} v}}'],
    ['a name with blanks, dots and letters', '{{Größe 1.a}}', { 'Größe 1.a': 'L' }, 'L'],
    ['what objects inherit', '[{{constructor}}{{__proto__}}]', {}, '[]'],
  ])('%s', (_, text, record, expected) => {
    const defaults = fieldDefaults([{ name: 'd', default: 'dee' }]);
    expect(compileText(text, defaults).fill(record)).toBe(expected);
  });

  test('a number is printed in digits, and is the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (v) => {
        const text = compileText('{{v}}', new Map()).fill({ v });
        expect(text).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
        expect(Number(text)).toBe(v === 0 ? 0 : v);
      }),
    );
  });

  test.each(['{{}}', '{{ a\nb }}'])('%j is not a placeholder', (text) => {
    expect(() => compileText(text, new Map())).toThrowError(
      expect.objectContaining({ fault: expect.objectContaining({ code: 'template-invalid' }) }),
    );
  });

  test('fields are those declared and those used', () => {
    const source = design(
      10,
      10,
      [
        { type: 'text', x: 0, y: 0, size: 1, text: '{{b}} {{a}} {{b}}' },
        { type: 'barcode', symbology: 'qr', x: 0, y: 0, value: '{{c}}' },
        { type: 'box', x: 0, y: 0, width: 1, height: 1 },
      ],
      [{ name: 'z' }, { name: 'a' }],
    );
    expect(templateFields(source)).toEqual(['z', 'a', 'b', 'c']);
  });
});
