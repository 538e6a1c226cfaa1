/**
 * Compiles raw ZPL templates. A raw template is a tenant's own ZPL program, with `{{name}}` placeholders inside field data
 * (^FD, ^FV), and with fields that are named by ^FN ("Field Number", `^FN1"name"`).
 *
 * The program is read once, command by command. After that, filling it in only joins strings. A value goes through
 * `escapeFieldData`, with the field's own ^FH indicator or an added one, so that it stays data. Placeholders that could become
 * more than data are refused, and so are commands that change the printer for others (`rules.ts`). `program.ts` handles the
 * downloads and formats around the label. A raw template has its own orientation: the ZPL language refuses landscape jobs,
 * because turning a label would need a picture of it.
 */

import { JobFaultError } from '../../contract/fault.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { LabelRecord } from '../../contract/print-request.ts';
import { because, type Reason, reasonText } from '../../contract/reason.ts';
import type { RawZplTemplate } from '../../contract/template.ts';
import { ownName } from '../../programs/program.ts';
import {
  countsCopies,
  type Defaults,
  isBuiltIn,
  isNumber,
  type JobFacts,
  numbered,
  templateScope,
} from '../../values/built-ins.ts';
import { ValueFault } from '../../values/filters.ts';
import { parsePlaceholders, placeholderText } from '../../values/merge.ts';
import { isBarcode } from '../commands.ts';
import { closedData, hexIndicator } from '../field-data.ts';
import { type RawCommand, rawFault } from './commands.ts';
import { type Encoding, encodingOf, escapesAreUtf8, inCodePage, inUtf8, POWER_ON, UTF8 } from './encoding.ts';
import { fieldText, ownEscapes, type RawField, rawField, type Slot } from './field.ts';
import { deletionsOf, type LeftOut, readProgram } from './program.ts';

export interface RawZpl {
  /** The record fields that the template prints, in order of appearance. */
  readonly fields: readonly string[];
  /** True: the labels of one record differ, because they print the number of the copy or of the label. */
  readonly countsCopies: boolean;
  /** Graphics and fonts, to be sent before the first label. */
  readonly downloads: string;
  /** ^ID commands that delete the downloads again, for use inside a format. */
  readonly deletions: string;
  /** Commands of the source that are not sent, and why. */
  readonly leftOut: readonly LeftOut[];
  /** @throws JobFaultError `value-invalid` */
  check(record: LabelRecord, index?: number): void;
  /**
   * The format for one record.
   * @param copies how many the printer makes
   * @param index the record's number in its job, from 0
   * @param copy which of the record's labels is the first, from 0
   * @throws JobFaultError `value-invalid`
   */
  fill(record: LabelRecord, copies: number, index?: number, copy?: number): string;
}

/** Options for compiling a template, besides the facts of the job. */
export interface RawOptions {
  /** ZPL inserted after the label's ^XA. */
  readonly start?: string;
  /** Allow commands that set the printer up; if left out, the job decides. */
  readonly printerCommands?: boolean;
}

/** How the current field's data is read, according to its commands so far. */
interface FieldState {
  /** ^FH's indicator, if the field has one. */
  indicator: string | undefined;
  /** Whether the field has ^FB or ^TB, in which `\&` breaks lines. */
  block: boolean;
  /** The barcode that the data goes to: `^BC`, `^BX`, …. */
  barcode: RawCommand | undefined;
  /** Commands of the field, each with the characters that it reads as escapes. */
  escapes: Map<string, string>;
  /** Whether the field's data has come. */
  filled: boolean;
  /** A named ^FN whose field data has not come yet. */
  number: { code: string; name: string } | undefined;
  /** The ^CI that restores the encoding after the field; `always`, or only if the field's values made it UTF-8. */
  back: { readonly text: string; readonly always: boolean } | undefined;
}

/** The place of ^PQ, which takes the number of copies. `rest` holds its other parameters. */
interface Quantity {
  readonly rest: string;
}

/** A ^CI that is sent only if the field before it was switched to UTF-8. */
interface Back {
  readonly back: string;
}

type Piece = string | RawField | Quantity | Back;

/**
 * Compiles a template.
 * @param job facts that a label may print about its job; a template that prints the time needs them
 * @throws JobFaultError `template-invalid`
 */
export function compileRawZpl(template: RawZplTemplate, job?: JobFacts, options: RawOptions = {}): RawZpl {
  const scope = templateScope(template, job);
  const { label, downloads, leftOut } = readProgram(template.source, {
    prefix: ownName(job?.jobId ?? template.source, 'G'),
    printerCommands: options.printerCommands ?? job?.printerCommands ?? false,
  });
  for (const { text } of downloads) refusePlaceholders({ code: text.slice(0, 3), params: text });
  const pieces = new LabelReader(label, options.start ?? '').pieces;
  const objects = [...new Set(downloads.flatMap(({ object }) => object ?? []))];
  return {
    ...filled(template, pieces, scope, job),
    downloads: downloads.map(({ text }) => text).join(''),
    deletions: deletionsOf(objects),
    leftOut,
  };
}

/** Makes the pieces of a label, command by command. */
class LabelReader {
  readonly pieces: Piece[] = [];
  readonly #recalls: boolean;
  readonly #names: ReadonlyMap<number, string>;
  /** Whether the template has a ^CI, and so states its encoding. */
  readonly #encoded: boolean;
  #encoding: Encoding;
  #quantity = '';
  #state: FieldState = emptyState();

  constructor(label: readonly RawCommand[], start: string) {
    this.#recalls = label.some(({ code }) => code === '^XF');
    this.#names = fieldNumbers(label);
    this.#encoded = label.some(({ code }) => code === '^CI');
    this.#encoding = this.#encoded ? POWER_ON : UTF8;
    for (const command of label) this.#command(command, start);
  }

  #command(command: RawCommand, start: string): void {
    const { code, params, text } = command;
    const data = code === '^FD' || code === '^FV';
    if (!data) refusePlaceholders(command);
    // ^FO and ^FT may stand behind other commands of their field. Only behind its data they begin another field.
    const begins = (code === '^FO' || code === '^FT') && this.#state.filled;
    if (code === '^XZ' || code === '^FS' || begins) this.#fieldEnds(command);
    else if (data) this.#data(command);
    else if (code === '^FN') {
      const number = /^\s*(\d+)/.exec(params)?.[1];
      const name = number === undefined ? undefined : this.#names.get(Number(number));
      if (number === undefined || name === undefined) this.pieces.push(text);
      else this.#state.number = { code: `^FN${number}`, name };
    } else if (code === '^PQ') this.#quantity = withoutPause(params);
    else if (code === '^CI') {
      this.#encoding = encodingOf(command);
      this.pieces.push(`^CI${this.#encoding.set}`);
    } else {
      noteFieldCommand(command, this.#state);
      this.pieces.push(text);
      if (code === '^XA') this.pieces.push(`${start}${this.#encoded ? '' : '^CI28'}`);
    }
  }

  #fieldEnds({ code, text }: RawCommand): void {
    if (code === '^FS' && this.#state.number !== undefined) this.#numbered('');
    const { back } = this.#state;
    const restored = back === undefined ? [] : [back.always ? back.text : { back: back.text }];
    if (code === '^XZ') this.pieces.push({ rest: this.#quantity });
    this.pieces.push(...(code === '^FS' ? [text, ...restored] : [...restored, text]));
    this.#state = emptyState();
  }

  #data({ code, params, text }: RawCommand): void {
    this.#state.filled = true;
    const parts = this.#state.number === undefined ? parsePlaceholders(params, '/source') : undefined;
    if (parts === undefined) {
      this.#numbered(params);
      return;
    }
    if (parts.every((part) => typeof part === 'string')) {
      this.#fixed(text, params);
      return;
    }
    const open = `${this.#state.indicator === undefined ? '^FH' : ''}${text.slice(0, code.length)}`;
    this.#field(
      open,
      parts.map((part) => (typeof part === 'string' ? this.#escapable(part) : { ...part, fallback: '' })),
    );
  }

  /**
   * Adds the field of a named ^FN. In a label that is printed directly it is a field like any other, and ^FN is left out. If
   * ^XF recalls a stored format, the number assigns the value to that format's field, so ^FN stays. The field's own ^FD is its
   * default.
   */
  #numbered(fallback: string): void {
    const { number, indicator } = this.#state;
    if (number === undefined) return;
    const open = `${this.#recalls ? number.code : ''}${indicator === undefined ? '^FH' : ''}^FD`;
    this.#field(open, [{ field: number.name, filter: undefined, fallback: this.#escapable(fallback) }]);
    this.#state.number = undefined;
  }

  /** The template's own text beside a value. It is escaped if ^FH is added to its field. */
  #escapable(text: string): string {
    const { indicator } = this.#state;
    return indicator === undefined ? text.replaceAll('_', '_5F') : closedData(text, indicator);
  }

  #field(open: string, parts: readonly (string | Slot)[]): void {
    const { indicator = '_', block, barcode, escapes } = this.#state;
    const reading = { indicator, block, barcode, escapes, encoding: this.#encoding };
    this.pieces.push(rawField(open, parts, reading, this.#encoded ? undefined : POWER_ON));
    if (this.#encoding !== UTF8) this.#state.back = { text: `^CI${this.#encoding.set}`, always: false };
  }

  /** Adds data without placeholders, in the code page that the template is written for. */
  #fixed(text: string, data: string): void {
    const { indicator, barcode } = this.#state;
    const command = text.slice(0, 3);
    if (this.#encoding === UTF8) {
      if (this.#encoded || escapesAreUtf8(data, indicator)) this.pieces.push(text);
      else {
        const paged = inCodePage(data, indicator ?? '_', POWER_ON);
        this.pieces.push(`^CI${POWER_ON.set}${command}${paged ?? data}`);
        this.#state.back = { text: '^CI28', always: true };
      }
      return;
    }
    if (!/[^\0-\x7f]/.test(data)) {
      this.pieces.push(text);
      return;
    }
    // A character beyond ASCII is sent as a byte of the code page, or in UTF-8 if the code page lacks it.
    const open = `${indicator === undefined ? '^FH' : ''}${command}`;
    const paged = inCodePage(this.#escapable(data), indicator ?? '_', this.#encoding);
    const utf8 =
      barcode === undefined
        ? inUtf8(this.#escapable(data), indicator ?? '_', this.#encoding, false)
        : undefined;
    if (paged !== undefined || utf8 === undefined)
      this.pieces.push(paged === undefined ? text : open + paged);
    else {
      this.pieces.push(`^CI28${open}${utf8}`);
      this.#state.back = { text: `^CI${this.#encoding.set}`, always: true };
    }
  }
}

function emptyState(): FieldState {
  return {
    indicator: undefined,
    block: false,
    barcode: undefined,
    escapes: new Map(),
    filled: false,
    number: undefined,
    back: undefined,
  };
}

/**
 * The parameters of ^PQ after the quantity, which the job sets. They stay as the template has them, except
 * for the pause after a group of labels, which would stop the printer for everybody who uses it.
 */
export function withoutPause(params: string): string {
  const [, group, replicates = '', override = '', ...more] = params.trim().split(',');
  if (group === undefined) return '';
  const pauses = Number.parseInt(group, 10) > 0 && override.trim().toUpperCase() !== 'Y';
  if (!pauses) return params.trim().replace(/^[^,]*/, '');
  return `,${[group, replicates, 'Y', ...more].join(',')}`;
}

function refusePlaceholders({
  code,
  params,
  line,
}: Pick<RawCommand, 'code' | 'params'> & { line?: number }): void {
  if (/\{\{[^{}]*\}\}/.test(params)) {
    throw rawFault(because('zpl-placeholder', { command: code }), line);
  }
}

/** The names of numbered fields. A number may be used again without its name. */
function fieldNumbers(commands: readonly RawCommand[]): Map<number, string> {
  const names = new Map<number, string>();
  for (const { code, params, line } of commands) {
    const match = code === '^FN' ? /^\s*(\d+)\s*"([^"]*)"/.exec(params) : null;
    const name = (match?.[2] ?? '').trim();
    if (match === null || name === '') continue;
    const [placeholder] = parsePlaceholders(`{{${name}}}`, '/source');
    if (placeholder === undefined || typeof placeholder === 'string')
      throw rawFault(because('zpl-field-name', {}), line);
    if (placeholder.filter !== undefined) throw rawFault(because('zpl-field-filter', {}), line);
    const known = names.get(Number(match[1]));
    if (known !== undefined && known !== placeholder.field)
      throw rawFault(because('zpl-field-names', { number: match[1] ?? '' }), line);
    names.set(Number(match[1]), placeholder.field);
  }
  return names;
}

function noteFieldCommand(command: RawCommand, state: FieldState): void {
  const { code, params } = command;
  if (code === '^FH') state.indicator = hexIndicator(params);
  else if (code === '^FB' || code === '^TB') state.block = true;
  else if (code.startsWith('^') && isBarcode(code.slice(1))) {
    // The last barcode command of a field has its data.
    if (state.barcode !== undefined) state.escapes.delete(state.barcode.code);
    state.barcode = command;
  }
  state.escapes.set(code, ownEscapes(command));
}

function filled(
  template: RawZplTemplate,
  pieces: readonly Piece[],
  scope: Defaults,
  job: JobFacts | undefined,
): Pick<RawZpl, 'fields' | 'countsCopies' | 'check' | 'fill'> {
  const all = job?.copies ?? 1;
  const declared = new Set(template.fields.flatMap((f) => (f.default === undefined ? [] : [f.name])));
  const rawFields = pieces.filter(
    (piece): piece is RawField => typeof piece === 'object' && 'parts' in piece,
  );
  const slots = rawFields.flatMap(({ parts }) => parts.filter((part) => typeof part === 'object'));
  const counts = slots.some((place) => isNumber(place.field));
  const copiesDiffer = slots.some((place) => countsCopies(place.field));

  const textOf = (field: RawField, record: LabelRecord, index: number) => {
    const refuse = (place: Slot, reason: Reason) =>
      new JobFaultError(
        'value-invalid',
        `Template ${JSON.stringify(template.name)}, element /source, field ${JSON.stringify(place.field)}, record ${index + 1}: ${reasonText(reason)}`,
        { element: '/source', record: index, field: place.field, reason },
      );
    const textFor = (place: Slot): string | undefined => {
      const value = Object.hasOwn(record, place.field) ? record[place.field] : undefined;
      const missing = value === undefined || value === null;
      if (missing && place.fallback !== '' && !declared.has(place.field)) return undefined;
      try {
        return placeholderText(place, record, scope);
      } catch (error) {
        if (error instanceof ValueFault) throw refuse(place, error.said);
        throw error;
      }
    };
    return fieldText(field, textFor, refuse);
  };

  const own = pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), 0);
  /** Yields each field in turn, up to the length limit, because a long value may be used thousands of times. */
  function* textOfAll(
    record: LabelRecord,
    index: number,
    copy: number,
  ): Generator<ReturnType<typeof textOf>> {
    const values = counts ? numbered(record, index, copy, job) : record;
    let length = own;
    for (const field of rawFields) {
      const found = textOf(field, values, index);
      length += found.text.length;
      if (length > LIMITS.filledSource) {
        const reason = because('label-too-long', { most: LIMITS.filledSource });
        throw new JobFaultError(
          'value-invalid',
          `Template ${JSON.stringify(template.name)}, record ${index + 1}: ${reasonText(reason)}`,
          { element: '/source', record: index, reason },
        );
      }
      yield found;
    }
  }

  return {
    fields: [...new Set(slots.map((place) => place.field))].filter((field) => !isBuiltIn(field)),
    countsCopies: copiesDiffer,
    check: (record, index = 0) => {
      for (const copy of copiesDiffer && all > 1 ? [0, all - 1] : [0]) {
        for (const _ of textOfAll(record, index, copy));
      }
    },
    fill: (record, copies, index = 0, copy = 0) => {
      const fields = textOfAll(record, index, copy);
      let text = '';
      let switched = false;
      for (const piece of pieces) {
        if (typeof piece === 'string') text += piece;
        else if ('rest' in piece) text += `^PQ${copies}${piece.rest}`;
        else if ('back' in piece) text += switched ? piece.back : '';
        else {
          const field = fields.next().value;
          text += field?.text ?? '';
          switched = field?.switched ?? false;
        }
      }
      return text;
    },
  };
}
