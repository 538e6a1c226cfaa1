/**
 * Parses the answers of ZPL printers. Every parser takes bytes that may be anything, and either returns the answer or throws
 * `reply-invalid`. No parser looks at a byte more than a fixed number of times.
 *
 * Printers put noise around their answers (alerts, line ends, answers to what others asked). So an answer is found by its
 * frame, which is STX … ETX or quotes, and is not expected to be alone.
 *
 * Source: ZPL II Programming Guide (P1099958), `~HS` Host Status Return, `~HI` Host Identification, `~HQ` Host
 * Query (`ES`, `SN`), and "SGD Printer Commands" (`getvar`: the value in double quotes, `"?"` when there is none).
 * https://docs.zebra.com/us/en/printers/software/zpl-pg/zpl-commands/~hs4.html
 */
import { z } from 'zod';
import { TransportError } from '../../connection.ts';

const STX = 0x02;
const ETX = 0x03;
const QUOTE = 0x22;

/** The most characters of a model, serial number or other text that is believed. */
const LONGEST_TEXT = 200;

function frames(reply: Uint8Array): string[] {
  const found: string[] = [];
  let start = -1;
  for (let at = 0; at < reply.length; at++) {
    if (reply[at] === STX) start = at + 1;
    else if (reply[at] === ETX && start >= 0) {
      found.push(Buffer.from(reply.subarray(start, at)).toString('latin1'));
      start = -1;
    }
  }
  return found;
}

function countFrames(reply: Uint8Array): number {
  let count = 0;
  let open = false;
  for (const byte of reply) {
    if (byte === STX) open = true;
    else if (byte === ETX && open) {
      count++;
      open = false;
    }
  }
  return count;
}

/** For `Connection.query`: true once `count` STX … ETX strings have arrived. */
export function framesArrived(count: number): (reply: Uint8Array) => boolean {
  return (reply) => countFrames(reply) >= count;
}

/** For `Connection.query`: true once `count` quoted values have arrived. */
export function valuesArrived(count: number): (reply: Uint8Array) => boolean {
  return (reply) => {
    let quotes = 0;
    for (const byte of reply) if (byte === QUOTE) quotes++;
    return quotes >= count * 2;
  };
}

function checked<T>(schema: z.ZodType<T>, value: unknown, command: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new TransportError(
    'reply-invalid',
    `${command}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  );
}

function invalid(command: string, detail: string): TransportError {
  return new TransportError('reply-invalid', `${command}: ${detail}`);
}

const flag = z.enum(['0', '1']).transform((value) => value === '1');
const count = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);

const hostStatus = z.object({
  mediaOut: flag,
  paused: flag,
  /** Dots. */
  labelLength: count,
  /** How many formats, not labels, were received and not printed yet. */
  formatsInBuffer: count,
  bufferFull: flag,
  /** A format has begun, and its end has not come yet. */
  partialFormat: flag,
  underTemperature: flag,
  overTemperature: flag,
  headUp: flag,
  ribbonOut: flag,
  labelWaiting: flag,
  /** How many labels are still to come of the format that is printing. */
  labelsRemaining: count,
});
export type HostStatus = z.infer<typeof hostStatus>;

/**
 * The three strings of `~HS`:
 * `aaa,b,c,dddd,eee,f,g,h,iii,j,k,l`, `mmm,n,o,p,q,r,s,t,uuuuuuuu,v,www` and `xxxx,y`.
 * @throws TransportError `reply-invalid`
 */
export function parseHostStatus(reply: Uint8Array): HostStatus {
  // The last complete answer counts. An earlier one may be late, and belong to an earlier question.
  const split = frames(reply).map((frame) => frame.split(',', 20).map((field) => field.trim()));
  const third = split.findLastIndex((fields) => fields.length === 2);
  const [one, two] = third < 2 ? [] : split.slice(third - 2, third);
  if (one?.length !== 12 || two?.length !== 11) {
    throw invalid('~HS', 'expected three strings of 12, 11 and 2 fields');
  }
  return checked(
    hostStatus,
    {
      mediaOut: one[1],
      paused: one[2],
      labelLength: one[3],
      formatsInBuffer: one[4],
      bufferFull: one[5],
      partialFormat: one[7],
      underTemperature: one[10],
      overTemperature: one[11],
      headUp: two[2],
      ribbonOut: two[3],
      labelWaiting: two[7],
      labelsRemaining: two[8],
    },
    '~HS',
  );
}

const text = z
  .string()
  .trim()
  .min(1)
  .max(LONGEST_TEXT)
  .regex(/^[^\p{Cc}]*$/u, { error: 'holds control characters' });

const hostIdentification = z.object({
  model: text,
  firmware: text,
  /** Dots per mm as the printer names them: 6, 8, 12 or 24. Undefined: it says something else. */
  dpmm: z
    .union([z.literal(6), z.literal(8), z.literal(12), z.literal(24)])
    .optional()
    .catch(undefined),
});
export type HostIdentification = z.infer<typeof hostIdentification>;

/**
 * `~HI`: `model,firmware,dpmm,memory,options`.
 * @throws TransportError `reply-invalid`
 */
export function parseHostIdentification(reply: Uint8Array): HostIdentification {
  for (const frame of frames(reply).reverse()) {
    const [model, firmware, dpmm] = frame.split(',', 8);
    if (dpmm === undefined) continue;
    return checked(hostIdentification, { model, firmware, dpmm: Number(dpmm) }, '~HI');
  }
  throw invalid('~HI', 'expected model, firmware and resolution');
}

/** Bits in group 1 of the error flags. The guide names them by nibble: nibble 1 value 4 is 0x4, nibble 5 value 1 is 0x10000. */
const ERROR_BITS = { mediaOut: 0x1, ribbonOut: 0x2, headOpen: 0x4, paused: 0x10000 } as const;
const NAMED_ERRORS = Object.values(ERROR_BITS).reduce((sum, bit) => sum | bit, 0);
const PAPER_NEAR_END = 0x8;

export interface ErrorStatus {
  mediaOut: boolean;
  ribbonOut: boolean;
  headOpen: boolean;
  paused: boolean;
  /** Another error than these: cutter, head temperature, …. */
  other: boolean;
  /** This is a warning, not an error: the roll is nearly used up. */
  mediaLow: boolean;
}

/** `ERRORS: 1 00000000 00000005`: whether there are any, then group 2 (nibbles 16–9) and group 1 (nibbles 8–1). */
const flagsLine = (name: string) =>
  new RegExp(`\\b${name}:[ \\t]{0,40}([01])[ \\t]{1,10}([0-9A-F]{8})[ \\t]{1,10}([0-9A-F]{8})`, 'i');
const ERRORS = flagsLine('ERRORS');
const WARNINGS = flagsLine('WARNINGS');

/**
 * `~HQES`, its lines of errors and warnings.
 * @throws TransportError `reply-invalid`
 */
export function parseErrorStatus(reply: Uint8Array): ErrorStatus {
  for (const frame of frames(reply).reverse()) {
    const errors = ERRORS.exec(frame);
    const warnings = WARNINGS.exec(frame);
    if (!errors || !warnings) continue;
    const any = errors[1] === '1';
    const bits = any ? hex(errors[3]) : 0;
    const known = (bits & NAMED_ERRORS) !== 0;
    return {
      mediaOut: (bits & ERROR_BITS.mediaOut) !== 0,
      ribbonOut: (bits & ERROR_BITS.ribbonOut) !== 0,
      headOpen: (bits & ERROR_BITS.headOpen) !== 0,
      paused: (bits & ERROR_BITS.paused) !== 0,
      other: any && (!known || (bits & ~NAMED_ERRORS) !== 0 || hex(errors[2]) !== 0),
      mediaLow: warnings[1] === '1' && (hex(warnings[3]) & PAPER_NEAR_END) !== 0,
    };
  }
  throw invalid('~HQES', 'expected lines of errors and warnings');
}

function hex(digits: string | undefined): number {
  return Number.parseInt(digits ?? '0', 16);
}

/**
 * `~HQSN`: the serial number, on the line after its heading; null when the printer has none.
 * @throws TransportError `reply-invalid`
 */
export function parseSerialNumber(reply: Uint8Array): string | null {
  for (const frame of frames(reply).reverse()) {
    const lines = frame.split(/\r?\n/, 20).map((line) => line.trim());
    const heading = lines.indexOf('SERIAL NUMBER');
    if (heading < 0) continue;
    const value = lines[heading + 1] ?? '';
    return value === '' ? null : checked(text, value, '~HQSN');
  }
  throw invalid('~HQSN', 'expected a serial number');
}

/**
 * The values of one or more `! U1 getvar`, in order. `"?"` and `""` stand for unknown, and become null.
 * @throws TransportError `reply-invalid`
 */
export function parseValues(reply: Uint8Array, expected: number): (string | null)[] {
  const parts = Buffer.from(reply)
    .toString('utf8')
    .split('"', expected * 2 + 1);
  if (parts.length < expected * 2 + 1) throw invalid('getvar', `expected ${expected} quoted values`);
  return Array.from({ length: expected }, (_, index) => {
    const value = (parts[index * 2 + 1] ?? '').trim();
    return value === '' || value === '?' ? null : checked(text, value, 'getvar');
  });
}

/** A value as a whole number (`"203"`). Null: it is none, as some printers put a unit or a word there. */
export function wholeNumber(value: string | null): number | null {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
