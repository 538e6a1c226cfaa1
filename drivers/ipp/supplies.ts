/**
 * How much a printer has left of what it uses up, if it says so.
 * Source: PWG 5100.13 ("printer-supply": the members of the Printer MIB's prtMarkerSuppliesTable as `name=value;`), RFC 3805 (a
 * level below 0 is not known; of a container that is being filled, the level is the room left), CUPS ("marker-levels", in
 * percent).
 */
import { MOST_SUPPLIES, type PrinterSupply } from '../../src/contract/printer.ts';
import { type IppAttribute, numbersOf, stringsOf, valuesOf } from './message.ts';

/** These attributes must be asked for by name. */
export const SUPPLY_ATTRIBUTES = [
  'printer-supply',
  'printer-supply-description',
  'marker-names',
  'marker-levels',
];

/** Most characters of a supply's name. */
const NAME = 100;

/** If a printer tells both, `printer-supply` counts, because it also has levels that are not percentages. */
export function suppliesOf(said: readonly IppAttribute[]): PrinterSupply[] {
  const names = stringsOf(said, 'printer-supply-description');
  const supplies = valuesOf(said, 'printer-supply').map((value, index) => {
    const members = value.tag === 'octetString' ? membersOf(value.value) : new Map<string, string>();
    const most = Number(members.get('maxcapacity'));
    const level = Number(members.get('level'));
    const name = names[index] ?? [members.get('colorantname'), members.get('type')].join(' ');
    return { name, left: most > 0 ? Math.round((level * 100) / most) : Number.NaN };
  });
  const levels = numbersOf(said, 'marker-levels');
  const markers = stringsOf(said, 'marker-names').map((name, index) => ({
    name,
    left: levels[index] ?? Number.NaN,
  }));
  return (supplies.length > 0 ? supplies : markers)
    .map(({ name, left }) => ({ name: name.trim().slice(0, NAME).toWellFormed(), left }))
    .filter(({ name, left }) => name !== '' && left >= 0 && left <= 100)
    .slice(0, MOST_SUPPLIES);
}

function membersOf(bytes: Uint8Array): Map<string, string> {
  const pairs = Buffer.from(bytes).toString('utf8').split(';');
  return new Map(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=', 2);
      return [name.trim(), value.trim()];
    }),
  );
}
