/**
 * Inserts stored formats: `^XF` recalls one, and the recalling format's `^FN` give its fields their data.
 *
 * Source: ZPL II Programming Guide, ^DF, ^XF and ^FN.
 */
import { hexIndicator } from '../field-data.ts';
import { objectName } from '../names.ts';
import { text, whole } from '../parameters.ts';
import type { ZplCommand } from '../stream.ts';
import type { PrinterMemory } from './printer-memory.ts';

/** The most commands that stored formats may add to one label: a few bytes recall many. */
const MOST_RECALLED = 100_000;

/** The data of a `^FN` in the recalling format, and the indicator of its `^FH`. */
interface FieldValue {
  data: ZplCommand;
  hex: string | undefined;
}

/** Replaces `^XF` by the commands of stored formats, with the values of the recalling format's `^FN`. */
export function recall(
  commands: readonly ZplCommand[],
  memory: PrinterMemory,
  faults: string[],
): ZplCommand[] {
  const at = commands.findIndex((command) => command.name === 'XF');
  if (at < 0) return [...commands];
  const values = new Map<string, FieldValue>();
  const rest: ZplCommand[] = [];
  const stored: ZplCommand[] = [];
  let field: ZplCommand[] = [];
  const flush = () => {
    const number = field.find((command) => command.name === 'FN');
    const data = field.find((command) => command.name === 'FD' || command.name === 'FV');
    const hex = field.find((command) => command.name === 'FH');
    if (number && data) {
      values.set(fieldNumber(number), { data, hex: hex ? hexIndicator(text(hex)) : undefined });
    } else rest.push(...field);
    field = [];
  };
  for (const command of commands) {
    if (command.name === 'XF') {
      const name = objectName(text(command), 'ZPL');
      const object = memory.object(name);
      if (object?.kind !== 'format') faults.push(`stored format ${name} does not exist`);
      else if (stored.length + object.commands.length > MOST_RECALLED) {
        faults.push(`the stored formats of one label have more than ${MOST_RECALLED} commands`);
        break;
      } else for (const each of object.commands) stored.push(each);
      continue;
    }
    field.push(command);
    if (command.name === 'FS') flush();
  }
  flush();
  return [...fill(stored, values), ...rest];
}

function fieldNumber(command: ZplCommand): string {
  return String(whole(text(command), 0, 0, 9999));
}

function fill(stored: readonly ZplCommand[], values: ReadonlyMap<string, FieldValue>): ZplCommand[] {
  const filled: ZplCommand[] = [];
  let value: FieldValue | undefined;
  for (const command of stored) {
    if (command.name === 'FN') {
      value = values.get(fieldNumber(command));
      if (value) {
        const { hex, data } = value;
        if (hex) filled.push({ name: 'FH', params: Buffer.from(hex, 'latin1'), at: data.at });
        filled.push(data);
      }
      continue;
    }
    // A sent value replaces the stored data.
    if (value && (command.name === 'FD' || command.name === 'FV')) continue;
    if (command.name === 'FS') value = undefined;
    filled.push(command);
  }
  return filled;
}
