/**
 * Puts each stored format in place of the `^XF` that recalls it, and the data of the recalling format's `^FN` into the stored
 * format's fields.
 *
 * Source: ZPL II Programming Guide, ^DF, ^XF and ^FN.
 */
import { isBarcode, isFont, PRINTS } from './commands.ts';
import { whole } from './parameters.ts';

/** The most commands that stored formats may add to one label, because a few bytes recall many. */
export const MOST_RECALLED = 30_000;

interface Recalling<Command> {
  /** A command's name without prefix. */
  readonly name: (command: Command) => string;
  readonly params: (command: Command) => string;
  /** The format that an `^XF` recalls; undefined: the `^XF` stays as it is. */
  readonly stored: (command: Command) => readonly Command[] | undefined;
  /** Called for the `^XF` that exceeds `MOST_RECALLED`. If it returns, the rest of the format is left out. */
  readonly tooMany: (command: Command) => void;
}

/**
 * The format with the formats that it recalls. Commands before an `^XF` stay before the recalled format, and so apply to it.
 */
export function recall<Command>(
  format: readonly Command[],
  { name, params, stored, tooMany }: Recalling<Command>,
): readonly Command[] {
  const recalled = format.map((command) => (name(command) === 'XF' ? stored(command) : undefined));
  const first = recalled.findIndex((commands) => commands !== undefined);
  if (first < 0) return format;
  const number = (command: Command) => whole(params(command), 0, 0, 9999);
  const values = new Map<number, Command[]>();
  // The fields that sent data goes into are recalled before the data's ^CI comes. So that ^CI moves to the front of them.
  const encodings: Command[] = [];
  const parts: (readonly Command[])[] = [];
  let field: Command[] = [];
  let length = 0;
  const endField = () => {
    const numbered = field.find((command) => name(command) === 'FN');
    const value = field.filter((command) => isData(name(command)) || name(command) === 'FH');
    if (numbered !== undefined && value.some((command) => isData(name(command)))) {
      values.set(number(numbered), value);
      for (const command of field) if (name(command) === 'CI') encodings.push(command);
      parts.push(field.filter((command) => name(command) !== 'CI' && !isOfField(name(command))));
    } else parts.push(field);
    field = [];
  };
  for (const [at, command] of format.entries()) {
    const commands = recalled[at];
    if (commands === undefined) {
      field.push(command);
      if (name(command) === 'FS') endField();
      continue;
    }
    endField();
    length += commands.length;
    if (length > MOST_RECALLED) {
      tooMany(command);
      break;
    }
    if (at === first) parts.push(encodings);
    parts.push(commands);
  }
  endField();

  let filled = false;
  return parts.flat().flatMap((command): readonly Command[] => {
    const value = name(command) === 'FN' ? values.get(number(command)) : undefined;
    if (value !== undefined) {
      filled = true;
      return value;
    }
    if (name(command) === 'FS') filled = false;
    // A sent value replaces the stored data.
    return filled && isData(name(command)) ? [] : [command];
  });
}

function isData(name: string): boolean {
  return name === 'FD' || name === 'FV';
}

/** Whether a command only describes or prints its own field. Such a command has no effect in a field that sends a value. */
function isOfField(name: string): boolean {
  return PRINTS.has(name) || isFont(name) || isBarcode(name) || /^(?:F[^W]|TB)$/.test(name);
}
