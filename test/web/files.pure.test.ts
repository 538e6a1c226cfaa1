/** What the page Print reads from people's files, and from numbers of labels as people write them. */
import { expect, test } from 'vitest';
import { readTable, textOf } from '../../src/tables/csv.ts';
import { guessMapping, recordsOf, TableTooLarge } from '../../src/tables/table.ts';
import { labelRanges } from '../../src/words/label-ranges.ts';

test('a value stays the text that it is: zeros, spaces, quotes and line ends', () => {
  const table = readTable('\uFEFFean;name\r\n012345678901;"Käse; ""jung"""\r\n0007; two\r\n\r\n');
  expect(table).toEqual({
    columns: ['ean', 'name'],
    rows: [
      ['012345678901', 'Käse; "jung"'],
      ['0007', ' two'],
    ],
    numbers: [2, 3],
  });
});

test.each([
  ['commas', 'a,b\n1,2', ['1', '2']],
  ['semicolons with commas in them', 'a;b\n1,5;2,5', ['1,5', '2,5']],
  ['tabs', 'a\tb\n1\t2', ['1', '2']],
])('%s part the columns', (_, text, row) => {
  expect(readTable(text)).toEqual({ columns: ['a', 'b'], rows: [row], numbers: [2] });
});

test('bytes that are no UTF-8 are read as Windows writes them', () => {
  expect(textOf(Uint8Array.from([0x4b, 0xe4, 0x73, 0x65, 0x80]))).toBe('Käse€');
  expect(textOf(new TextEncoder().encode('Käse€'))).toBe('Käse€');
});

test.each([
  ['a heading of a million columns', `${'a,'.repeat(1_000_000)}\n1`, 'columns'],
  ['a row of a million values', `a\n${'1,'.repeat(1_000_000)}`, 'columns'],
  ['a row too many', `a\n${'1\n'.repeat(100_000)}`, 'rows'],
  ['nothing but line ends', '\r\n'.repeat(1_000_000), 'rows'],
])('%s is too much', (_, text, what) => {
  expect(() => readTable(text)).toThrow(new TableTooLarge(what));
});

test.each([
  ['one line without an end', `v\n${'a'.repeat(3_000_000)}`],
  ['a quote that is never closed', `v\n"${'a,\n'.repeat(1_000_000)}`],
  ['quotes within quotes', `v\n"${'a"b'.repeat(1_000_000)}`],
  ['quotes without values', `v\n"${'""'.repeat(1_500_000)}`],
])('%s is one value, and no work without an end', (_, text) => {
  const { rows } = readTable(text);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.[0]?.length).toBeGreaterThan(1_000_000);
});

test('a file without rows is refused', () => {
  expect(() => readTable('')).toThrow('no heading');
  expect(() => readTable('only,a,heading')).toThrow('no row');
});

test('columns of one name can be told apart, and one without a name has its number', () => {
  expect(readTable('a,a,\n1,2,3').columns).toEqual(['a', 'a (2)', '3']);
});

test('a row has its number in the file, also after empty rows', () => {
  expect(readTable('\nean\n\n1\n"2\n3"\n \n4\n')).toMatchObject({
    rows: [['1'], ['2\n3'], ['4']],
    numbers: [4, 5, 7],
  });
});

test('columns fill the fields that are called so; what has none, or an empty cell, is left empty', () => {
  const table = readTable('Product Name,EAN,price\nTea,4006381333931,2\nMilk,,3');
  const mapping = guessMapping(['product_name', 'ean', 'unit'], table.columns);
  expect(mapping).toEqual({ product_name: 'Product Name', ean: 'EAN' });
  const field = (name: string, usual?: string) => ({ name, sample: undefined, default: usual });
  expect(recordsOf([field('product_name'), field('ean', '40170725'), field('unit')], table, mapping)).toEqual(
    [
      { product_name: 'Tea', ean: '4006381333931', unit: '' },
      // An empty cell is an empty field, which prints its default, as in the form.
      { product_name: 'Milk', unit: '' },
    ],
  );
});

test.each([
  ['', []],
  ['3', [{ from: 2, to: 3 }]],
  [
    '3, 7-9',
    [
      { from: 2, to: 3 },
      { from: 6, to: 9 },
    ],
  ],
  [
    '1 – 2; 9',
    [
      { from: 0, to: 2 },
      { from: 8, to: 9 },
    ],
  ],
])('labels "%s"', (text, ranges) => {
  expect(labelRanges(text, 9)).toEqual(ranges);
});

test.each(['0', '10', '5-4', '3-', 'all', '1.5', '-2', '3 7'])('"%s" names no labels of nine', (text) => {
  expect(labelRanges(text, 9)).toBeUndefined();
});
