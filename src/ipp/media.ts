/** What an IPP printer prints on: PWG media names (PWG 5101.1) and `media-col` (PWG 5100.7). */
import {
  type IppAttribute,
  type IppValue,
  numbersOf,
  stringsOf,
  valuesOf,
} from '../../drivers/ipp/message.ts';
import { collection, integer, keyword } from './values.ts';

/** A size of labels, mm. */
export interface LabelSize {
  readonly width: number;
  readonly height: number;
}

export interface Roll extends LabelSize {
  /** `custom_50x25mm_50x25mm`. */
  readonly name: string;
  readonly source: string;
}

const SOURCES = [
  'main-roll',
  'alternate-roll',
  ...Array.from({ length: 8 }, (_, index) => `roll-${index + 3}`),
];
/** By how much, 1/100 mm, a size may differ from its roll's: sizes come in points and inches, too. */
const TOLERANCE = 50;

/** Sizes that have names of their own (PWG 5101.1 §7), by width and height in mm. */
const STANDARD: ReadonlyMap<string, string> = new Map([
  ['101.6x152.4', 'na_index-4x6_4x6in'],
  ['210x297', 'iso_a4_210x297mm'],
  ['215.9x279.4', 'na_letter_8.5x11in'],
]);

/** The first is the one that prints when a job names none. At most ten. */
export function rollsOf(sizes: readonly LabelSize[]): Roll[] {
  return sizes.slice(0, SOURCES.length).map((size, index) => ({
    ...size,
    name: mediaName(size),
    source: SOURCES[index] ?? 'main-roll',
  }));
}

function mediaName({ width, height }: LabelSize): string {
  const standard = STANDARD.get(`${width}x${height}`);
  if (standard !== undefined) return standard;
  const size = `${hundredths(width) / 100}x${hundredths(height) / 100}mm`;
  return `custom_${size}_${size}`;
}

function hundredths(mm: number): number {
  return Math.round(mm * 100);
}

/**
 * 1/100 mm. Labels have no margins, but CUPS takes media without any for a second, borderless kind of each size, and its own default
 * size for one that the printer does not have: pages then come on letter paper.
 */
export const MARGIN = 1;

/** The members of a `media-size`. */
export function sizeMembers(roll: LabelSize): IppAttribute[] {
  return [integer('x-dimension', hundredths(roll.width)), integer('y-dimension', hundredths(roll.height))];
}

export const MEDIA_COL_MEMBERS = [
  'media-size',
  'media-size-name',
  'media-top-margin',
  'media-right-margin',
  'media-bottom-margin',
  'media-left-margin',
  'media-source',
  'media-type',
  'media-tracking',
];

export function mediaCol(roll: Roll): IppAttribute[] {
  return [
    collection('media-size', sizeMembers(roll)),
    keyword('media-size-name', roll.name),
    ...['top', 'right', 'bottom', 'left'].map((side) => integer(`media-${side}-margin`, MARGIN)),
    keyword('media-source', roll.source),
    keyword('media-type', 'labels'),
    keyword('media-tracking', 'gap'),
  ];
}

/** The roll that a `media` value means, if it is in the printer. */
export function rollByName(rolls: readonly Roll[], value: IppValue | undefined): Roll | undefined {
  if (value?.tag !== 'keyword' && value?.tag !== 'name') return undefined;
  return rolls.find((roll) => roll.name === value.value);
}

/** The roll that a `media-col` value means, if it is in the printer: by size, else by its name or source. */
export function rollByCollection(rolls: readonly Roll[], value: IppValue | undefined): Roll | undefined {
  if (value?.tag !== 'collection') return undefined;
  const [size] = valuesOf(value.value, 'media-size');
  if (size?.tag === 'collection') {
    const [width] = numbersOf(size.value, 'x-dimension');
    const [height] = numbersOf(size.value, 'y-dimension');
    return rolls.find((roll) => near(roll.width, width) && near(roll.height, height));
  }
  const [name] = stringsOf(value.value, 'media-size-name');
  const [source] = stringsOf(value.value, 'media-source');
  if (name === undefined && source === undefined) return rolls[0];
  return rolls.find((roll) => roll.name === name || roll.source === source);
}

function near(mm: number, asked: number | undefined): boolean {
  return asked !== undefined && Math.abs(hundredths(mm) - asked) <= TOLERANCE;
}
