/** In words, why nothing comes out of a printer. */
import type { PrinterDetails } from '../../src/contract/printer-actions.ts';
import { standsStill } from '../../src/contract/printer-view.ts';
import { listed, t, when } from '../texts/texts.ts';

/** A printer that its agent does not reach has the status `unknown`, which people are shown as `offline`. */
export function stateOf({ status, reasons }: PrinterDetails): PrinterDetails['status'] {
  return status === 'unknown' && standsStill({ status, reasons }) ? 'offline' : status;
}

export type Still = { why: string; since: string | null };

/** Why nothing comes out of the printer now, and since when; undefined: it prints, or can print. */
export function stillOf(printer: PrinterDetails): Still | undefined {
  const { printers: words, reason } = t.value;
  const { held, reasons, since } = printer;
  if (held !== null) return { why: words.held, since: held.at };
  if (!standsStill(printer)) return undefined;
  const why = reasons.length === 0 ? words[stateOf(printer)] : listed(reasons.map((one) => reason[one]));
  return { why, since };
}

/** The same in one text. */
export function whyStill(printer: PrinterDetails): string | undefined {
  const still = stillOf(printer);
  if (still === undefined || still.since === null) return still?.why;
  return `${still.why} ${t.value.printers.since(when(still.since))}`;
}
