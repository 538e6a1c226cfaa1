/**
 * What an EPL2 printer says of itself: its error codes, by `^ee`. It counts nothing that could tell which labels are
 * out (see `src/agent/job/run.ts` for what follows from it), and without an error it may be idle or printing.
 *
 * Answered over USB and serial lines; print servers in front of such printers mostly pass no answer on.
 * Source: EPL Programming Guide 14245L, "^ee"; ESim manual (a printer may give several codes).
 */
import type { PrinterReason } from '../../../src/contract/printer.ts';
import { TransportError } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import { emptyLines } from '../command-lines.ts';
import type { DeviceDialect } from '../language.ts';

/** What S takes: each printer's own steps. */
export const SPEED = { from: 1, to: 6 };

const STATUS = new TextEncoder().encode('^ee\r\n');
const LINE_FEED = 0x0a;

/** Codes for which nothing comes out. The others are of commands that were not understood: of the past. */
const STOPS: Readonly<Record<string, PrinterReason>> = {
  '07': 'media-empty',
  '11': 'cover-open',
  '12': 'paused',
};

export const eplDevice: DeviceDialect = {
  endData: emptyLines,
  status: async (connection, signal) =>
    parseStatus(await connection.query(STATUS, (reply) => reply.includes(LINE_FEED), { signal })),
};

/** @throws TransportError `reply-invalid` */
export function parseStatus(reply: Uint8Array): DeviceStatus {
  const text = Buffer.from(reply).toString('latin1');
  // An answer that came too late for its own question stands before this one's.
  const line =
    text
      .trim()
      .split(/[\r\n]+/)
      .at(-1) ?? '';
  if (!/^\d\d(,\d\d){0,50}$/.test(line)) {
    throw new TransportError('reply-invalid', '^ee: expected codes of two digits');
  }
  const reasons = [...new Set(line.split(',').flatMap((code) => STOPS[code] ?? []))];
  return {
    state: reasons.length > 0 ? 'stopped' : 'unknown',
    reasons,
    labelsPending: null,
    odometer: null,
  };
}
