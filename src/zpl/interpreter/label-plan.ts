/**
 * Turns one format into what is to be printed: settings are applied, stored formats are filled in, and the rest becomes plain
 * ZPL for the rasteriser.
 *
 * The rasteriser draws fields, and silently ignores commands about the label as a whole. So these are handled here: `^PQ ^PO
 * ^PM ^LL ^PW ^LS ^LT ^MU ^SN`, lasting settings, `^DF`/`^XF`/`^FN`. `^LS` and `^LT` become part of the label home. Field data
 * goes to the rasteriser as ASCII, with every other byte as an `^FH` escape, so that it can misread neither a changed prefix
 * nor a character set.
 *
 * Source: ZPL II Programming Guide, the commands named.
 */

import { isBarcode, isFont, PRINTS, words } from '../commands.ts';
import { fieldBytes, hexIndicator, plainField, readable } from '../field-data.ts';
import { GraphicError } from '../graphic-data.ts';
import { objectName } from '../names.ts';
import { text, whole } from '../parameters.ts';
import { MOST_RECALLED, recall } from '../recall.ts';
import type { ZplCommand, ZplFormat } from '../stream.ts';
import { code128Field } from './code128-field.ts';
import { enlarged, type FieldMark, FieldMarks, storedSize } from './field-marks.ts';
import { GraphicRoom, graphicField } from './graphic-field.ts';
import { LabelFonts } from './label-fonts.ts';
import type { Piece } from './piece.ts';
import { isLastingSetting, type LastingSetting, lastingValue, type PrinterMemory } from './printer-memory.ts';
import { DRAWN_BARCODES, NOT_DRAWN } from './rasteriser-commands.ts';
import { type Serial, serialField, serialValue } from './serial.ts';
import { ellipse, isShape, shapeField } from './shape.ts';
import type { SymbolField } from './symbol-encoder.ts';
import { isSymbolField } from './symbol-field.ts';
import { toDots } from './units.ts';

/** The printer's media and head, dots. */
export interface MediaDots {
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
}

export interface LabelPlan {
  /** The plain ZPL of one label, in pieces. A serial number differs from label to label. */
  readonly pieces: readonly (Piece | Serial)[];
  /** Labels to print, ≥ 1. */
  readonly quantity: number;
  /** Pause after so many labels; 0: never. */
  readonly pauseEvery: number;
  /** Labels with the same serial number, ≥ 1. */
  readonly replicates: number;
  /** The printable part of the media, dots. */
  readonly width: number;
  readonly length: number;
  readonly inverted: boolean;
  readonly mirrored: boolean;
  /** The format has `^PP`: the printer pauses when the format is printed. */
  readonly pauseAfter: boolean;
  /** The positions of the fields, before ^PO and ^PM are applied. */
  readonly marks: readonly FieldMark[];
  /** What cannot be printed as asked; the virtual printer crosses the label out. */
  readonly faults: readonly string[];
  /** The data of its texts and barcodes. */
  readonly said: readonly SaidField[];
}

/** The data of a field, which begins at (x, y), dots. */
interface SaidField {
  readonly x: number;
  readonly y: number;
  /** @param serial the label's serial number, as in `labelPieces` */
  readonly data: (serial: number) => string;
}

/** A command's parameters are looked for in this many bytes. What follows is data. */
const HEAD = 128;
const MAX_QUANTITY = 99_999_999;

/** The most `^ID` with a `*` that are obeyed in one format, because each looks at everything that is stored. */
const MOST_SEARCHES = 100;

/**
 * Applies a format to the printer's memory, and plans its label. Undefined: the format prints nothing, because it only stores a
 * format, only sets the printer up, or is empty.
 */
export function planLabel(format: ZplFormat, memory: PrinterMemory, media: MediaDots): LabelPlan | undefined {
  const store = format.commands.findIndex((command) => command.name === 'DF');
  const defining = store >= 0 ? format.commands[store] : undefined;
  if (defining) {
    const commands = format.commands.slice(store + 1);
    const bytes = commands.reduce((sum, command) => sum + command.params.length + 64, 0);
    memory.store(objectName(text(defining), 'ZPL'), { kind: 'format', commands, bytes });
    return undefined;
  }
  return new PlanBuilder(memory, media).build(format.commands);
}

/** Settings of the label as a whole. They apply wherever in the format they stand. */
const WHOLE_LABEL = words('LL LS LT MU PM PO PW');

class PlanBuilder {
  readonly #memory: PrinterMemory;
  readonly #media: MediaDots;
  readonly #pieces: LabelPlan['pieces'][number][] = [];
  readonly #faults: string[] = [];
  readonly #said: SaidField[] = [];
  readonly #graphics = new Map<string, string>();
  readonly #fields = new FieldMarks();
  #printable = false;
  #searches = 0;
  readonly #room = new GraphicRoom();
  readonly #fonts: LabelFonts;
  #quantity: string[] = [];
  #pauseAfter = false;
  #hex: string | undefined;
  /** The field's barcode, and the index in the pieces where its command is, or would be. */
  #barcode: { readonly name: string; readonly params: string; readonly piece: number } | undefined;
  #hasData = false;
  /** The field's own `^FO` or `^FT`. */
  #origin: string | undefined;
  #homeAt = { x: 0, y: 0 };
  /** Whether the field names its font. */
  #hasFont = false;
  /** How many dots the picture moves down, in addition to `^LT`. */
  #shift = 0;

  constructor(memory: PrinterMemory, media: MediaDots) {
    this.#memory = memory;
    this.#media = media;
    this.#fonts = new LabelFonts(memory);
  }

  build(format: readonly ZplCommand[]): LabelPlan | undefined {
    const { settings } = this.#memory;
    const before = new Map(settings);
    const commands = this.#recalled(format);
    for (const command of commands) if (WHOLE_LABEL.has(command.name)) this.#set(command);
    const length = this.#setting('LL', this.#media.height);
    const inverted = settings.get('PO')?.toUpperCase().startsWith('I') ?? false;
    // Upside down, the end of the label comes first. So a label that is longer than the media loses its beginning.
    this.#shift = inverted ? Math.min(0, this.#media.height - length) : 0;

    this.#restore('MU', before.get('MU'));
    this.#pieces.push('^XA');
    for (const name of ['CI', 'CF', 'BY', 'FW', 'LR'] as const) {
      const value = before.get(name);
      if (value === undefined) continue;
      this.#pieces.push(`^${name}${value}`);
      this.#fields.command(name, value, 0);
    }
    this.#pieces.push(this.#home());
    for (const command of commands) this.#command(command);
    this.#pieces.push('^XZ');
    if (!this.#printable && this.#faults.length === 0) return undefined;

    const [quantity, pauseEvery, replicates, override] = this.#quantity;
    return {
      pieces: [...this.#graphics.values(), ...this.#fonts.pieces, ...this.#pieces],
      quantity: whole(quantity, 1, 1, MAX_QUANTITY),
      pauseEvery: override?.trim().toUpperCase() === 'Y' ? 0 : whole(pauseEvery, 0, 0, MAX_QUANTITY),
      replicates: whole(replicates, 1, 1, MAX_QUANTITY),
      width: Math.min(this.#setting('PW', this.#media.width), this.#media.width),
      length: Math.min(length, this.#media.height),
      inverted,
      mirrored: settings.get('PM')?.toUpperCase().startsWith('Y') ?? false,
      pauseAfter: this.#pauseAfter,
      marks: this.#fields.marks,
      faults: this.#faults,
      said: this.#said,
    };
  }

  #recalled(format: readonly ZplCommand[]): readonly ZplCommand[] {
    return recall(format, {
      name: ({ name }) => name,
      params: text,
      stored: (command) => {
        const name = objectName(text(command), 'ZPL');
        const object = this.#memory.object(name);
        if (object?.kind === 'format') return object.commands;
        this.#faults.push(`stored format ${name} does not exist`);
        return [];
      },
      tooMany: () => {
        this.#faults.push(`the stored formats of one label have more than ${MOST_RECALLED} commands`);
      },
    });
  }

  #command(command: ZplCommand): void {
    const { name } = command;
    if (name !== 'XG' && name !== 'IM' && name !== 'IL') {
      const head = { ...command, params: command.params.subarray(0, HEAD) };
      this.#fields.command(name, this.#dots(head), command.at);
    }
    if (name === 'FD' || name === 'FV') {
      const hex = this.#hex;
      this.#say(() => readable(fieldBytes(command.params, hex)));
      this.#printData(name, command.params);
    } else if (name === 'SN') {
      this.#requireDrawn(this.#barcode?.name);
      this.#setUsualFont();
      this.#hasData = true;
      const serial = serialField(text(command));
      this.#say((index) => readable(serialValue(serial, index).slice('^FD'.length)));
      this.#print(serial);
    } else if (name === 'FH') this.#hex = hexIndicator(text(command));
    else if (name === 'FS') {
      if (this.#barcode !== undefined && !this.#hasData) this.#leaveOut(this.#barcode);
      this.#hasData = false;
      this.#hex = undefined;
      this.#barcode = undefined;
      this.#origin = undefined;
      this.#hasFont = false;
      this.#pieces.push('^FS');
    } else if (name === 'GF') {
      this.#placeTypeset(command);
      this.#attempt(() => this.#print(graphicField(command.params, this.#room)));
    } else if (name === 'XG' || name === 'IM' || name === 'IL') this.#recallGraphic(command);
    else if (name === 'PQ') this.#quantity = text(command).split(',');
    else if (name === 'PP') this.#pauseAfter = true;
    else if (name === 'ID') this.#delete(objectName(text(command), 'GRF'));
    else if (name === 'CW') this.#fonts.assign(text(command));
    else if (name === 'EF') this.#memory.deleteKind('format');
    else if (name === 'LH') {
      this.#set(command);
      this.#pieces.push(this.#home());
    } else if (isLastingSetting(name)) {
      const value = this.#set(command);
      if (!WHOLE_LABEL.has(name)) this.#pieces.push(`^${name}${value}`);
    } else if (isShape(name)) {
      this.#placeTypeset(command);
      const params = this.#dots(command);
      this.#print(name === 'GE' ? ellipse(params) : shapeField(name, params));
    } else if (PRINTS.has(name)) this.#print(this.#plain(command));
    else if (!NOT_DRAWN.has(name)) {
      // The last barcode command of a field decides what becomes of its data.
      if (isBarcode(name)) this.#useBarcode(name === 'B0' ? 'BO' : name, this.#dots(command));
      else if (isFont(name)) {
        this.#hasFont = true;
        this.#attempt(() => this.#pieces.push(this.#fonts.command(name, this.#dots(command))));
      } else {
        if (name === 'FO' || name === 'FT') this.#origin = this.#plain(command);
        this.#pieces.push(this.#plain(command));
      }
    }
  }

  #useBarcode(name: string, params: string): void {
    this.#barcode = { name, params, piece: this.#pieces.length };
    if (!isSymbolField(name)) this.#pieces.push(`^${name}${params}`);
  }

  /** Leaves out a barcode without data. It prints nothing, but the rasteriser would refuse the label. */
  #leaveOut({ name, piece }: { readonly name: string; readonly piece: number }): void {
    if (!isSymbolField(name)) this.#pieces[piece] = '';
  }

  #requireDrawn(barcode: string | undefined): void {
    if (barcode !== undefined && !DRAWN_BARCODES.has(barcode)) this.#faults.push(`^${barcode} is not drawn`);
  }

  #setUsualFont(): void {
    if (this.#barcode !== undefined || this.#hasFont) return;
    this.#attempt(() => {
      const command = this.#fonts.usual();
      if (command !== undefined) this.#pieces.push(command);
    });
  }

  #printData(name: string, data: Buffer): void {
    const { name: barcode, params = '', piece = 0 } = this.#barcode ?? {};
    this.#hasData = fieldBytes(data, this.#hex) !== '';
    if (barcode !== undefined && !this.#hasData) return;
    if (barcode !== undefined && isSymbolField(barcode)) {
      this.#print(this.#symbol(barcode, params, fieldBytes(data, this.#hex)));
      return;
    }
    this.#requireDrawn(barcode);
    this.#setUsualFont();
    const command = barcode === 'BC' ? this.#pieces[piece] : undefined;
    if (typeof command !== 'string') {
      this.#print(plainField(name, data, this.#hex));
      return;
    }
    this.#attempt(() => {
      const drawn = code128Field(command, name, data, this.#hex);
      this.#pieces[piece] = drawn.command;
      this.#print(drawn.field);
    });
  }

  #say(data: SaidField['data']): void {
    const { x = 0, y = 0 } = this.#fields.marks.at(-1) ?? {};
    this.#said.push({ x, y, data });
  }

  #symbol(name: string, params: string, data: string): SymbolField {
    const { settings } = this.#memory;
    const utf8 = settings.get('CI')?.trim() === '28';
    const turn = /^[NRIB]/i.exec(settings.get('FW') ?? '')?.[0] ?? 'N';
    const by = settings.get('BY') ?? '';
    return { name, params, data, utf8, dpi: this.#media.dpi, origin: this.#origin, by, turn };
  }

  #delete(pattern: string): void {
    if (pattern.includes('*')) this.#searches += 1;
    if (this.#searches <= MOST_SEARCHES) this.#memory.delete(pattern);
  }

  #print(piece: LabelPlan['pieces'][number]): void {
    this.#printable = true;
    this.#pieces.push(piece);
  }

  #plain(command: ZplCommand): string {
    return `^${command.name}${this.#dots(command)}`;
  }

  /** The command's parameters, with measures in dots. */
  #dots(command: ZplCommand): string {
    return toDots(command.name, text(command), this.#memory.settings.get('MU'), this.#media.dpi);
  }

  /** Prints something, or notes why it cannot be drawn. */
  #attempt(print: () => void): void {
    try {
      print();
    } catch (error) {
      if (!(error instanceof GraphicError)) throw error;
      this.#faults.push(error.message);
    }
  }

  #recallGraphic(command: ZplCommand): void {
    const [name = '', across = '1', down = '1'] = text(command).split(',');
    const object = objectName(name, 'GRF');
    const graphic = this.#memory.object(object);
    if (graphic?.kind !== 'graphic' && graphic?.kind !== 'picture') {
      this.#faults.push(`graphic ${object} does not exist`);
      return;
    }
    const [wide, tall] = command.name === 'XG' ? [across, down] : ['1', '1'];
    const times = { across: enlarged(wide), down: enlarged(tall) };
    const atOrigin = command.name === 'IL';
    if (atOrigin) this.#fields.command('FO', '0,0', command.at);
    this.#fields.graphic(command.name, command.at, storedSize(graphic, times));
    this.#placeTypeset(command);
    this.#attempt(() => {
      const dots = graphic.kind === 'picture' ? graphic.width * graphic.height : graphic.dots;
      this.#room.draw(dots * times.across * times.down);
      if (atOrigin) this.#pieces.push('^FO0,0');
      if (graphic.kind === 'picture') this.#print({ kind: 'picture', file: graphic.file, ...times });
      else {
        this.#graphics.set(object, graphic.definition);
        this.#print(`^XG${object},${wide},${tall}`);
      }
      if (atOrigin) this.#pieces.push('^FS');
    });
  }

  /** `^FT` names a graphic's lower left corner, but the rasteriser takes it for the upper one. So `^FO` places it instead. */
  #placeTypeset({ at }: ZplCommand): void {
    const mark = this.#fields.marks.at(-1);
    if (mark?.at !== at || this.#origin?.startsWith('^FT') !== true) return;
    this.#pieces.push(`^FO${fromHome(mark.x, this.#homeAt.x)},${fromHome(mark.y, this.#homeAt.y)}`);
  }

  /** Puts a lasting setting in force. @returns its parameters, with measures in dots */
  #set(command: ZplCommand): string {
    const { settings } = this.#memory;
    const value = this.#dots(command);
    const { name } = command;
    if (isLastingSetting(name)) settings.set(name, lastingValue(name, settings.get(name), value));
    return value;
  }

  #restore(name: LastingSetting, value: string | undefined): void {
    if (value === undefined) this.#memory.settings.delete(name);
    else this.#memory.settings.set(name, value);
  }

  #setting(name: LastingSetting, fallback: number): number {
    return whole(this.#memory.settings.get(name), fallback, 1, 32_000);
  }

  #home(): string {
    const { settings } = this.#memory;
    const [x, y] = (settings.get('LH') ?? '').split(',');
    const left = whole(settings.get('LS'), 0, -9999, 9999);
    const top = whole(settings.get('LT'), 0, -120, 120);
    const home = [whole(x, 0, 0, 32_000) - left, whole(y, 0, 0, 32_000) + top + this.#shift] as const;
    this.#fields.home(...home);
    this.#homeAt = { x: home[0], y: home[1] };
    return `^LH${home.join(',')}`;
  }
}

/** A coordinate for `^FO`. What begins beyond the left or upper edge begins at the edge, because `^FO` takes nothing less. */
function fromHome(place: number, home: number): number {
  return Math.max(0, place - home);
}
