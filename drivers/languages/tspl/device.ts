/**
 * The status of a TSPL printer. The printer answers `<ESC>!?` at once with one byte, whatever else it is doing. So the answer
 * overtakes labels that were sent before the question. TSPL has no counter that is known to count printed labels, so it stays
 * unknown which labels are out (`src/agent/job/loop.ts` deals with that). It also has no query for the serial number that every
 * printer of the family answers.
 *
 * Source: TSPL/TSPL2 Programming Language, "<ESC>!?"; bit 6 as in the manuals of Gprinter's similar printers.
 */
import type { PrinterReason } from '../../../src/contract/printer.ts';
import { TransportError } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import { emptyLines } from '../command-lines.ts';
import type { DeviceDialect } from '../language.ts';

const STATUS = Uint8Array.of(0x1b, 0x21, 0x3f);
const PRINTING = 0x20;
/** The most answers that arrive at once, including late ones. More bytes are not a status. */
const MOST_ANSWERS = 4;

const STOPS: readonly (readonly [bit: number, reason: PrinterReason])[] = [
  [0x01, 'cover-open'],
  [0x02, 'media-jam'],
  [0x04, 'media-empty'],
  [0x08, 'marker-supply-empty'],
  [0x10, 'paused'],
  [0x40, 'cover-open'],
  [0x80, 'other'],
];

export const tsplDevice: DeviceDialect = {
  endData: emptyLines,
  status: async (connection, signal) =>
    parseStatus(await connection.query(STATUS, (reply) => reply.length > 0, { signal })),
};

/** @throws TransportError `reply-invalid` */
export function parseStatus(reply: Uint8Array): DeviceStatus {
  // A late answer to an earlier query comes before the answer to this one.
  const byte = reply.at(-1);
  if (byte === undefined || reply.length > MOST_ANSWERS) {
    throw new TransportError('reply-invalid', '<ESC>!?: expected a byte');
  }
  const reasons = [...new Set(STOPS.flatMap(([bit, reason]) => ((byte & bit) === 0 ? [] : [reason])))];
  const state = reasons.length > 0 ? 'stopped' : (byte & PRINTING) === 0 ? 'idle' : 'processing';
  return { state, reasons, labelsPending: null, odometer: null };
}
