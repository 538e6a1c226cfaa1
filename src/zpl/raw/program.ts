/**
 * Reads a raw ZPL program as labels, and handles what label designers and carriers write around them:
 *
 *     downloads (~DG, ~DY, ~DU)   → sent before the label, under names of the job's own, and deleted after it
 *     formats that print nothing  → their settings go to the beginning of the next label
 *     a format stored with ^DF    → put in place of the ^XF that recalls it
 *     set-up of the printer       → left out, and reported
 *
 * Anything else is refused with its line.
 */
import { LIMITS } from '../../contract/limits.ts';
import { because, type Reason } from '../../contract/reason.ts';
import { DOWNLOADS, isDownload, PRINTS, words } from '../commands.ts';
import { GraphicError, GraphicTooLarge } from '../graphic-data.ts';
import { downloadedGraphic, GraphicRoom, graphicField } from '../interpreter/graphic-field.ts';
import { objectName } from '../names.ts';
import { recall } from '../recall.ts';
import { MOST_COMMANDS, type RawCommand, rawCommands, rawFault, tooManyCommands } from './commands.ts';
import { ruling } from './rules.ts';

/** An object that the program downloads. */
interface Download {
  /** The command as it is sent, with the name that the object has in the printer. */
  readonly text: string;
  /**
   * The object's name, as in `R:G0A1B200.GRF`. It is deleted after the job. Undefined: the tenant may leave it in the printer.
   */
  readonly object: string | undefined;
}

export interface LeftOut {
  readonly code: string;
  readonly line: number;
  readonly reason: Reason;
}

interface RawLabel {
  /** The commands of the formats that print nothing, since the label before. */
  readonly before: readonly RawCommand[];
  /** The format, from its ^XA to its ^XZ. */
  readonly commands: readonly RawCommand[];
}

interface RawLabels {
  readonly downloads: readonly Download[];
  readonly labels: readonly RawLabel[];
  readonly leftOut: readonly LeftOut[];
  /** The room that the downloads leave for the graphics of a label. */
  readonly room: GraphicRoom;
}

interface RawProgram extends Omit<RawLabels, 'labels' | 'room'> {
  /** The one format, from its ^XA to its ^XZ. */
  readonly label: readonly RawCommand[];
}

interface ProgramOptions {
  /** Six characters that no other job's objects begin with. */
  readonly prefix: string;
  /** Whether the tenant may send commands that set the printer up. */
  readonly printerCommands: boolean;
}

/** The extensions of ~DY for pictures and fonts. Its other extensions, for set-up, pages and certificates, are refused. */
const OBJECTS_OF_DY: Readonly<Record<string, string>> = {
  B: 'BMP',
  E: 'TTE',
  G: 'GRF',
  P: 'PNG',
  T: 'TTF',
  X: 'PCX',
};
/** Commands that name a stored object: the parameter's index, and the default extension. */
const REFERENCES: Readonly<Record<string, readonly [parameter: number, extension: string]>> = {
  '^XG': [0, 'GRF'],
  '^IM': [0, 'GRF'],
  '^IL': [0, 'GRF'],
  '^A@': [3, 'FNT'],
  '^CW': [1, 'FNT'],
};
/** Commands that print as well as `PRINTS`, with data or a format from elsewhere. */
const PRINTS_LATER = words('FN SF GS XF');
/** The most bytes that all graphics of a program may unpack to. 4 × 12 inches at 24 dots/mm take a quarter of that. */
const MOST_UNPACKED = 8 * 1024 * 1024;
/** The byte order mark of UTF-8, as a character or as bytes; and DLE, with which ZebraDesigner begins. */
const LEAD = /^(?:\ufeff|\xef\xbb\xbf)?\x10?/;
/** Downloads are numbered with two digits of base 36. */
const MOST_DOWNLOADS = 36 ** 2;

type Format = readonly RawCommand[];

/** Reads a program that is one label. @throws JobFaultError `template-invalid`, with the line */
export function readProgram(source: string, options: ProgramOptions): RawProgram {
  const { labels, room, ...program } = readLabels(source, options, 1);
  const { before = [], commands: [begin, ...rest] = [] } = labels[0] ?? {};
  if (begin === undefined) throw rawFault(because('zpl-no-label', {}));
  const label = [begin, ...before, ...rest];
  requireRoom(label, room);
  return { ...program, label };
}

/**
 * Reads the labels of a program. Each format that prints is a label; there is at least one.
 * @param most how many labels the program may have
 * @throws JobFaultError `template-invalid`, with the line
 */
export function readLabels(source: string, options: ProgramOptions, most: number): RawLabels {
  const { lead, commands } = rawCommands(source.replace(LEAD, ''));
  // Label designers begin with `CT~~CD,~CC^~CT~`. Its first CT has no prefix, and so no effect.
  requireBlank(lead.replace(/^\s*CT/, ''), 1);
  const { formats, downloads } = formatsOf(commands);
  const objects = new OwnObjects(downloads, options);
  const stored = new StoredFormats(formats);
  const labels: RawLabel[] = [];
  const leftOut = new Map<string, LeftOut>();
  let before: RawCommand[] = [];
  let recalled = 0;

  const begun = formats.filter(([first]) => first?.code === '^XA');
  const last = formats.findLast(prints) ?? (begun.length === 1 ? begun[0] : undefined);
  for (const format of formats.filter((one) => !stored.has(one))) {
    const setUp = format !== last && !prints(format);
    if (labels.length >= most && !setUp) {
      const [first] = format;
      const reason = most === 1 ? because('zpl-second-label', {}) : because('zpl-labels-many', { most });
      throw rawFault(reason, first?.line);
    }
    const whole = stored.recalledIn(format);
    recalled += whole.length;
    if (recalled > MOST_COMMANDS) throw tooManyCommands(format[0]?.line);
    const kept = whole.flatMap((command): RawCommand[] => {
      if (objects.deletes(command)) return [];
      const ruled = ruling(command, setUp, options.printerCommands);
      if (ruled.keep) return [objects.renamed(command)];
      const { code, line } = command;
      if (!leftOut.has(code)) leftOut.set(code, { code, line, reason: ruled.reason });
      return [];
    });
    // Settings in a format after the last label would be for another label, so they are dropped.
    if (setUp) for (const command of kept) if (!/^\^X[AZ]$/.test(command.code)) before.push(command);
    if (!setUp) {
      labels.push({ before, commands: kept });
      before = [];
    }
  }
  if (labels.length === 0) throw rawFault(because('zpl-no-label', {}));
  stored.requireUsed();
  const room = requireRoom(downloads);
  return { downloads: objects.downloads, labels, leftOut: [...leftOut.values()], room };
}

/**
 * Refuses graphics that unpack to more than a printer, or the rasteriser, should hold.
 * @throws JobFaultError `template-invalid`
 */
export function requireRoom(
  commands: readonly RawCommand[],
  room: GraphicRoom = new GraphicRoom(8 * MOST_UNPACKED),
): GraphicRoom {
  for (const { code, params, line } of commands) {
    try {
      const data = Buffer.from(params, 'latin1');
      if (code === '^GF') graphicField(data, room);
      else if (code.startsWith('~')) downloadedGraphic(code.slice(1), data, room);
    } catch (error) {
      if (error instanceof GraphicTooLarge)
        throw rawFault(because('zpl-graphics-large', { most: MOST_UNPACKED / 1024 / 1024 }), line);
      // Other faults of a graphic show when it is drawn.
      if (!(error instanceof GraphicError)) throw error;
    }
  }
  return room;
}

/** The commands that delete downloaded objects, for use inside a format. */
export function deletionsOf(objects: Iterable<string>): string {
  return [...objects].map((object) => `^ID${object}^FS`).join('');
}

function printing({ code }: RawCommand): boolean {
  const name = code.slice(1);
  return code.startsWith('^') && (PRINTS.has(name) || PRINTS_LATER.has(name));
}

function prints(format: Format): boolean {
  return format.some(printing) && storing(format) === undefined;
}

function storing(format: Format): RawCommand | undefined {
  return format.find(({ code }) => code === '^DF');
}

function requireBlank(text: string, line: number): void {
  if (text.trim() !== '') throw rawFault(because('zpl-text-outside', {}), line);
}

/**
 * Splits the commands into formats. Only downloads, `~` commands, ^CI and commands without effect may stand outside of them.
 */
function formatsOf(commands: readonly RawCommand[]): { formats: Format[]; downloads: RawCommand[] } {
  const formats: Format[] = [];
  const downloads: RawCommand[] = [];
  let open: RawCommand[] | undefined;
  let before: RawCommand[] = [];
  for (const command of commands) {
    const { code, line } = command;
    if (code.startsWith('~') && isDownload(code.slice(1))) downloads.push(command);
    else if (code === '^XA') {
      if (open?.some(printing)) {
        throw rawFault(because('zpl-label-in-label', {}), line);
      }
      // A second ^XA, before anything is printed, only continues the format.
      open ??= [command, ...before];
      before = [];
    } else if (open !== undefined) {
      open.push(command);
      if (code !== '^XZ') continue;
      formats.push(open);
      open = undefined;
      requireBlank(command.params, line);
    } else if (code === '^CI') before.push(command);
    else if (code.startsWith('~') && code.length > 2) formats.push([command]);
    else if (code.startsWith('^') && !/^\^(?:FX|FS|XZ)$/.test(code)) {
      throw rawFault(because('zpl-outside', { command: code }), line);
    }
  }
  if (open !== undefined) throw rawFault(because('zpl-no-end', {}), open[0]?.line);
  return { formats, downloads };
}

/**
 * The formats that the program stores with ^DF. Each is put in place of the ^XF that recalls it, so the printer stores none.
 */
class StoredFormats {
  readonly #formats = new Map<string, { format: Format; line: number; used: boolean }>();
  readonly #stored = new Set<Format>();

  constructor(formats: readonly Format[]) {
    for (const format of formats) {
      const store = storing(format);
      if (store === undefined) continue;
      this.#stored.add(format);
      const commands = format.filter(({ code }) => !/^\^(?:XA|XZ|DF)$/.test(code));
      this.#formats.set(objectName(store.params, 'ZPL'), { format: commands, line: store.line, used: false });
    }
  }

  has(format: Format): boolean {
    return this.#stored.has(format);
  }

  /** @throws JobFaultError `template-invalid`: the program stores a format that it does not recall itself */
  requireUsed(): void {
    for (const { used, line } of this.#formats.values()) {
      if (!used) throw rawFault(because('zpl-stored-unused', {}), line);
    }
  }

  /** The format with each ^XF replaced by the stored format's commands, and its ^FN data in their fields. */
  recalledIn(format: Format): Format {
    const filled = recall(format, {
      name: ({ code }) => code.replace('^', ''),
      params: ({ params }) => params,
      stored: ({ params }) => {
        const stored = this.#formats.get(objectName(params, 'ZPL'));
        if (stored !== undefined) stored.used = true;
        return stored?.format;
      },
      tooMany: ({ line }) => {
        throw tooLong(line);
      },
    });
    // A few bytes of ^XF can recall a large format many times.
    if (filled.reduce((sum, { text }) => sum + text.length, 0) > LIMITS.filledSource)
      throw tooLong(format[0]?.line);
    return filled;
  }
}

function tooLong(line: number | undefined): Error {
  return rawFault(because('zpl-recalled-long', {}), line);
}

/**
 * Renames the graphics and fonts that the program downloads. A shared printer has one memory for all tenants. Under the
 * template's own name an object could replace another tenant's, so each object gets a name of the job's own.
 */
class OwnObjects {
  readonly downloads: Download[] = [];
  readonly #names = new Map<string, string>();

  /** @throws JobFaultError `template-invalid` */
  constructor(downloads: readonly RawCommand[], { prefix, printerCommands }: ProgramOptions) {
    for (const { code, params, text, line } of downloads) {
      const [name = '', ...rest] = params.split(',', 3);
      const object = objectName(name, this.#extension(code, rest, line));
      if (!/^[A-Z]:[^*?]+\.[A-Z0-9]{1,3}$/.test(object))
        throw rawFault(because('zpl-object-unnamed', { command: code }), line);
      if (!object.startsWith('R:')) {
        if (!printerCommands) throw commonMemory(code, object, line);
        this.downloads.push({ text, object: undefined });
        continue;
      }
      const count = this.#names.size.toString(36).toUpperCase().padStart(2, '0');
      if (count.length > 2) throw rawFault(because('zpl-downloads-many', { most: MOST_DOWNLOADS }), line);
      const own = this.#names.get(object) ?? `R:${prefix}${count}${object.slice(object.lastIndexOf('.'))}`;
      this.#names.set(object, own);
      this.downloads.push({ text: `${code}${own}${params.slice(name.length).trimEnd()}`, object: own });
    }
  }

  #extension(code: string, [kind = '', extension = '']: readonly string[], line: number): string {
    const name = code.slice(1);
    const fixed = isDownload(name) ? DOWNLOADS[name] : undefined;
    if (fixed !== undefined) return fixed;
    const known = OBJECTS_OF_DY[extension.trim().toUpperCase()];
    if (known === undefined) throw rawFault(because('zpl-object-kind', {}), line);
    // A printer counts binary data by its length, even over the commands behind it. And a template is text.
    if (!/^[AP]$/i.test(kind.trim())) throw rawFault(because('zpl-object-data', {}), line);
    return known;
  }

  /** The command with the job's own name in place of the template's. */
  renamed(command: RawCommand): RawCommand {
    const reference = REFERENCES[command.code];
    if (reference === undefined) return command;
    const [index, extension] = reference;
    const params = command.params.split(',');
    const own = this.#names.get(objectName(params[index] ?? '', extension));
    if (own === undefined) return command;
    const named = params.with(index, own).join(',');
    return { ...command, params: named, text: command.text.slice(0, command.code.length) + named };
  }

  /** Whether a command is an ^ID of a downloaded object. It is left out, because the object is deleted when the job is done. */
  deletes({ code, params }: RawCommand): boolean {
    return code === '^ID' && this.#names.has(objectName(params, 'GRF'));
  }
}

function commonMemory(code: string, object: string, line: number): Error {
  return rawFault(because('zpl-common-memory', { command: code, object }), line);
}
