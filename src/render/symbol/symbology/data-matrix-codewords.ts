/**
 * Data Matrix, high-level encodation (ISO/IEC 16022:2006, 5.2 and annex P): from characters to codewords.
 *
 * Platen has an encoder of its own, because the codewords determine the symbol's size, and the size is checked for every record
 * of a job before the first label. This takes microseconds; a general encoder takes a hundred times as long. The encoder makes
 * the same choices as BWIPP (bwip-js), codeword for codeword, so that a label does not depend on the encoder. That is why the
 * look-ahead rounds up, and adds in single precision, as BWIPP does.
 */
import { FNC1 } from '../code128.ts';

const ASCII = 0;
const C40 = 1;
const TEXT = 2;
const X12 = 3;
const EDIFACT = 4;
const BASE256 = 5;
type Mode = 0 | 1 | 2 | 3 | 4 | 5;
type TripleMode = 1 | 2 | 3;

const FNC1_CODEWORD = 232;
const UPPER_SHIFT = 235;
const DIGIT_PAIRS = 130;
const PAD = 129;
/** Codewords that change from ASCII to each mode. */
const LATCH: Readonly<Record<Exclude<Mode, 0>, number>> = {
  [C40]: 230,
  [TEXT]: 239,
  [X12]: 238,
  [EDIFACT]: 240,
  [BASE256]: 231,
};
/** Changes back to ASCII from C40, Text and X12. */
const UNLATCH = 254;
const EDIFACT_UNLATCH = 31;
/** The value that shifts C40 and Text to their first shift set. */
const SHIFT_1 = 0;

/** Bits of `CLASSES`, whose index is the character + 1, so that FNC1 (-1) is the first. */
const DIGIT = 1;
const IN_C40 = 2;
const IN_TEXT = 4;
const IN_X12 = 8;
const IN_EDIFACT = 16;
const EXTENDED = 32;
const ENDS_X12 = 64;
const FUNCTION = 128;

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57;
}

const CLASSES = Uint8Array.from({ length: 257 }, (_, index) => {
  const char = index - 1;
  if (char === FNC1) return FUNCTION;
  const ends = char === 13 || char === 42 || char === 62;
  const upper = char >= 65 && char <= 90;
  const lower = char >= 97 && char <= 122;
  const plain = isDigit(char) || char === 32;
  return (
    (isDigit(char) ? DIGIT : 0) |
    (plain || upper ? IN_C40 : 0) |
    (plain || lower ? IN_TEXT : 0) |
    (plain || upper || ends ? IN_X12 : 0) |
    (char >= 32 && char <= 94 ? IN_EDIFACT : 0) |
    (char > 127 ? EXTENDED : 0) |
    (ends ? ENDS_X12 : 0)
  );
});

function classOf(char: number | undefined): number {
  return CLASSES[(char ?? 0) + 1] ?? 0;
}

/** Values of a character in C40 or Text (tables 5 and 6). Text has small letters where C40 has capitals. */
function c40Values(char: number, text: boolean): readonly number[] {
  if (char === FNC1) return [1, 27];
  if (char > 127) return [1, 30, ...c40Values(char - 128, text)];
  if (char === 32) return [3];
  if (isDigit(char)) return [char - 44];
  const [first, last] = text ? [97, 122] : [65, 90];
  if (char >= first && char <= last) return [char - first + 14];
  if (char < 32) return [SHIFT_1, char];
  if (char < 48) return [1, char - 33];
  if (char < 65) return [1, char - 43];
  if (char >= 91 && char <= 95) return [1, char - 69];
  return [2, char > 95 ? char - 96 : char - 64];
}

/** Values of a character in X12 (table 7); undefined: X12 does not have it. */
function x12Values(char: number): readonly number[] | undefined {
  if ((classOf(char) & IN_X12) === 0) return undefined;
  const ends = [13, 42, 62].indexOf(char);
  return [ends >= 0 ? ends : char === 32 ? 3 : isDigit(char) ? char - 44 : char - 51];
}

const CHARACTERS = Array.from({ length: 257 }, (_, index) => index - 1);
const VALUES: Readonly<Record<TripleMode, readonly (readonly number[] | undefined)[]>> = {
  [C40]: CHARACTERS.map((char) => c40Values(char, false)),
  [TEXT]: CHARACTERS.map((char) => c40Values(char, true)),
  [X12]: CHARACTERS.map(x12Values),
};

function valuesOf(mode: TripleMode, char: number | undefined): readonly number[] | undefined {
  return VALUES[mode][(char ?? 0) + 1];
}

/** Whether an X12 terminator comes before the next character that X12 does not have. */
function terminates(message: readonly number[], from: number): boolean {
  for (let at = from; at < message.length; at++) {
    const its = classOf(message[at]);
    if ((its & ENDS_X12) !== 0) return true;
    if ((its & IN_X12) === 0) return false;
  }
  return false;
}

/** Rounds the codewords that a mode has cost so far (annex P): thirds are added up in single precision. */
const single = Math.fround;

/** The mode for the characters that follow (annex P). */
function lookAhead(message: readonly number[], from: number, mode: Mode): Mode {
  const start = mode === ASCII ? 1 : 2;
  let ascii = mode === ASCII ? 0 : 1;
  let c40 = mode === C40 ? 0 : start;
  let text = mode === TEXT ? 0 : start;
  let x12 = mode === X12 ? 0 : start;
  let edifact = mode === EDIFACT ? 0 : start;
  let base256 = mode === BASE256 ? 0 : start + 0.25;
  // FNC1 is not a byte, so Base 256 cannot hold it.
  const bytes = message[from] === FNC1 ? ASCII : BASE256;
  for (let at = from; at < message.length; at++) {
    const its = classOf(message[at]);
    const extended = (its & EXTENDED) !== 0;
    if ((its & DIGIT) !== 0) ascii += 0.5;
    else ascii = Math.ceil(ascii) + (extended ? 2 : 1);
    c40 = single(c40 + ((its & IN_C40) !== 0 ? 0.6666667 : extended ? 2.6666667 : 1.3333334));
    text = single(text + ((its & IN_TEXT) !== 0 ? 0.6666667 : extended ? 2.6666667 : 1.3333334));
    x12 = single(x12 + ((its & IN_X12) !== 0 ? 0.6666667 : extended ? 4.3333334 : 3.3333334));
    edifact += (its & IN_EDIFACT) !== 0 ? 0.75 : extended ? 4.25 : 3.25;
    base256 += (its & FUNCTION) !== 0 ? 4 : 1;
    if (at - from < 4) continue;
    const least = Math.min(c40, text, x12, edifact);
    if (ascii + 1 <= Math.min(least, base256)) return ASCII;
    if (base256 + 1 <= ascii || base256 + 1 < least) return bytes;
    const simple = Math.min(ascii, base256);
    if (edifact + 1 < Math.min(simple, c40, text, x12)) return EDIFACT;
    if (text + 1 < Math.min(simple, c40, x12, edifact)) return TEXT;
    if (x12 + 1 < Math.min(simple, c40, text, edifact)) return X12;
    if (c40 + 1 < Math.min(simple, text, edifact)) {
      if (c40 < x12) return C40;
      if (c40 === x12) return terminates(message, at + 1) ? X12 : C40;
    }
  }
  ascii = Math.ceil(ascii);
  c40 = Math.ceil(c40);
  text = Math.ceil(text);
  x12 = Math.ceil(x12);
  edifact = Math.ceil(edifact);
  base256 = Math.ceil(base256);
  if (ascii <= Math.min(c40, text, x12, edifact, base256)) return ASCII;
  if (base256 < Math.min(ascii, c40, text, x12, edifact)) return bytes;
  if (edifact < Math.min(ascii, c40, text, x12, base256)) return EDIFACT;
  if (text < Math.min(ascii, c40, x12, edifact, base256)) return TEXT;
  if (x12 < Math.min(ascii, c40, text, edifact, base256)) return X12;
  return C40;
}

/** An encodation under way. */
interface Encodation {
  readonly message: readonly number[];
  readonly codewords: number[];
  /** The next character. */
  at: number;
  mode: Mode;
  /** How many data codewords the smallest symbol has that holds so many; `Infinity`: no symbol holds them. */
  readonly capacity: (codewords: number) => number;
}

function pushAscii(codewords: number[], char: number): void {
  if (char === FNC1) codewords.push(FNC1_CODEWORD);
  else if (char > 127) codewords.push(UPPER_SHIFT, char - 127);
  else codewords.push(char + 1);
}

/** A character in ASCII, or two digits in one codeword. */
function asciiStep(encodation: Encodation): void {
  const { message, codewords, at } = encodation;
  const [char = 0, next = 0] = [message[at], message[at + 1]];
  if (isDigit(char) && isDigit(next)) {
    codewords.push(DIGIT_PAIRS + (char - 48) * 10 + next - 48);
    encodation.at += 2;
    return;
  }
  pushAscii(codewords, char);
  encodation.at += 1;
}

function encodeAscii(encodation: Encodation): void {
  const { message, codewords, at } = encodation;
  if (!(isDigit(message[at] ?? 0) && isDigit(message[at + 1] ?? 0))) {
    const mode = lookAhead(message, at, ASCII);
    if (mode !== ASCII) {
      codewords.push(LATCH[mode]);
      encodation.mode = mode;
      return;
    }
  }
  asciiStep(encodation);
}

/** Three values in two codewords. */
function pushTriples(codewords: number[], values: readonly number[]): void {
  for (let at = 0; at < values.length; at += 3) {
    const packed = ((values[at] ?? 0) * 40 + (values[at + 1] ?? 0)) * 40 + (values[at + 2] ?? 0) + 1;
    codewords.push(packed >> 8, packed & 255);
  }
}

/** Encodes the last one to three characters, if they fill the symbol exactly; returns whether they do. */
function endTriples(encodation: Encodation, mode: TripleMode, values: readonly number[]): boolean {
  const { message, codewords, at } = encodation;
  const used = codewords.length + (values.length / 3) * 2;
  const left = encodation.capacity(used + 1) - used;
  if (left > 2) return false;
  // A character that X12 does not have counts as four values, so that it never fits.
  const rest = message.slice(at).flatMap((char) => valuesOf(mode, char) ?? [-1, -1, -1, -1]);
  const [last = 0] = message.slice(at);
  if (left === 2 && rest.length === 3) pushTriples(codewords, [...values, ...rest]);
  else if (left === 2 && rest.length === 2 && mode !== X12) {
    pushTriples(codewords, [...values, ...rest, SHIFT_1]);
  } else if (rest.length === 1) {
    pushTriples(codewords, values);
    if (left === 2) codewords.push(UNLATCH);
    pushAscii(codewords, last);
  } else return false;
  encodation.mode = ASCII;
  encodation.at = message.length;
  return true;
}

/** C40, Text and X12. */
function encodeTriples(encodation: Encodation, mode: TripleMode): void {
  const { message, codewords } = encodation;
  const values: number[] = [];
  while (encodation.at < message.length) {
    const own = valuesOf(mode, message[encodation.at]);
    if (own === undefined) break;
    if (values.length % 3 === 0) {
      const next = values.length > 0 ? lookAhead(message, encodation.at, mode) : mode;
      if (next !== mode) {
        pushTriples(codewords, values);
        codewords.push(UNLATCH);
        if (next !== ASCII) codewords.push(LATCH[next]);
        encodation.mode = next;
        return;
      }
      if (message.length - encodation.at <= 3 && endTriples(encodation, mode, values)) return;
    }
    values.push(...own);
    encodation.at += 1;
  }
  // Goes back until the values are whole groups of three.
  while (values.length % 3 !== 0) {
    encodation.at -= 1;
    values.length -= valuesOf(mode, message[encodation.at])?.length ?? 0;
  }
  pushTriples(codewords, values);
  codewords.push(UNLATCH);
  backToAscii(encodation);
}

/** Changes to ASCII and encodes a step there, because otherwise the next look-ahead might change straight back. */
function backToAscii(encodation: Encodation): void {
  encodation.mode = ASCII;
  if (encodation.at < encodation.message.length) asciiStep(encodation);
}

/** Packs four values of six bits into three codewords. If one to three values are left over, they take as many codewords. */
function pushQuadruples(codewords: number[], values: readonly number[]): void {
  for (let at = 0; at < values.length; at += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = values.slice(at, at + 4);
    const packed = (a << 18) | (b << 12) | (c << 6) | d;
    codewords.push(...[packed >> 16, (packed >> 8) & 255, packed & 255].slice(0, values.length - at));
  }
}

function encodeEdifact(encodation: Encodation): void {
  const { message, codewords } = encodation;
  const values: number[] = [];
  const used = () => codewords.length + Math.floor(values.length / 4) * 3;
  while (encodation.at < message.length) {
    const char = message[encodation.at] ?? 0;
    if ((classOf(char) & IN_EDIFACT) === 0) break;
    if (values.length % 4 === 0) {
      if (message.length - encodation.at <= 2) {
        const left = encodation.capacity(used() + 1) - used();
        const rest: number[] = [];
        for (const last of message.slice(encodation.at)) pushAscii(rest, last);
        if (left <= 2 && rest.length <= left) {
          pushQuadruples(codewords, values);
          codewords.push(...rest);
          encodation.mode = ASCII;
          encodation.at = message.length;
          return;
        }
      }
      if (lookAhead(message, encodation.at, EDIFACT) !== EDIFACT) break;
    }
    values.push(char & 63);
    encodation.at += 1;
  }
  const left = encodation.capacity(used()) - used();
  if (values.length % 4 !== 0 || encodation.at < message.length || left >= 3) values.push(EDIFACT_UNLATCH);
  pushQuadruples(codewords, values);
  backToAscii(encodation);
}

function encodeBase256(encodation: Encodation): void {
  const { message, codewords } = encodation;
  const from = encodation.at;
  while (encodation.at < message.length && lookAhead(message, encodation.at, BASE256) === BASE256) {
    encodation.at += 1;
  }
  const length = encodation.at - from;
  const filled = codewords.length + length + 1;
  const toTheEnd = encodation.at === message.length && encodation.capacity(filled) === filled;
  const head = toTheEnd ? [0] : length < 250 ? [length] : [Math.floor(length / 250) + 249, length % 250];
  for (const value of [...head, ...message.slice(from, encodation.at)]) {
    // 5.2.9.1 and annex B.2: each codeword is randomised by its place, from 1.
    codewords.push((value + (((codewords.length + 1) * 149) % 255) + 1) & 255);
  }
  encodation.mode = ASCII;
}

/**
 * The data codewords, without padding.
 * @param message bytes, or FNC1
 * @param head codewords that go before the message
 * @param capacity how many data codewords the smallest symbol has that holds so many; `Infinity`: no symbol holds them
 */
export function dataMatrixCodewords(
  message: readonly number[],
  head: readonly number[],
  capacity: (codewords: number) => number,
): number[] {
  const encodation: Encodation = { message, codewords: [...head], at: 0, mode: ASCII, capacity };
  while (encodation.at < message.length) {
    const { mode } = encodation;
    if (mode === ASCII) encodeAscii(encodation);
    else if (mode === EDIFACT) encodeEdifact(encodation);
    else if (mode === BASE256) encodeBase256(encodation);
    else encodeTriples(encodation, mode);
  }
  return encodation.codewords;
}

/** Pads the codewords to a symbol's capacity (5.2.3, annex B.1). */
export function padCodewords(codewords: readonly number[], capacity: number): number[] {
  const padded = [...codewords];
  if (padded.length < capacity) padded.push(PAD);
  while (padded.length < capacity) {
    const noise = PAD + (((padded.length + 1) * 149) % 253) + 1;
    padded.push(noise > 254 ? noise - 254 : noise);
  }
  return padded;
}
