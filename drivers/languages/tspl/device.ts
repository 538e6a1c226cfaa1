/**
 * What a TSPL printer says of itself: how it is, by `<ESC>!?`, which it answers with one byte at once, whatever else
 * it does. No more than that: the answer overtakes the labels that were sent before, and TSPL has no counter that is
 * known to count what came out, so which labels are out stays unknown (see `src/agent/job/run.ts` for what follows
 * from it). Nor is there a question for the serial number that every printer of the family answers.
 *
 * Source: TSPL/TSPL2 Programming Language, "<ESC>!?"; bit 6 as in the manuals of Gprinter, who build alike.
 */
import type { PrinterReason } from '../../../src/contract/printer.ts';
import { TransportError } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import { emptyLines } from '../command-lines.ts';
import type { DeviceDialect } from '../language.ts';

const STATUS = Uint8Array.of(0x1b, 0x21, 0x3f);
const PRINTING = 0x20;
/** More bytes at once than late answers would be are something else. */
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
  // An answer that came too late for its own question stands before this one's.
  const byte = reply.at(-1);
  if (byte === undefined || reply.length > MOST_ANSWERS) {
    throw new TransportError('reply-invalid', '<ESC>!?: expected a byte');
  }
  const reasons = [...new Set(STOPS.flatMap(([bit, reason]) => ((byte & bit) === 0 ? [] : [reason])))];
  const state = reasons.length > 0 ? 'stopped' : (byte & PRINTING) === 0 ? 'idle' : 'processing';
  return { state, reasons, labelsPending: null, odometer: null };
}
