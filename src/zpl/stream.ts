/**
 * Cuts a byte stream into ZPL: formats (`^XA … ^XZ`), control commands (`~HS`) and SGD lines (`! U1 getvar "…"`).
 *
 * It works one byte at a time, so it does not matter where the network splits the stream. A control command is emitted as soon
 * as its last byte arrives, even inside a format, as on a printer ("immediate" commands). Binary data (`^GFB`, `^GFC`,
 * `~DY…,B`) is counted by its declared length, and never searched for prefixes.
 *
 * Memory and time are bounded: a format or download over the limit, or a format of very many commands, is read to its end and
 * reported as `discarded`.
 *
 * Source: ZPL II Programming Guide, "ZPL Commands", ^CC ^CD ^CT ^GF ~DY; SGD section for `! U1`.
 */
import { changesSyntax, DOWNLOADS, type SyntaxChange, USUAL_SYNTAX, words } from './commands.ts';

/** One command of a format: `^FO10,20` is `{name: 'FO', params: '10,20'}`; `^A0N,30` is `{name: 'A0', …}`. */
export interface ZplCommand {
  readonly name: string;
  readonly params: Buffer;
  /** Bytes of the stream before its prefix. */
  readonly at: number;
}

export interface ZplFormat {
  /** The bytes from `^XA` to `^XZ`, exactly as received. */
  readonly raw: Buffer;
  readonly commands: readonly ZplCommand[];
}

export type ZplEvent =
  | { kind: 'format'; format: ZplFormat }
  | { kind: 'control'; name: string; params: Buffer }
  | { kind: 'sgd'; verb: 'getvar' | 'setvar' | 'do'; variable: string; value: string }
  | { kind: 'discarded'; bytes: number };

/** The prefixes and the delimiter in force. They belong to the printer, not to a connection. */
export interface ZplSyntax {
  format: number;
  control: number;
  delimiter: number;
}

export function defaultSyntax(): ZplSyntax {
  const { CC, CT, CD } = USUAL_SYNTAX;
  return { format: CC.charCodeAt(0), control: CT.charCodeAt(0), delimiter: CD.charCodeAt(0) };
}

const COMMA = 0x2c;
const CR = 0x0d;
const LF = 0x0a;
const SGD_START = '! U1 ';
const SGD_LINE_LIMIT = 1024;
/** The most commands of a format. Each takes a hundred bytes, and a few microseconds to read. */
const MOST_COMMANDS = 100_000;

/** Control commands without parameters. They are complete with their second letter. */
const BARE_CONTROLS = words('HS HI HM HD HB JA JR JC JP JX PS PP PH WC EG RV PR JE JD JG JI JL KB HU WQ');
/** Control commands whose parameters have a fixed length. */
const FIXED_CONTROLS = new Map([
  ['HQ', 2],
  ['CC', 1],
  ['CD', 1],
  ['CT', 1],
  ['SD', 2],
]);
/** Control commands whose parameters go on to the next prefix. Line ends within them mean nothing. */
const LONG_CONTROLS = new Set([...Object.keys(DOWNLOADS), 'DE', 'DN']);
/** Control commands whose parameters end with the line, or at the next prefix. */
const LINE_CONTROLS = words('TA JB JF JN JO JQ JS NC NR NT PL PM RO');
/** Commands whose parameters are data, in which a changed delimiter is not a delimiter. */
const DATA_COMMANDS = words('FD FV FX');

class ByteBuffer {
  #bytes = Buffer.allocUnsafe(64);
  length = 0;

  push(byte: number): void {
    if (this.length === this.#bytes.length) {
      const grown = Buffer.allocUnsafe(this.length * 2);
      this.#bytes.copy(grown);
      this.#bytes = grown;
    }
    this.#bytes[this.length++] = byte;
  }

  clear(): void {
    this.length = 0;
    this.#bytes = Buffer.allocUnsafe(64);
  }

  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.length));
  }
}

function isAlphanumeric(byte: number): boolean {
  return /[A-Za-z0-9]/.test(String.fromCharCode(byte));
}

interface OpenCommand {
  readonly at: number;
  name: string;
  params: ByteBuffer;
  delimiters: number;
  binaryLeft: number;
}

function openCommand(at: number): OpenCommand {
  return { at, name: '', params: new ByteBuffer(), delimiters: 0, binaryLeft: 0 };
}

export class ZplStream {
  readonly #syntax: ZplSyntax;
  readonly #limit: number;
  readonly #emit: (event: ZplEvent) => void;
  /** Undefined outside a format. */
  #raw: ByteBuffer | undefined;
  #commands: ZplCommand[] = [];
  #command: OpenCommand | undefined;
  #control: OpenCommand | undefined;
  #line: string | undefined;
  #dropped = 0;
  /** How many bytes of the stream came before the current one. */
  #at = 0;

  /** `limit`: the most bytes that one format or download may have. */
  constructor(syntax: ZplSyntax, limit: number, emit: (event: ZplEvent) => void) {
    this.#syntax = syntax;
    this.#limit = limit;
    this.#emit = emit;
  }

  /** Bytes held for a format or control command that is not complete yet. */
  get held(): number {
    return (this.#raw?.length ?? 0) + (this.#control?.params.length ?? 0);
  }

  /** True between `^XA` and `^XZ`. */
  get partial(): boolean {
    return this.#raw !== undefined;
  }

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      this.#byte(byte);
      this.#at++;
    }
  }

  /** Forgets the format that is not complete (`~JX`, `~JA`, a connection that ended). */
  cancel(): void {
    this.#raw = undefined;
    this.#commands = [];
    this.#command = undefined;
    this.#control = undefined;
    this.#line = undefined;
    this.#dropped = 0;
  }

  #byte(byte: number): void {
    if (this.#raw) this.#keep(byte);
    if (this.#line !== undefined && this.#sgd(byte)) return;
    const binary = this.#control ?? this.#command;
    if (binary && binary.binaryLeft > 0) {
      binary.binaryLeft--;
      if (this.#dropped === 0 && binary.params.length < this.#limit) binary.params.push(byte);
      else this.#dropped++;
      if (binary.binaryLeft === 0 && binary === this.#control) this.#finishControl(binary);
      return;
    }
    if (this.#control && this.#controlByte(this.#control, byte)) return;
    if (this.#command && changesSyntax(this.#command.name)) {
      this.#change(this.#command.name, byte);
      this.#command = undefined;
      return;
    }
    if (byte === this.#syntax.control) this.#control = openCommand(this.#at);
    else if (byte === this.#syntax.format) {
      this.#finishCommand();
      this.#command = openCommand(this.#at);
    } else if (this.#command) this.#commandByte(this.#command, byte);
    else if (!this.#raw && byte === 0x21) this.#line = '!';
  }

  /** Keeps the raw bytes of the format, or throws the format away if there are too many. */
  #keep(byte: number): void {
    if (!this.#raw) return;
    if (this.#dropped > 0) this.#dropped++;
    else if (this.#raw.length < this.#limit) this.#raw.push(byte);
    else this.#drop(this.#raw);
  }

  /** Throws the format away. */
  #drop(raw: ByteBuffer): void {
    this.#dropped = raw.length + 1;
    raw.clear();
    this.#commands = [];
    // The header of a graphic stays, because it says how many bytes of binary data follow.
    const header = this.#command?.name === 'GF' && this.#command.delimiters < 4;
    if (!header) this.#command?.params.clear();
  }

  #commandByte(command: OpenCommand, byte: number): void {
    if (command.name.length < 2) {
      command.name += String.fromCharCode(byte).toUpperCase();
      if (command.name === 'XA') this.#startFormat();
      else if (command.name === 'XZ') this.#endFormat();
      return;
    }
    if (!this.#raw) {
      // Outside a format, commands mean nothing, and the end of a line ends them.
      if (byte === CR || byte === LF) this.#command = undefined;
      return;
    }
    this.#parameter(command, byte, 'GF', 4, 0, 1);
  }

  #startFormat(): void {
    this.#command = undefined;
    if (this.#raw) return;
    this.#raw = new ByteBuffer();
    this.#dropped = 0;
    for (const byte of [this.#syntax.format, 0x58, 0x41]) this.#raw.push(byte);
  }

  #endFormat(): void {
    this.#command = undefined;
    const raw = this.#raw;
    if (!raw) return;
    const commands = this.#commands;
    const dropped = this.#dropped;
    this.#raw = undefined;
    this.#commands = [];
    this.#dropped = 0;
    if (dropped > 0) this.#emit({ kind: 'discarded', bytes: dropped });
    else this.#emit({ kind: 'format', format: { raw: raw.copy(), commands } });
  }

  #finishCommand(): void {
    const command = this.#command;
    this.#command = undefined;
    if (!command || !this.#raw || this.#dropped > 0 || command.name.length < 2) return;
    const { at, name, params } = command;
    if (this.#commands.length < MOST_COMMANDS) this.#commands.push({ name, params: params.copy(), at });
    else this.#drop(this.#raw);
  }

  /**
   * Adds a parameter byte. If the `count`th delimiter of the command `name` has come, and the parameter at `mode` says binary
   * (B or C), the parameter at `size` is the number of raw bytes that follow.
   */
  #parameter(
    command: OpenCommand,
    byte: number,
    name: string,
    count: number,
    mode: number,
    size: number,
  ): void {
    const delimiter = byte === this.#syntax.delimiter && !DATA_COMMANDS.has(command.name);
    const header = command.name === name && command.delimiters < count;
    // A command that is thrown away keeps its header, because the header holds the length of the binary data.
    if (this.#dropped === 0 || (header && command.params.length < 256)) {
      command.params.push(delimiter ? COMMA : byte);
    }
    if (!delimiter) return;
    command.delimiters++;
    if (command.name !== name || command.delimiters !== count) return;
    const fields = command.params.copy().toString('latin1').split(',');
    const kind = fields[mode]?.trim().toUpperCase();
    if (kind === 'B' || kind === 'C') {
      const length = Number.parseInt(fields[size] ?? '', 10);
      command.binaryLeft = Number.isNaN(length) ? 0 : Math.min(Math.max(length, 0), 99_999_999);
    }
  }

  /** True when the byte belonged to the control command. */
  #controlByte(control: OpenCommand, byte: number): boolean {
    const prefix = byte === this.#syntax.format || byte === this.#syntax.control;
    if (control.name.length < 2) {
      if (prefix) {
        this.#control = undefined;
        return false;
      }
      // A ~ that no command follows is a plain character. Label designers write it as the escape of ^BX.
      if (control.name === '' && this.#command !== undefined && !isAlphanumeric(byte)) {
        this.#control = undefined;
        this.#commandByte(this.#command, this.#syntax.control);
        return false;
      }
      control.name += String.fromCharCode(byte).toUpperCase();
      const { name } = control;
      // A real printer also swallows unknown control commands. So a `~` in field data has to be escaped (^FH).
      const known = FIXED_CONTROLS.has(name) || LONG_CONTROLS.has(name) || LINE_CONTROLS.has(name);
      if (control.name.length === 2 && (BARE_CONTROLS.has(name) || !known)) this.#finishControl(control);
      return true;
    }
    const fixed = FIXED_CONTROLS.get(control.name);
    if (fixed !== undefined) {
      if (changesSyntax(control.name)) {
        this.#change(control.name, byte);
        this.#control = undefined;
        return true;
      }
      if (prefix) {
        this.#finishControl(control);
        return false;
      }
      control.params.push(byte);
      if (control.params.length === fixed) this.#finishControl(control);
      return true;
    }
    if (prefix) {
      this.#finishControl(control);
      return false;
    }
    const lineEnd = byte === CR || byte === LF;
    if (LINE_CONTROLS.has(control.name)) {
      if (lineEnd) this.#finishControl(control);
      else if (control.params.length < 64) control.params.push(byte);
      return true;
    }
    if (lineEnd) return true;
    if (control.params.length < this.#limit) this.#parameter(control, byte, 'DY', 5, 1, 3);
    else this.#dropped++;
    return true;
  }

  #finishControl(control: OpenCommand): void {
    this.#control = undefined;
    if (!this.#raw && this.#dropped > 0) {
      this.#emit({ kind: 'discarded', bytes: control.params.length + this.#dropped });
      this.#dropped = 0;
    } else this.#emit({ kind: 'control', name: control.name, params: control.params.copy() });
  }

  #change(name: SyntaxChange, byte: number): void {
    if (name === 'CC') this.#syntax.format = byte;
    else if (name === 'CT') this.#syntax.control = byte;
    else this.#syntax.delimiter = byte;
  }

  /** True when the byte belonged to an SGD line. */
  #sgd(byte: number): boolean {
    const line = this.#line ?? '';
    const end = byte === CR || byte === LF;
    const next = line + String.fromCharCode(byte);
    if (!end && next.length <= SGD_START.length && !SGD_START.startsWith(next)) {
      this.#line = undefined;
      return false;
    }
    const match = /^! U1 (getvar|setvar|do) "([^"]*)"(?: "([^"]*)")?$/.exec(line);
    // A command ends with the line, or with a space after its last argument.
    const complete = match && (end || (byte === 0x20 && (match[1] === 'getvar' || match[3] !== undefined)));
    if (complete) {
      this.#line = undefined;
      const verb = match[1] === 'getvar' ? 'getvar' : match[1] === 'setvar' ? 'setvar' : 'do';
      this.#emit({ kind: 'sgd', verb, variable: match[2] ?? '', value: match[3] ?? '' });
    } else this.#line = end || next.length > SGD_LINE_LIMIT ? undefined : next;
    return true;
  }
}
