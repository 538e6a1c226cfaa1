/**
 * The status of an EPL2 printer: the error codes with which it answers `^ee`. No counter tells which labels are out
 * (`src/agent/job/loop.ts` deals with that), and a printer without errors may be idle or printing.
 *
 * Printers answer over USB and serial lines. Most print servers in front of them do not forward the answers.
 * Source: EPL Programming Guide 14245L, "^ee"; ESim manual (a printer may give several codes).
 */
import type { PrinterReason } from '../../../src/contract/printer.ts';
import { TransportError } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import { emptyLines } from '../command-lines.ts';
import type { DeviceDialect } from '../language.ts';

/** The range of S (print speed). What a step means depends on the printer. */
export const SPEED = { from: 1, to: 6 };

const STATUS = new TextEncoder().encode('^ee\r\n');
const LINE_FEED = 0x0a;

/** Codes that stop printing. The others report earlier commands that were not understood. */
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
  // A late answer to an earlier query comes before the answer to this one.
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
