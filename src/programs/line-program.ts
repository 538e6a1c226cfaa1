/**
 * Reads programs of languages whose commands are lines, EPL2 and TSPL. A label is all up to the command that prints it. The
 * rules are those of raw ZPL (`zpl/raw/rules.ts`): a program draws its labels and changes nothing else of a printer that
 * others share. What sets the printer up is left out, unless the tenant may send printer commands; all that is not known to
 * draw is refused by name.
 */
import { because, becauseOf, type Reason, type ReasonCode } from '../contract/reason.ts';
import {
  type LabelProgram,
  MOST_LABELS,
  ownName,
  ProgramFault,
  type ProgramLabel,
  type ProgramRules,
} from './program.ts';

/** A line, with the binary data that follows it. */
export interface LineCommand {
  readonly name: string;
  /** The line without its end. */
  readonly said: string;
  /** As it stands in the source. */
  readonly text: string;
  /** Bytes of its binary data. */
  readonly data: number;
  /** From 1. */
  readonly line: number;
}

type DoesCode = Extract<ReasonCode, `does-${string}`>;

/**
 * What becomes of a command:
 * - `draws`: it is the label's;
 * - `clears`: so is it, and what was drawn before is gone;
 * - `prints`: it ends the label;
 * - `lasts`: it is the label's, and holds for the next ones too;
 * - `sets`: it lasts and sets the printer up;
 * - `acts`: it does something besides, such as a beep;
 * - `void`: it is never sent.
 *
 * Set-up and acts are left out without the permission. `does`: refused without it. `never`: refused.
 */
export type Ruling =
  | 'draws'
  | 'clears'
  | 'lasts'
  | 'sets'
  | 'acts'
  | 'void'
  | { readonly prints: number }
  | { readonly does: DoesCode }
  | { readonly never: Reason }
  /** Stores something in the printer, under this name; `as` makes the commands for another name. */
  | { readonly stores: string; as(own: string): string }
  /** Deletes what has this name. */
  | { readonly deletes: string };

export interface LineLanguage {
  /** The commands of a source, each a line. @throws ProgramFault */
  commands(source: string): Iterable<LineCommand>;
  ruling(command: LineCommand): Ruling;
  /** Which of the commands that last it is: of one key the last counts. */
  key(command: LineCommand): string;
  /** Where in what the command says the name of a stored object stands; undefined: it names none. */
  reference(command: LineCommand): { readonly from: number; readonly to: number } | undefined;
  /** What a printer makes of a name. */
  stored(name: string): string;
  /** Prints a label so often. */
  print(copies: number): string;
}

/** The most commands of a program: each takes some two hundred bytes. */
const MOST_COMMANDS = 200_000;
/** Characters of a command that lasts. */
const SETTING = 256;
/** Objects are numbered with two digits of base 36. */
const MOST_DOWNLOADS = 36 ** 2;

/** @throws ProgramFault with the line */
export function readLineProgram(source: string, language: LineLanguage, rules: ProgramRules): LabelProgram {
  const ruled: { command: LineCommand; ruling: Ruling }[] = [];
  for (const command of language.commands(source)) {
    if (ruled.length >= MOST_COMMANDS)
      throw lineFault(command.line, because('program-commands-many', { most: MOST_COMMANDS }));
    ruled.push({ command, ruling: language.ruling(command) });
  }
  const stored = ruled.flatMap(({ ruling }) =>
    typeof ruling === 'object' && 'stores' in ruling ? [language.stored(ruling.stores)] : [],
  );
  const reader = new Reader(language, rules, new Set(stored));
  for (const { command, ruling } of ruled) reader.take(command, ruling);
  return reader.program();
}

export function lineFault(line: number, why: Reason): ProgramFault {
  return new ProgramFault(becauseOf('program-line', { line }, why));
}

class Reader {
  readonly #language: LineLanguage;
  readonly #rules: ProgramRules;
  readonly #labels: ProgramLabel[] = [];
  readonly #objects: OwnObjects;
  /** The names under which the program stores something. */
  readonly #stored: ReadonlySet<string>;
  /** The commands that last, by key, in the order in which they were given last. */
  readonly #lasting = new Map<string, string>();
  #open: string[] = [];
  #state = '';
  #cleared = false;
  #asked = 0;
  #largest = 0;

  constructor(language: LineLanguage, rules: ProgramRules, stored: ReadonlySet<string>) {
    this.#language = language;
    this.#rules = rules;
    this.#stored = stored;
    this.#objects = new OwnObjects(language, ownName(rules.jobId, 'G'));
  }

  /** @throws ProgramFault */
  take(command: LineCommand, ruling: Ruling): void {
    const { line, data } = command;
    this.#largest = Math.max(this.#largest, data);
    if (ruling === 'void') return;
    if (typeof ruling === 'string') {
      if ((ruling === 'sets' || ruling === 'acts') && !this.#rules.printerCommands) return;
      if (ruling === 'lasts' || ruling === 'sets') this.#last(command);
      this.#cleared ||= ruling === 'clears';
      this.#open.push(this.#objects.renamed(command));
    } else if ('prints' in ruling) this.#print(ruling.prints, command);
    else if ('stores' in ruling) this.#objects.store(ruling, line);
    else if ('deletes' in ruling) {
      // It is deleted anyway when the job is done.
      if (this.#stored.has(this.#language.stored(ruling.deletes))) return;
      if (!this.#rules.printerCommands) throw refused(command, 'does-delete');
      this.#open.push(command.text);
    } else if ('never' in ruling) throw lineFault(line, ruling.never);
    else if (this.#rules.printerCommands) this.#open.push(command.text);
    else throw refused(command, ruling.does);
  }

  /** @throws ProgramFault: there is no label */
  program(): LabelProgram {
    // What follows the last label would be for another one.
    if (this.#labels.length === 0) throw new ProgramFault(because('program-no-label', {}));
    const { downloads, names } = this.#objects;
    return { labels: this.#labels, downloads, objects: names, largest: this.#largest };
  }

  #last(command: LineCommand): void {
    if (command.text.length > SETTING)
      throw lineFault(command.line, because('program-long', { most: SETTING }));
    const key = this.#language.key(command);
    this.#lasting.delete(key);
    this.#lasting.set(key, command.text);
  }

  #print(quantity: number, { text, line }: LineCommand): void {
    // Each can be printed alone, and so draws all that is on it.
    if (!this.#cleared && this.#labels.length > 0) throw lineFault(line, because('program-uncleared', {}));
    this.#asked += quantity;
    if (this.#asked > MOST_LABELS)
      throw lineFault(line, because('program-labels-many', { most: MOST_LABELS }));
    const { print } = this.#language;
    const drawn = this.#open;
    this.#labels.push({
      quantity,
      state: this.#state,
      lasts: [...this.#lasting.keys()],
      setUp: '',
      text: (copies) => [...drawn, copies === 1 && quantity === 1 ? text : print(copies)].join(''),
    });
    this.#open = [];
    this.#cleared = false;
    this.#state = [...this.#lasting.values()].join('');
  }
}

function refused({ name, line }: LineCommand, does: DoesCode): ProgramFault {
  return lineFault(line, becauseOf('program-for-all', { command: name }, because(does, {})));
}

/**
 * What the program stores in the printer. A shared printer has one memory for all: under the program's own name an object
 * could replace another tenant's, so each gets a name of the job's own.
 */
class OwnObjects {
  readonly names: string[] = [];
  readonly #language: LineLanguage;
  readonly #prefix: string;
  readonly #texts: string[] = [];
  /** The own name, by what the printer makes of the program's. */
  readonly #own = new Map<string, string>();

  constructor(language: LineLanguage, prefix: string) {
    this.#language = language;
    this.#prefix = prefix;
  }

  get downloads(): string {
    return this.#texts.join('');
  }

  /** What is stored under a name again is another object. @throws ProgramFault */
  store({ stores, as }: Extract<Ruling, { stores: string }>, line: number): void {
    if (this.names.length >= MOST_DOWNLOADS)
      throw lineFault(line, because('program-downloads-many', { most: MOST_DOWNLOADS }));
    const number = this.names.length.toString(36).toUpperCase().padStart(2, '0');
    const [ending = ''] = /\.[A-Za-z]{3}$/.exec(stores) ?? [];
    const own = `${this.#prefix}${number}${ending}`;
    this.names.push(own);
    this.#texts.push(as(own));
    this.#own.set(this.#language.stored(stores), own);
  }

  /** The command with the job's own name in place of the program's. */
  renamed(command: LineCommand): string {
    const { text } = command;
    const place = this.#language.reference(command);
    if (place === undefined) return text;
    const own = this.#own.get(this.#language.stored(text.slice(place.from, place.to)));
    return own === undefined ? text : text.slice(0, place.from) + own + text.slice(place.to);
  }
}

/** A source's lines, one after the other, of which a language takes the binary data that follows. */
class Lines {
  readonly #source: string;
  #at = 0;
  #line = 0;

  constructor(source: string) {
    this.#source = source.startsWith('\xef\xbb\xbf') ? source.slice(3) : source;
  }

  get ended(): boolean {
    return this.#at >= this.#source.length;
  }

  /** From 1. */
  get number(): number {
    return this.#line;
  }

  /** The beginning of what comes next, so many characters at most. */
  ahead(most: number): string {
    return this.#source.slice(this.#at, this.#at + most);
  }

  /** Takes a head of this length, the data behind it, and the end of their line if there is one. @throws ProgramFault: there is less */
  data(head: number, length: number): string {
    const most = this.#at + head + length;
    if (most > this.#source.length) throw lineFault(this.#line, because('program-cut-off', {}));
    const [after = ''] = /^\r?\n/.exec(this.#source.slice(most, most + 2)) ?? [];
    const end = most + after.length;
    const text = this.#source.slice(this.#at, end);
    this.#at = end;
    return text;
  }

  /** Begins another line: what comes next. */
  begin(): void {
    this.#line++;
  }

  /** Takes the rest of the line, with its end. @throws ProgramFault: it has a control character */
  rest(): { said: string; text: string } {
    const found = this.#source.indexOf('\n', this.#at);
    const end = found < 0 ? this.#source.length : found + 1;
    const text = this.#source.slice(this.#at, end);
    const said = text.replace(/\r?\n$/, '');
    const control = said.search(CONTROL);
    if (control >= 0) {
      const code = said.charCodeAt(control).toString(16).toUpperCase().padStart(2, '0');
      throw lineFault(this.#line, because('program-control', { code }));
    }
    this.#at = end;
    // The printer carries out a line that has ended.
    return { said, text: found < 0 ? `${text}\r\n` : text };
  }
}

/**
 * Cuts a source into its commands. Each is a line, but a command of `heads` goes on with binary data behind its head.
 * @param heads by name, how these begin; the data has `size` bytes, or `height` rows of `stride` bytes
 * @param longest characters of the longest head
 * @param lineOf reads any other command
 */
export function* commandsIn(
  source: string,
  heads: Readonly<Record<string, RegExp>>,
  longest: number,
  lineOf: (line: ReturnType<Lines['rest']>) => Pick<LineCommand, 'name' | 'said' | 'text'>,
): Generator<LineCommand> {
  const lines = new Lines(source);
  while (!lines.ended) {
    lines.begin();
    const line = lines.number;
    yield { data: 0, ...(withData(lines, heads, longest) ?? lineOf(lines.rest())), line };
  }
}

function withData(
  lines: Lines,
  heads: Readonly<Record<string, RegExp>>,
  longest: number,
): Omit<LineCommand, 'line'> | undefined {
  const ahead = lines.ahead(longest);
  for (const [name, head] of Object.entries(heads)) {
    const found = head.exec(ahead);
    if (found === null) continue;
    const { 0: start, groups: { size, stride, height } = {} } = found;
    const data = Number(size ?? Number(stride) * Number(height));
    return { name, said: start.trimEnd(), text: lines.data(start.length, data), data };
  }
  return undefined;
}

/** The same ruling for all of these commands, whose names are separated by blanks. */
export function all<R extends Ruling>(names: string, ruling: R): Record<string, R> {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, ruling]),
  );
}

/** Where the first quoted text of a line stands; undefined: there is none, or it is empty. */
export function firstQuoted(text: string): { from: number; to: number } | undefined {
  const from = text.indexOf('"') + 1;
  const to = text.indexOf('"', from);
  return from > 0 && to > from ? { from, to } : undefined;
}

/** What is said of a line that nobody knows: no more of it, since it may be a label's text. */
export function firstWord(line: string): string {
  return /^\W?\w{0,12}/.exec(line)?.[0] ?? '';
}

/** How many labels a command asks for whose numbers were found; undefined: it is none, or asks for no label. */
export function quantityIn(found: RegExpExecArray | null): number | undefined {
  const quantity = found?.slice(1).reduce((product, number) => product * Number(number ?? 1), 1);
  return quantity === 0 ? undefined : quantity;
}

/** Whether a line is words, numbers and commas. */
export function isPlain(line: string): boolean {
  return /^[\w.,+ \t-]*$/.test(line);
}

/**
 * Beside its texts a drawn line is plain: an expression may read what comes next, of whomever, or what the printer knows.
 * @param escaped how a quote in a text begins; @param length of that
 * @returns what stands beside the texts
 * @throws ProgramFault also where what is text and what is not could be read in two ways
 */
export function besideTexts({ said, line }: LineCommand, escaped: string, length: number): string {
  const outside = outsideQuotes(said, escaped, length);
  if (!isPlain(outside)) throw lineFault(line, because('program-quotes', {}));
  return outside;
}

/** A line without its quoted texts. */
function outsideQuotes(line: string, escaped: string, length: number): string {
  let outside = '';
  let quoted = false;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (quoted && line.startsWith(escaped, at)) at += length - 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted) outside += character;
  }
  return quoted ? `${outside}"` : outside;
}

/** All but a tab: a printer may take any of them for the end of a line, or act on it. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
