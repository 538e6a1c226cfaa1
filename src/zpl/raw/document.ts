/**
 * Reads a ZPL document: a program that others have made, for labels that are printed as they stand. The rules are those of raw
 * templates (`rules.ts`, `program.ts`), but a document may have several labels, and no value is filled in.
 *
 * Source: ZPL II Programming Guide, ^PQ, ^CI and the persistence notes of each setting command.
 */
import { because } from '../../contract/reason.ts';
import {
  type LabelProgram,
  MOST_LABELS,
  ownName,
  type ProgramLabel,
  type ProgramRules,
} from '../../programs/program.ts';
import { words } from '../commands.ts';
import { lastingValue } from '../interpreter/printer-memory.ts';
import { hexGraphics } from './binary-graphics.ts';
import { type RawCommand, rawFault } from './commands.ts';
import { readLabels, requireRoom } from './program.ts';
import { withoutPause } from './template.ts';

/** Settings that are still in force when the next format begins. */
const LASTING = words('MU CI CF BY FW LH LL LR LS LT PA PM PO PW CV CW');
/** The most characters of a setting's parameters. A printer reads no more either. */
const SETTING = 256;
/** Encodings of single bytes, and UTF-8. In other encodings a byte of a character may look like the prefix of a command. */
const ENCODING = /^\s*(?:(?:\d|1[0-3]|27|28|3[1-6])\s*)?(?:,|$)/;

/**
 * Reads a document's labels. Their state and set-up are for use inside a format.
 * @param bytes of the file
 * @throws JobFaultError `template-invalid`, with the line
 */
export function readZplDocument(bytes: Uint8Array, { jobId, printerCommands }: ProgramRules): LabelProgram {
  const prefix = ownName(jobId, 'G');
  const source = hexGraphics(Buffer.from(bytes).toString('latin1'));
  const { labels, downloads } = readLabels(source, { prefix, printerCommands }, MOST_LABELS);
  const state = new State();
  const read = labels.map(({ before, commands }) => {
    const setUp = before.filter((command) => !state.set(command));
    const label = labelOf(commands, state.text, textOf(setUp));
    for (const command of commands) state.set(command);
    return label;
  });
  const asked = read.reduce((sum, { quantity }) => sum + quantity, 0);
  if (asked > MOST_LABELS) throw rawFault(because('zpl-labels-many', { most: MOST_LABELS }));
  return {
    labels: read,
    downloads: downloads.map(({ text }) => text).join(''),
    objects: downloads.flatMap(({ object }) => object ?? []),
    largest: 0,
  };
}

function labelOf(commands: readonly RawCommand[], state: string, setUp: string): ProgramLabel {
  for (const command of commands) requirePrintable(command);
  const params = commands.findLast(({ code }) => code === '^PQ')?.params ?? '';
  const quantity = Math.max(1, Number.parseInt(params, 10) || 1);
  const rest = withoutPause(params);
  const asSent = quantity === 1 && rest === params.trim().replace(/^[^,]*/, '');
  return {
    quantity,
    state,
    // Nothing has to be undone after a label, because each begins with everything that one before it could have set.
    lasts: [],
    setUp,
    text: (copies) => {
      requireRoom(commands);
      if (copies === 1 && asSent) return textOf(commands);
      return commands
        .map(({ code, text }) => {
          if (code === '^PQ') return '';
          return code === '^XZ' ? `^PQ${copies}${rest}${text}` : text;
        })
        .join('');
    },
  };
}

/** @throws JobFaultError `template-invalid` */
function requirePrintable({ code, params, line }: RawCommand): void {
  // A format that the printer has stored may be another tenant's.
  if (code === '^XF') {
    throw rawFault(because('zpl-recalls-other', { object: params.trim().slice(0, 40) }), line);
  }
  if (code === '^CI' && !ENCODING.test(params)) throw rawFault(because('zpl-encoding-bytes', {}), line);
}

function textOf(commands: readonly RawCommand[]): string {
  return commands.map(({ text }) => text).join('');
}

/** The settings that the formats so far have made, each once. */
class State {
  /** Measures are in the unit that was in force when the setting was made. */
  readonly #settings = new Map<string, { params: string; unit: string }>();

  /** Takes a setting. Returns false if the command is none. */
  set({ code, params: all }: RawCommand): boolean {
    const name = code.slice(1);
    if (!code.startsWith('^') || !LASTING.has(name)) return false;
    const params = all.trim().slice(0, SETTING);
    const key = name === 'CW' ? `${name}${params.charAt(0)}` : name;
    const value = lastingValue(name, this.#settings.get(key)?.params, params);
    this.#settings.set(key, { params: value, unit: this.#unit });
    return true;
  }

  get #unit(): string {
    return this.#settings.get('MU')?.params ?? 'D';
  }

  /** The commands that make these settings in a printer that was just switched on. */
  get text(): string {
    let text = '';
    let unit = 'D';
    for (const [key, setting] of this.#settings) {
      if (key === 'MU') continue;
      if (setting.unit !== unit) text += `^MU${setting.unit}`;
      unit = setting.unit;
      text += `^${key.slice(0, 2)}${setting.params}`;
    }
    return this.#unit === unit ? text : `${text}^MU${this.#unit}`;
  }
}
