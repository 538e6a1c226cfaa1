/** What printers say of their supplies, as several makers say it. */
import { expect, test } from 'vitest';
import type { IppAttribute, IppValue } from '../../drivers/ipp/message.ts';
import { suppliesOf } from '../../drivers/ipp/supplies.ts';
import { MOST_SUPPLIES } from '../../src/contract/printer.ts';

const names = (name: string, ...values: string[]): IppAttribute => ({
  name,
  values: values.map((value) => ({ tag: 'text', value })),
});
const levels = (...values: number[]): IppAttribute => ({
  name: 'marker-levels',
  values: values.map((value) => ({ tag: 'integer', value })),
});
const supply = (...values: string[]): IppAttribute => ({
  name: 'printer-supply',
  values: values.map((text): IppValue => ({ tag: 'octetString', value: Buffer.from(text) })),
});

test('percent, or a level of what a supply holds', () => {
  const said = [
    names('printer-supply-description', 'Black Toner', 'Ribbon', 'Waste'),
    supply(
      'index=1;class=supplyThatIsConsumed;type=toner;unit=percent;maxcapacity=100;level=75;colorantname=black;',
      'index=2; type=ribbonWax; unit=feet; maxcapacity=1476; level=369',
      'index=3;class=receptacleThatIsFilled;type=wasteToner;maxcapacity=100;level=25;',
    ),
    names('marker-names', 'the same again'),
    levels(75),
  ];
  expect(suppliesOf(said)).toEqual([
    { name: 'Black Toner', left: 75 },
    { name: 'Ribbon', left: 25 },
    { name: 'Waste', left: 25 },
  ]);
});

test('the names that CUPS gives, where the printer tells no more', () => {
  const said = [names('marker-names', 'Cyan', 'Magenta', 'Yellow'), levels(12, 0, 100)];
  expect(suppliesOf(said)).toEqual([
    { name: 'Cyan', left: 12 },
    { name: 'Magenta', left: 0 },
    { name: 'Yellow', left: 100 },
  ]);
});

test('a supply without a name is named by its colour and kind', () => {
  expect(suppliesOf([supply('type=toner;maxcapacity=100;level=5;colorantname=black')])).toEqual([
    { name: 'black toner', left: 5 },
  ]);
});

test('a level that is not known is not told', () => {
  const unknown = [-1, -2, -3, 101].map((level) => `type=toner;maxcapacity=100;level=${level}`);
  const odd = [
    '',
    ';;;',
    'level=5',
    'level=5;maxcapacity=0',
    'level=5;maxcapacity=-2',
    'level=x;maxcapacity=1',
  ];
  expect(suppliesOf([supply(...unknown, ...odd)])).toEqual([]);
  expect(suppliesOf([names('marker-names', 'A', 'B', 'C'), levels(-1, -3)])).toEqual([]);
  expect(suppliesOf([])).toEqual([]);
});

test('a printer that names many supplies, or none', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `supply ${index}`.padEnd(1_000, '.'));
  const told = suppliesOf([names('marker-names', ...many), levels(...many.map(() => 50))]);
  expect(told.length).toBe(MOST_SUPPLIES);
  expect(Math.max(...told.map(({ name }) => name.length))).toBe(100);
  expect(suppliesOf([names('marker-names', ' ', ''), levels(1, 2)])).toEqual([]);
});
