/**
 * Checks what a job asks for against what the printer can do: each job template attribute (RFC 8011 §5.2,
 * PWG 5100.7, 5100.13) with its values, in one table.
 */
import { type IppAttribute, type IppValue, valuesOf } from '../../drivers/ipp/message.ts';
import {
  MARGIN,
  MEDIA_COL_MEMBERS,
  mediaCol,
  type Roll,
  rollByCollection,
  rollByName,
  sizeMembers,
} from './media.ts';
import { boolean, collection, dpi, enumeration, integer, keyword, type Make, range } from './values.ts';

const MAX_COPIES = 999;
const MAX_PAGE = 9_999;
/** Ranges of pages in one job. */
const MAX_RANGES = 10;

/** print-scaling (PWG 5100.13 §5.2.3): `auto-fit` makes only smaller what is too large, `fit` is as large as the media lets it be. */
const SCALINGS = ['none', 'auto-fit', 'fit'] as const;
export type Scaling = (typeof SCALINGS)[number];

export interface JobTicket {
  readonly copies: number;
  readonly roll: Roll;
  /** Clockwise, degrees. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly scaling: Scaling;
  /** `1-3,5-5`; undefined: all. */
  readonly pages: string | undefined;
  readonly hold: boolean;
  /** The requested attributes that the printer supports, as they came. */
  readonly attributes: readonly IppAttribute[];
}

export interface Checked {
  readonly ticket: JobTicket;
  /** What the printer cannot do: the attribute with its values, or with `unsupported` if it is not known. */
  readonly unsupported: IppAttribute[];
}

/** orientation-requested turns anticlockwise: portrait, landscape, reverse-landscape, reverse-portrait. */
const ROTATIONS: ReadonlyMap<number, JobTicket['rotation']> = new Map([
  [3, 0],
  [4, 270],
  [5, 90],
  [6, 180],
]);
const PRINT_QUALITY_NORMAL = 4;
const FINISHINGS_NONE = 3;

export interface Abilities {
  /** At least one. */
  readonly rolls: readonly Roll[];
  readonly dpi: number;
  /** How it makes pages fit, its default first. */
  readonly scalings: readonly Scaling[];
  /** A job can be held back. */
  readonly holds: boolean;
  /** A job can be of some pages alone. */
  readonly pages: boolean;
}

type Test = (value: IppValue, abilities: Abilities) => boolean;

/** Supported keywords, the default first. */
const KEYWORDS: Readonly<Record<string, (abilities: Abilities) => readonly string[]>> = {
  'job-hold-until': ({ holds }) => (holds ? ['no-hold', 'indefinite'] : ['no-hold']),
  'multiple-document-handling': () => ['separate-documents-collated-copies'],
  'output-bin': () => ['face-up'],
  'print-color-mode': () => ['monochrome', 'auto', 'bi-level'],
  'print-scaling': ({ scalings }) => scalings,
  sides: () => ['one-sided'],
};
/** Supported enumerations, the default first. */
const ENUMS = {
  finishings: [FINISHINGS_NONE],
  'orientation-requested': [...ROTATIONS.keys()],
  'print-quality': [PRINT_QUALITY_NORMAL],
};

const SUPPORTED: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['copies', (value) => value.tag === 'integer' && value.value >= 1 && value.value <= MAX_COPIES],
  ['media', (value, { rolls }) => rollByName(rolls, value) !== undefined],
  ['media-col', (value, { rolls }) => rollByCollection(rolls, value) !== undefined],
  [
    'page-ranges',
    (value, { pages }) => pages && value.tag === 'rangeOfInteger' && value.min >= 1 && value.max <= MAX_PAGE,
  ],
  ['number-up', (value) => value.tag === 'integer' && value.value === 1],
  [
    'printer-resolution',
    (value, { dpi }) =>
      value.tag === 'resolution' && value.unit === 'dpi' && value.x === dpi && value.y === dpi,
  ],
  ...Object.entries(KEYWORDS).map(([name, known]): [string, Test] => [
    name,
    (value, abilities) =>
      (value.tag === 'keyword' || value.tag === 'name') && known(abilities).includes(value.value),
  ]),
  ...Object.entries(ENUMS).map(([name, known]): [string, Test] => [
    name,
    (value) => value.tag === 'enum' && known.includes(value.value),
  ]),
]);

const SETS: Readonly<Record<string, number>> = { finishings: Infinity, 'page-ranges': MAX_RANGES };

/** The names of the attributes that a job can have. */
export function jobAttributes({ pages }: Abilities): string[] {
  return [...SUPPORTED.keys()].filter((name) => pages || name !== 'page-ranges');
}

/** Reads a request's job attributes; unsupported ones are left out of the ticket, and listed. */
export function ticketOf(asked: readonly IppAttribute[], abilities: Abilities): Checked {
  const attributes: IppAttribute[] = [];
  const unsupported: IppAttribute[] = [];
  for (const attribute of asked) {
    const test = SUPPORTED.get(attribute.name);
    const tooMany = attribute.values.length > (SETS[attribute.name] ?? 1);
    if (!test) unsupported.push({ name: attribute.name, values: [{ tag: 'unsupported' }] });
    else if (tooMany || !attribute.values.every((value) => test(value, abilities)))
      unsupported.push(attribute);
    else attributes.push(attribute);
  }
  return { ticket: ticket(attributes, abilities), unsupported };
}

function ticket(attributes: readonly IppAttribute[], { rolls, scalings }: Abilities): JobTicket {
  const value = (name: string) => valuesOf(attributes, name)[0];
  const [copies, orientation] = [value('copies'), value('orientation-requested')];
  const roll = rollByCollection(rolls, value('media-col')) ?? rollByName(rolls, value('media')) ?? rolls[0];
  if (!roll) throw new Error('a printer without media');
  const is = (name: string, keyword: string) => {
    const found = value(name);
    return found !== undefined && 'value' in found && found.value === keyword;
  };
  return {
    copies: copies?.tag === 'integer' ? copies.value : 1,
    roll,
    rotation: (orientation?.tag === 'enum' && ROTATIONS.get(orientation.value)) || 0,
    scaling: SCALINGS.find((one) => is('print-scaling', one)) ?? scalings[0] ?? 'none',
    pages: pagesIn(valuesOf(attributes, 'page-ranges')),
    hold: is('job-hold-until', 'indefinite'),
    attributes,
  };
}

function pagesIn(ranges: readonly IppValue[]): string | undefined {
  const pages = ranges.flatMap((range) =>
    range.tag === 'rangeOfInteger' ? [`${range.min}-${range.max}`] : [],
  );
  return pages.length === 0 ? undefined : pages.join(',');
}

/** The printer's job template attributes: defaults, what is supported, what is ready. */
export function templateAttributes(abilities: Abilities): IppAttribute[] {
  const { rolls, dpi: resolution } = abilities;
  const names = rolls.map((roll) => roll.name);
  const sources = rolls.map((roll) => roll.source);
  return [
    integer('copies-default', 1),
    range('copies-supported', [1, MAX_COPIES]),
    keyword('media-default', names[0] ?? 'custom'),
    keyword('media-supported', ...names),
    keyword('media-ready', ...names),
    collection('media-col-default', ...rolls.slice(0, 1).map(mediaCol)),
    collection('media-col-ready', ...rolls.map(mediaCol)),
    keyword('media-col-supported', ...MEDIA_COL_MEMBERS),
    collection('media-size-supported', ...rolls.map(sizeMembers)),
    ...['top', 'right', 'bottom', 'left'].map((side) => integer(`media-${side}-margin-supported`, MARGIN)),
    keyword('media-source-supported', ...sources),
    keyword('media-type-supported', 'labels'),
    keyword('media-tracking-supported', 'gap'),
    boolean('page-ranges-supported', abilities.pages),
    integer('number-up-default', 1),
    integer('number-up-supported', 1),
    dpi('printer-resolution-default', resolution),
    dpi('printer-resolution-supported', resolution),
    ...Object.entries(KEYWORDS).flatMap(([name, known]) => choice(keyword, name, known(abilities))),
    ...Object.entries(ENUMS).flatMap(([name, known]) => choice(enumeration, name, known)),
  ];
}

function choice<T>(attribute: Make<T>, name: string, known: readonly T[]): IppAttribute[] {
  return [attribute(`${name}-default`, ...known.slice(0, 1)), attribute(`${name}-supported`, ...known)];
}
