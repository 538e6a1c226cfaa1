/**
 * What a job asks for, checked against what the printer can do: each job template attribute (RFC 8011 §5.2,
 * PWG 5100.7, 5100.13) with its values, in one table.
 */
import { type IppAttribute, type IppValue, valuesOf } from '../../../drivers/ipp/message.ts';
import {
  MEDIA_COL_MEMBERS,
  mediaCol,
  type Roll,
  rollByCollection,
  rollByName,
  sizeMembers,
} from './media.ts';
import { collection, dpi, enumeration, integer, keyword, range } from './values.ts';

export const MAX_COPIES = 999;

export interface JobTicket {
  readonly copies: number;
  readonly roll: Roll;
  /** Clockwise, degrees. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly fit: boolean;
  readonly hold: boolean;
  /** The attributes asked for that the printer keeps, as they came. */
  readonly attributes: readonly IppAttribute[];
}

export interface Checked {
  readonly ticket: JobTicket;
  /** What cannot be done: the attribute with the values in question, or `unsupported` when it is not known. */
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
}

type Test = (value: IppValue, abilities: Abilities) => boolean;

function oneOf(...keywords: string[]): Test {
  return (value) => (value.tag === 'keyword' || value.tag === 'name') && keywords.includes(value.value);
}

function number(test: (value: number) => boolean, tag: 'integer' | 'enum'): Test {
  return (value) => value.tag === tag && test(value.value);
}

const SUPPORTED: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['copies', number((copies) => copies >= 1 && copies <= MAX_COPIES, 'integer')],
  ['finishings', number((finishing) => finishing === FINISHINGS_NONE, 'enum')],
  ['job-hold-until', oneOf('no-hold', 'indefinite')],
  ['media', (value, { rolls }) => rollByName(rolls, value) !== undefined],
  ['media-col', (value, { rolls }) => rollByCollection(rolls, value) !== undefined],
  ['multiple-document-handling', oneOf('separate-documents-collated-copies')],
  ['number-up', number((up) => up === 1, 'integer')],
  ['orientation-requested', number((orientation) => ROTATIONS.has(orientation), 'enum')],
  ['output-bin', oneOf('face-up')],
  ['print-color-mode', oneOf('auto', 'monochrome', 'bi-level')],
  ['print-quality', number((quality) => quality === PRINT_QUALITY_NORMAL, 'enum')],
  ['print-scaling', oneOf('none', 'fit')],
  [
    'printer-resolution',
    (value, { dpi }) =>
      value.tag === 'resolution' && value.unit === 'dpi' && value.x === dpi && value.y === dpi,
  ],
  ['sides', oneOf('one-sided')],
]);

export const JOB_ATTRIBUTES: readonly string[] = [...SUPPORTED.keys()];
const SETS: ReadonlySet<string> = new Set(['finishings']);

/** Reads a request's job attributes; what cannot be done is left out of the ticket, and named. */
export function ticketOf(asked: readonly IppAttribute[], abilities: Abilities): Checked {
  const attributes: IppAttribute[] = [];
  const unsupported: IppAttribute[] = [];
  for (const attribute of asked) {
    const test = SUPPORTED.get(attribute.name);
    const tooMany = attribute.values.length > 1 && !SETS.has(attribute.name);
    if (!test) unsupported.push({ name: attribute.name, values: [{ tag: 'unsupported' }] });
    else if (tooMany || !attribute.values.every((value) => test(value, abilities)))
      unsupported.push(attribute);
    else attributes.push(attribute);
  }
  return { ticket: ticket(attributes, abilities), unsupported };
}

function ticket(attributes: readonly IppAttribute[], { rolls }: Abilities): JobTicket {
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
    fit: is('print-scaling', 'fit'),
    hold: is('job-hold-until', 'indefinite'),
    attributes,
  };
}

/** The printer's job template attributes: defaults, what is supported, what is ready. */
export function templateAttributes({ rolls, dpi: resolution }: Abilities): IppAttribute[] {
  const names = rolls.map((roll) => roll.name);
  const sources = rolls.map((roll) => roll.source);
  return [
    integer('copies-default', 1),
    range('copies-supported', [1, MAX_COPIES]),
    enumeration('finishings-default', FINISHINGS_NONE),
    enumeration('finishings-supported', FINISHINGS_NONE),
    keyword('job-hold-until-default', 'no-hold'),
    keyword('job-hold-until-supported', 'no-hold', 'indefinite'),
    keyword('media-default', names[0] ?? 'custom'),
    keyword('media-supported', ...names),
    keyword('media-ready', ...names),
    collection('media-col-default', ...rolls.slice(0, 1).map(mediaCol)),
    collection('media-col-ready', ...rolls.map(mediaCol)),
    keyword('media-col-supported', ...MEDIA_COL_MEMBERS),
    collection('media-size-supported', ...rolls.map(sizeMembers)),
    ...['top', 'right', 'bottom', 'left'].map((side) => integer(`media-${side}-margin-supported`, 0)),
    keyword('media-source-supported', ...sources),
    keyword('media-type-supported', 'labels'),
    keyword('media-tracking-supported', 'gap'),
    keyword('multiple-document-handling-default', 'separate-documents-collated-copies'),
    keyword('multiple-document-handling-supported', 'separate-documents-collated-copies'),
    integer('number-up-default', 1),
    integer('number-up-supported', 1),
    enumeration('orientation-requested-default', 3),
    enumeration('orientation-requested-supported', ...ROTATIONS.keys()),
    keyword('output-bin-default', 'face-up'),
    keyword('output-bin-supported', 'face-up'),
    keyword('print-color-mode-default', 'monochrome'),
    keyword('print-color-mode-supported', 'auto', 'monochrome', 'bi-level'),
    enumeration('print-quality-default', PRINT_QUALITY_NORMAL),
    enumeration('print-quality-supported', PRINT_QUALITY_NORMAL),
    keyword('print-scaling-default', 'none'),
    keyword('print-scaling-supported', 'none', 'fit'),
    dpi('printer-resolution-default', resolution),
    dpi('printer-resolution-supported', resolution),
    keyword('sides-default', 'one-sided'),
    keyword('sides-supported', 'one-sided'),
  ];
}
