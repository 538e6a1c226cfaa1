/**
 * Raw ZPL templates: a printer program of the tenant's own, with `{{name}}` placeholders inside field data
 * (^FD, ^FV) and fields named by ^FN ("Field Number", `^FN1"name"`).
 *
 * Read once, command by command; filling it in only joins strings. A value goes through `escapeFieldData`, with
 * the field's own ^FH indicator or one that is added, so that it stays data. What would take that certainty away
 * is refused: changed prefixes (^CC, ^CT, ^CD), immediate commands in the middle, encodings whose bytes are not
 * ASCII's, and more or less than one format. So is what makes labels differ from copies of one (^SN, ^SF), or
 * talks back (^HV and its like). A raw template has its own orientation: jobs in landscape are
 * refused by the language, for turning it would need a picture of it.
 */
import { JobFaultError } from '../contract/fault.ts';
import { LIMITS } from '../contract/limits.ts';
import type { LabelRecord } from '../contract/print-request.ts';
import type { RawZplTemplate } from '../contract/template.ts';
import {
  countsCopies,
  isBuiltIn,
  isNumber,
  type JobFacts,
  numbered,
  type Scope,
  templateScope,
} from './built-ins.ts';
import { ValueFault } from './filters.ts';
import { type Placeholder, parsePlaceholders, placeholderText } from './merge.ts';
import { escapeFieldData } from './zpl-field-data.ts';

export interface RawZpl {
  /** The fields that it prints, in order of appearance. */
  readonly fields: readonly string[];
  /** The labels of a record differ: they are no copies. */
  readonly countsCopies: boolean;
  /** @throws JobFaultError `value-invalid` */
  check(record: LabelRecord, index?: number): void;
  /**
   * The format for one record.
   * @param copies for the printer to make
   * @param index the record's number in its job, from 0
   * @param copy which of the record's labels is the first, from 0
   * @throws JobFaultError `value-invalid`
   */
  fill(record: LabelRecord, copies: number, index?: number, copy?: number): string;
}

interface Command {
  /** `^FD`, `~DG`, …; upper case. */
  readonly code: string;
  readonly params: string;
  /** As it stands in the source. */
  readonly text: string;
}

/** What a field's commands say of how its data is read. */
interface FieldState {
  /** ^FH's indicator, where the field has one. */
  indicator: string | undefined;
  /** ^FB, ^TB: `\&` breaks lines. */
  block: boolean;
  /** `BC`, `BX`, …: the barcode that the data goes to. */
  barcode: string | undefined;
  /** The name and number of ^FN, waiting for the field's data. */
  number: { code: string; name: string } | undefined;
}

interface Slot extends Placeholder {
  readonly fallback: string;
  readonly indicator: string;
  readonly block: boolean;
  readonly barcode: string | undefined;
}

/** Where the number of copies goes; `rest` are ^PQ's other parameters. */
interface Quantity {
  readonly rest: string;
}

type Piece = string | Slot | Quantity;

/** Commands that may stand outside of the format: downloads, and what sets the printer up for it. */
const OUTSIDE = /^~(?:D[BEGSTUY]|SD|TA)$/;
/** ^A with its font, or prefix and two characters. */
const COMMAND = /[\^~](?:[Aa][A-Za-z0-9@]|[^^~]{0,2})/y;
/** Data that these barcodes read for escapes of their own, and the printer has no way to write them plainly. */
const OWN_ESCAPES: Readonly<Record<string, RegExp>> = { BX: /[~_]/, BO: /[~_]/, BR: /#/ };

function invalid(reason: string): JobFaultError {
  return new JobFaultError('template-invalid', `/source: ${reason}`, { element: '/source' });
}

function commandsOf(source: string): { lead: string; commands: Command[] } {
  const first = source.search(/[\^~]/);
  const commands: Command[] = [];
  for (let at = first; at >= 0 && at < source.length; ) {
    COMMAND.lastIndex = at;
    const code = COMMAND.exec(source)?.[0] ?? source.charAt(at);
    const rest = source.slice(at + code.length).search(/[\^~]/);
    const end = rest < 0 ? source.length : at + code.length + rest;
    commands.push({
      code: code.toUpperCase(),
      params: source.slice(at + code.length, end),
      text: source.slice(at, end),
    });
    at = end;
  }
  return { lead: first < 0 ? source : source.slice(0, first), commands };
}

/**
 * Reads a template.
 * @param job what a label may say of its job; a template that prints the time cannot be filled without
 * @throws JobFaultError `template-invalid`
 */
export function compileRawZpl(template: RawZplTemplate, job?: JobFacts): RawZpl {
  const scope = templateScope(template, job);
  const { lead, commands } = commandsOf(template.source);
  requireOneFormat(lead, commands);
  const asciiOnly = encodingIsOwn(commands);
  const recalls = commands.some((command) => command.code === '^XF');
  const names = fieldNumbers(commands);
  const pieces: Piece[] = [];
  let quantity = '';
  let state: FieldState = emptyState();

  for (const command of commands) {
    const { code, params } = command;
    const data = code === '^FD' || code === '^FV';
    if (!data) refusePlaceholders(command);
    if (code === '^XZ' || code === '^FS' || code === '^FO' || code === '^FT') {
      if (code === '^FS') for (const piece of numberedField(state, '', recalls)) pieces.push(piece);
      if (code === '^XZ') pieces.push({ rest: quantity });
      state = emptyState();
      pieces.push(command.text);
    } else if (data) {
      const field =
        state.number === undefined ? dataField(command, state) : numberedField(state, params, recalls);
      // A field may have more placeholders than a call has arguments.
      for (const piece of field) pieces.push(piece);
      state.number = undefined;
    } else if (code === '^FN') {
      const number = /^\s*(\d+)/.exec(params)?.[1];
      const name = number === undefined ? undefined : names.get(Number(number));
      if (number === undefined || name === undefined) pieces.push(command.text);
      else state.number = { code: `^FN${number}`, name };
    } else if (code === '^PQ') {
      // The copies are the job's; pause, replicates and the rest stay the template's.
      quantity = params.trim().replace(/^\d*/, '');
    } else {
      noteFieldCommand(command, state);
      pieces.push(command.text);
      if (code === '^XA' && !commands.some((other) => other.code === '^CI')) pieces.push('^CI28');
    }
  }
  return rawZpl(template, pieces, asciiOnly, scope, job?.copies ?? 1);
}

function emptyState(): FieldState {
  return { indicator: undefined, block: false, barcode: undefined, number: undefined };
}

function requireOneFormat(lead: string, commands: readonly Command[]): void {
  const count = (code: string) => commands.filter((command) => command.code === code).length;
  const start = commands.findIndex((command) => command.code === '^XA');
  const end = commands.findIndex((command) => command.code === '^XZ');
  if (count('^XA') !== 1 || count('^XZ') !== 1 || end < start) {
    throw invalid('expected exactly one label format, ^XA … ^XZ');
  }
  if (lead.trim() !== '' || (commands[end]?.params ?? '').trim() !== '') {
    throw invalid('there is text outside of ^XA … ^XZ');
  }
  for (const [index, { code }] of commands.entries()) {
    if (/^[\^~]C[CDT]$/.test(code)) throw invalid(`${code} changes what a command is, and is not supported`);
    if (code === '^DF') throw invalid('^DF stores a format and prints nothing');
    // Copies are sent in parts, and sent again from where a printer was cut off: it would count from the start.
    if (code === '^SN' || code === '^SF') {
      throw invalid(
        `${code} counts in the printer, where copies would get numbers twice; use a field of the record`,
      );
    }
    if (code === '^WD') throw invalid('^WD prints another label than the template');
    // What it sends back, the record's own data for one, would be taken for the printer's answer to our questions.
    if (/^\^H[A-Z]$/.test(code)) throw invalid(`${code} makes the printer answer, and is not supported`);
    if (index < start || index > end ? !OUTSIDE.test(code) : code.startsWith('~')) {
      throw invalid(`${code.slice(0, 3)} cannot stand there`);
    }
  }
}

/** True when the template has an encoding of its own, in which only ASCII is sure to be what it is. */
function encodingIsOwn(commands: readonly Command[]): boolean {
  let own = false;
  for (const { code, params } of commands) {
    if (code !== '^CI') continue;
    const set = params.trim();
    if (set === '28') continue;
    // 0 USA, 13 code page 850, 27 Windows-1252, 31–36 Windows code pages: ASCII is in its place in all of them.
    if (!/^(?:0|13|27|3[1-6])$/.test(set)) {
      throw invalid('^CI is supported with 28 (UTF-8), 0, 13, 27 and 31 to 36, without remapping');
    }
    own = true;
  }
  return own;
}

function refusePlaceholders({ code, params }: Command): void {
  if (/\{\{[^{}]*\}\}/.test(params)) throw invalid(`a placeholder after ${code}: it can only be field data`);
}

/** The names of numbered fields; a number may be used again without its name. */
function fieldNumbers(commands: readonly Command[]): Map<number, string> {
  const names = new Map<number, string>();
  for (const { code, params } of commands) {
    const match = code === '^FN' ? /^\s*(\d+)\s*"([^"]*)"/.exec(params) : null;
    const name = (match?.[2] ?? '').trim();
    if (match === null || name === '') continue;
    const [placeholder] = parsePlaceholders(`{{${name}}}`, '/source');
    if (placeholder === undefined || typeof placeholder === 'string')
      throw invalid('^FN has a name that is none');
    if (placeholder.filter !== undefined) throw invalid('^FN names a field, without filters');
    const known = names.get(Number(match[1]));
    if (known !== undefined && known !== placeholder.field) throw invalid(`^FN${match[1]} has two names`);
    names.set(Number(match[1]), placeholder.field);
  }
  return names;
}

function noteFieldCommand({ code, params }: Command, state: FieldState): void {
  if (code === '^FH') state.indicator = params.charAt(0) === '' ? '_' : params.charAt(0);
  else if (code === '^FB' || code === '^TB') state.block = true;
  else if (/^\^B[0-9A-Z]$/.test(code) && code !== '^BY') state.barcode = code.slice(1);
}

function slot({ field, filter }: Placeholder, fallback: string, state: FieldState): Slot {
  return {
    field,
    filter,
    fallback,
    indicator: state.indicator ?? '_',
    block: state.block,
    barcode: state.barcode,
  };
}

/** ^FD or ^FV with placeholders in it. The template's own text is kept; only ^FH is added where there was none. */
function dataField(command: Command, state: FieldState): Piece[] {
  const parts = parsePlaceholders(command.params, '/source');
  if (parts.every((part) => typeof part === 'string')) return [command.text];
  const own = state.indicator !== undefined;
  const text = (part: string) => (own ? part : part.replaceAll('_', '_5F'));
  return [
    `${own ? '' : '^FH'}${command.text.slice(0, 3)}`,
    ...parts.map((part) => (typeof part === 'string' ? text(part) : slot(part, '', state))),
  ];
}

/**
 * ^FN by its name. Printed straight away it is a field like others, so that ^FN goes; where ^XF recalls a stored
 * format, the number is what joins the value to it. The field's own ^FD is its default.
 */
function numberedField(state: FieldState, fallback: string, recalls: boolean): Piece[] {
  const { number } = state;
  if (number === undefined) return [];
  const escapes = state.indicator === undefined ? '^FH' : '';
  return [
    `${recalls ? number.code : ''}${escapes}^FD`,
    slot({ field: number.name, filter: undefined }, fallback, state),
  ];
}

function rawZpl(
  template: RawZplTemplate,
  pieces: readonly Piece[],
  asciiOnly: boolean,
  scope: Scope,
  all: number,
): RawZpl {
  const declared = new Set(template.fields.flatMap((f) => (f.default === undefined ? [] : [f.name])));
  const slots = pieces.filter((piece): piece is Slot => typeof piece === 'object' && 'field' in piece);
  const counts = slots.some((place) => isNumber(place.field));
  const copiesDiffer = slots.some((place) => countsCopies(place.field));

  const dataOf = (place: Slot, record: LabelRecord, index: number): string => {
    const value = Object.hasOwn(record, place.field) ? record[place.field] : undefined;
    if ((value === undefined || value === null) && place.fallback !== '') {
      // The template's own text needs no escape; it is ZPL already.
      if (!declared.has(place.field)) return place.fallback;
    }
    const refuse = (reason: string) =>
      new JobFaultError(
        'value-invalid',
        `Template ${JSON.stringify(template.name)}, element /source, field ${JSON.stringify(place.field)}, record ${index + 1}: ${reason}`,
        { element: '/source', record: index, field: place.field },
      );
    let text: string;
    try {
      text = placeholderText(place, record, scope);
    } catch (error) {
      if (error instanceof ValueFault) throw refuse(error.message);
      throw error;
    }
    if (asciiOnly && /[^\0-\x7f]/.test(text)) throw refuse("the template's ^CI holds ASCII values only");
    return fieldData(place, text, refuse);
  };

  const own = pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), 0);
  /** The data of each slot in turn. A value may be long, and may be asked for thousands of times. */
  function* dataOfAll(record: LabelRecord, index: number, copy: number): Generator<string> {
    const values = counts ? numbered(record, index, copy, all) : record;
    let length = own;
    for (const place of slots) {
      const data = dataOf(place, values, index);
      length += data.length;
      if (length > LIMITS.filledSource) {
        throw new JobFaultError(
          'value-invalid',
          `Template ${JSON.stringify(template.name)}, record ${index + 1}: the label has more than ${LIMITS.filledSource} characters with its values`,
          { element: '/source', record: index },
        );
      }
      yield data;
    }
  }

  return {
    fields: [...new Set(slots.map((place) => place.field))].filter((field) => !isBuiltIn(field)),
    countsCopies: copiesDiffer,
    check: (record, index = 0) => {
      for (const copy of copiesDiffer && all > 1 ? [0, all - 1] : [0]) {
        for (const _ of dataOfAll(record, index, copy));
      }
    },
    fill: (record, copies, index = 0, copy = 0) => {
      const data = dataOfAll(record, index, copy);
      let text = '';
      for (const piece of pieces) {
        if (typeof piece === 'string') text += piece;
        else if ('rest' in piece) text += `^PQ${copies}${piece.rest}`;
        else text += data.next().value ?? '';
      }
      return text;
    },
  };
}

/** A value as the data of a field: escaped for ^FH, and for what reads the field after that. */
function fieldData(place: Slot, text: string, refuse: (reason: string) => JobFaultError): string {
  let value = text;
  if (place.barcode !== undefined) {
    if (!value.isWellFormed()) throw refuse('half of a surrogate pair cannot be encoded');
    if (OWN_ESCAPES[place.barcode]?.test(value) === true) {
      throw refuse(`^${place.barcode} would read a character of the value as an escape`);
    }
    // "Code 128 Invocation Characters": >0 is the character > itself.
    if (place.barcode === 'BC') value = value.replaceAll('>', '>0');
    // ^B7: "\&" is a line break, "\\" a backslash.
    if (place.barcode === 'B7') value = value.replaceAll('\\', '\\\\');
    return escapeFieldData(value, place.indicator);
  }
  value = value.replace(/\r\n?/g, '\n');
  if (place.block) {
    // "Field Block": \\ is a backslash, \& a line break; those two are ours, so they follow the escapes.
    const lines = value.split('\n').map((line) => line.replaceAll('\\', '\\\\'));
    value = lines.join('\\&');
  } else value = value.replaceAll('\n', ' ');
  return escapeFieldData(value.replaceAll('\t', ' ').replace(/[\0-\x1f\x7f]/g, '\ufffd'), place.indicator);
}
