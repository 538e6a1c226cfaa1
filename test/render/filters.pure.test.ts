import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { designedTemplate } from '../../src/contract/template.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { templateFields } from '../../src/render/template-fields.ts';
import { templateScope } from '../../src/values/built-ins.ts';
import { ValueFault } from '../../src/values/filters.ts';
import { compileText } from '../../src/values/merge.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import { design } from '../kit/judges/judges.ts';

const scope = templateScope(
  { ...design(10, 10, [], [{ name: 'd', default: 'dee' }]), timeZone: 'Asia/Tokyo' },
  { createdAt: '2026-11-21T20:15:00.000Z', copies: 3, records: { length: 12 } },
);

function filled(filters: string, v: string | number | boolean | null = ''): string {
  return compileText(`{{v | ${filters}}}`, scope).fill({ v });
}

describe('filters', () => {
  test.each([
    ['upper', 'straße', 'STRASSE'],
    ['upper:tr', 'izmir', 'İZMİR'],
    ['lower', 'ÀÉ', 'àé'],
    ['trim', '  a b ', 'a b'],
    ['padleft:6:0', 42, '000042'],
    ['padleft:6:0', '1234567', '1234567'],
    ['padleft:6:0', '', ''],
    ['padright:4:.', 'ab', 'ab..'],
    ['slice:1:3', 'a😀bc', '😀b'],
    ['slice:-2', 'abc', 'bc'],
    ["replace:'-':''", '12-34-56', '123456'],
    ["replace:'a':'$&'", 'a', '$&'],
    ["default:'n/a'", null, 'n/a'],
    ["default:'n/a'", 0, '0'],
    ['equals:A:B', 'B', 'true'],
    ['equals:A:B', 'C', ''],
    ['not', 'false', 'true'],
    ['not', 'yes', ''],
    ['number:2', 2.675, '2.68'],
    ['number:2', -0.001, '0.00'],
    ["number:2:',':'.'", '1234567.5', '1.234.567,50'],
    ["number:0:'.':' '", '999999.5', '1 000 000'],
    ["number:3:'' | padleft:6:0", 4.2, '004200'],
    ['plus:1000', 7, '1007'],
    ['plus:-0.1', '0.3', '0.2'],
    ['times:1.19 | number:2', '9.99', '11.89'],
    ['checkdigit:gs1', '400638133393', '4006381333931'],
    ['checkdigit:gs1', '34012345000000001', '340123450000000017'],
    // ISO/IEC 7812-1's and python-stdnum's own examples.
    ['checkdigit:luhn', '7992739871', '79927398713'],
    ['checkdigit:mod37-2', 'G123489654321', 'G123489654321Y'],
    ['checkdigit:mod43', 'CODE39', 'CODE39W'],
    ['date', '2026-11-21', '2026-11-21'],
    ['date:dd.MM.yyyy', '2026-03-01', '01.03.2026'],
    ["date:'d/M/yy'", '2026-03-01', '1/3/26'],
    ['date:yyMMdd', '2026-03-01 10:00', '260301'],
    ["date:'yyDDD'", '2024-12-31', '24366'],
    ["date:'GG[W]ww-e'", '2027-01-01', '26W53-5'],
    ["date:'HH:mm'", '2026-11-21T07:45:00', '07:45'],
    ["date:'HH:mm'", '2026-11-21T07:45:00Z', '16:45'],
    ["date:'dd.MM. HH:mm':'Europe/Berlin'", '2026-07-01T23:30:00Z', '02.07. 01:30'],
    ["date:'HH:mm':'UTC'", '2026-11-21T07:45:00+05:30', '02:15'],
    ["date:'h:mm a'", '2026-11-21T00:05', '12:05 AM'],
    ["date:'dd MMM yyyy' | upper", '1984-03-12', '12 MAR 1984'],
    ["date:'d MMMM yyyy':UTC:fr", '2026-08-05', '5 août 2026'],
    ["date:'d MMMM':UTC:ru", '2026-08-05', '5 августа'],
    ["date:'yyyy MMMM':UTC:ja", '2026-08-05', '2026 8月'],
    ["date:'d MMM':UTC:cs", '2026-08-05', '5 srp'],
    ["date:MMM:UTC:'th-u-ca-buddhist'", '2026-08-05', 'ส.ค.'],
    ['days:30 | date:yyMMdd', '2026-11-21', '261221'],
    ['months:1', '2026-01-31', '2026-02-28'],
    ['months:-12', '2024-02-29T10:00:00', '2023-02-28T10:00:00'],
    ['days:1', '2026-11-21T20:15:00Z', '2026-11-23T05:15:00'],
    ['date:yyyy', '', ''],
  ])('%s of %j is %j', (filters, value, expected) => {
    expect(filled(filters, value)).toBe(expected);
  });

  test.each([
    ['number:2', '1e3', 'decimal number'],
    ['number:2', '1,5', 'decimal number'],
    // Arithmetic on thousands of digits takes seconds.
    ['times:1.1', '7'.repeat(32_700), 'at most 100 digits'],
    ["number:2:'.':' '", '7'.repeat(101), 'at most 100 digits'],
    ['checkdigit:gs1', 'A1', 'gs1'],
    ['date', '21.11.2026', 'ISO 8601'],
    ['date', '2026-02-30', 'ISO 8601'],
    ["date:'HH:mm'", '2026-11-21', 'without a time'],
    ['days:90000', '9999-12-31', '9999'],
    [Array(4).fill("replace:'a':'aaaaaaaaaaaaaaaaaaaa'").join(' | '), 'a', '32768'],
  ])('%s refuses %j', (filters, value, reason) => {
    expect(() => filled(filters, value)).toThrow(ValueFault);
    expect(() => filled(filters, value)).toThrow(reason);
    expect(() => filled(filters, value)).toThrow('field "v"');
  });

  test.each([
    ['shout', 'no filter "shout"'],
    ['constructor', 'no filter "constructor"'],
    ['upper:1:2', 'takes 0 to 1'],
    ['padleft:x', 'whole number'],
    ['padleft:3:ab', 'one character'],
    ['padleft:100000', 'whole number from 1 to 1000'],
    ['date:YYYY-MM-dd', '"YYYY" is nothing of a date'],
    ["date:yyyy:'Mars/Base'", 'no time zone "Mars/Base"'],
    ['upper:not_a_tag', 'language tag'],
    ['checkdigit:mod10', 'gs1, luhn'],
    ["replace:'':x", 'nothing to replace'],
    ['upper lower', 'expected'],
    ["default:'a", 'takes 1 argument'],
    ['', 'expected'],
    [`default:${'x'.repeat(201)}`, '200 characters'],
    [Array(11).fill('trim').join('|'), 'more than 10 filters'],
  ])('%j is not a filter', (filters, reason) => {
    expect(() => compileText(`{{v | ${filters}}}`, scope, '/elements/4')).toThrowError(
      expect.objectContaining({
        message: expect.stringContaining(reason),
        fault: expect.objectContaining({ code: 'template-invalid', element: '/elements/4' }),
      }),
    );
  });

  test('no value makes a filter throw anything but its own error, hang, or swell', () => {
    const chains = [
      'upper',
      'slice:2:-1',
      'number:2',
      'plus:1',
      'checkdigit:mod43',
      'date',
      'days:3',
      'padleft:9:0',
    ];
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.shuffledSubarray(chains, { minLength: 1 }),
        (v, some) => {
          try {
            expect(filled(some.join(' | '), v).length).toBeLessThanOrEqual(32_768);
          } catch (error) {
            expect(error).toBeInstanceOf(ValueFault);
          }
        },
      ),
      { numRuns: 2000, seed: 3 },
    );
  });

  test('numbers are formatted as arithmetic says', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (cents) => {
        const sign = cents < 0n ? '-' : '';
        const text = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
        const plain = `${sign}${text.slice(0, -2)}.${text.slice(-2)}`;
        expect(filled('number:2', plain)).toBe(plain);
        expect(filled("number:2:',':'.'", plain).replaceAll('.', '').replace(',', '.')).toBe(plain);
      }),
      { seed: 3 },
    );
  });
});

test('what docs/templates.md shows is so', async () => {
  const page = await readFile(new URL('../../docs/templates.md', import.meta.url), 'utf8');
  const examples = Array.from(page.matchAll(/`(\{\{[^`]*\}\})`/g), (match) =>
    (match[1] ?? '').replaceAll('\\|', '|'),
  );
  expect(examples.length).toBeGreaterThan(20);
  for (const example of examples.filter((one) => one !== '{{name | filter:argument:argument | filter}}')) {
    expect(() => compileText(example, scope)).not.toThrow();
  }
  const template = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(await templateProblems(designedTemplate.parse(JSON.parse(template)))).toEqual([]);
});

describe('built-ins', () => {
  test('come from the job, in the zone of the template', () => {
    const text = compileText(
      "{{$today}} {{$now | date:'HH:mm'}} {{$now | days:1 | date:dd}} {{$records}}",
      scope,
    );
    expect(text.fields).toEqual([]);
    expect(text.fill({ $now: 'hostile' })).toBe('2026-11-22 05:15 23 12');
  });

  test('without a job there is no time', () => {
    expect(() => compileText('{{$now}}', new Map())).toThrow('$now needs the job');
  });

  test('are no fields', () => {
    const source = design(10, 10, [
      {
        type: 'text',
        x: 0,
        y: 0,
        size: 1,
        text: '{{$record | padleft:4:0}} {{a | upper}}',
        when: '{{b}}{{$now}}',
      },
      { type: 'image', x: 0, y: 0, width: 1, height: 1, image: '{{c}}' },
    ]);
    expect(templateFields(source)).toEqual(['a', 'b', 'c']);
  });

  test('raw ZPL has filters and built-ins too', () => {
    const raw = compileRawZpl(
      {
        name: 'raw',
        language: 'zpl',
        source: '^XA^FO1,1^A0N,20^FD{{a | upper}} {{$record}}/{{$records}} {{$today}}^FS^XZ',
        fields: [],
      },
      { createdAt: '2026-11-21T20:15:00.000Z', copies: 1, records: { length: 3 } },
    );
    expect(raw.fields).toEqual(['a']);
    expect(raw.fill({ a: 'x^y', $record: 9 }, 1, 1)).toContain('^FDX_5EY 2/3 2026-11-21^FS');
    expect(() => raw.fill({ a: 'x' }, 1, 0)).not.toThrow();
  });
});
