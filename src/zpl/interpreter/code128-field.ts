/**
 * Rewrites the data of a `^BC` in mode N for the rasteriser, because the rasteriser loses a single last character, and does not
 * change to code set C in the middle of a symbol.
 *
 * Source: ZPL II Programming Guide, "^BC – Code 128 Bar Code (Subsets A, B, and C)".
 */
import { CODE_SET_CHANGES, CODE_SET_STARTS, type CodeSet } from '../bars.ts';
import { fieldBytes, plainField } from '../field-data.ts';
import { GraphicError } from '../graphic-data.ts';

/** Characters that an invocation stands for. */
const CHARACTERS: Readonly<Record<string, string>> = { '<': '^', 0: '>', '=': '~', 1: '\x7f' };
/** Stands for FNC1; the data has no such character. */
const FNC1 = '\u0100';
/** The rasteriser skips this at the end of data, and then draws the character before it. */
const SKIPPED = '>:';

/**
 * @param command name and parameters of the barcode
 * @param data of `^FD`, with the indicator of its `^FH`
 * @returns both, in a form that the rasteriser draws
 * @throws GraphicError the rasteriser cannot draw them
 */
export function code128Field(
  command: string,
  name: string,
  data: Buffer,
  hex: string | undefined,
): { command: string; field: string } {
  const parameters = command.split(',');
  if (/[ADU]/i.test(parameters[5] ?? '')) return { command, field: plainField(name, data, hex) };
  const text = fieldBytes(data, hex);
  const field = (content: string) => plainField(name, Buffer.from(content, 'latin1'), undefined);
  const content = changesToC(text);
  if (content === undefined) return { command, field: field(text === '' ? '' : text + SKIPPED) };
  // In modes A and D the rasteriser chooses the code sets itself. In mode D it begins with FNC1, and drops brackets and blanks.
  const [first, ...rest] = content.split(FNC1);
  if (rest.length > 0 && (first !== '' || /[()\s>]/.test(content)))
    throw new GraphicError('^BC is not drawn with this data in code set C');
  const mode = rest.length === 0 ? 'A' : 'D';
  const set = Array.from({ length: 5 }, (_, at) => parameters[at] ?? '');
  return { command: [...set, mode].join(','), field: field(rest.length === 0 ? content : rest.join('>8')) };
}

/**
 * What the barcode holds, if it changes to code set C after its start; undefined: it does not.
 * @throws GraphicError the data has more than characters and FNC1
 */
function changesToC(text: string): string | undefined {
  let set: CodeSet = 'B';
  let content = '';
  let changes = false;
  let beyond = false;
  for (let at = 0; at < text.length; ) {
    const [char = '', next = ''] = text.slice(at, at + 2);
    if (char === '>' && next !== '') {
      const to = (at === 0 ? CODE_SET_STARTS : CODE_SET_CHANGES)[next];
      if (to === 'C' && set !== 'C' && at > 0) changes = true;
      if (to === set && at > 0) beyond = true;
      if (next === '8') content += FNC1;
      else if (to !== undefined) set = to;
      else if (!(next in CODE_SET_STARTS)) {
        if (CHARACTERS[next] === undefined) beyond = true;
        content += CHARACTERS[next] ?? '';
      }
      at += 2;
    } else if (set === 'B') {
      content += char;
      at += 1;
    } else {
      const pair = /^\d\d/.exec(text.slice(at, at + 2))?.[0];
      if (pair !== undefined) content += set === 'C' ? pair : inSetA(Number(pair));
      // What is no pair of digits is ignored: a character that is no digit, and a digit with such a character behind it.
      at += pair !== undefined || /\d/.test(char) ? 2 : 1;
    }
  }
  if (!changes) return undefined;
  if (beyond) throw new GraphicError('^BC is not drawn with this data in code set C');
  return content;
}

function inSetA(value: number): string {
  return value < 64 ? String.fromCharCode(value + 32) : String.fromCharCode(value - 64);
}
