/**
 * The state that a label starts from. A ZPL printer keeps what a label told it about the next ones, whoever sends
 * them: upside down after ^POI, shifted after ^LS and ^LT, in inches after ^MUI. So every label of ours first says
 * what it relies on (ZPL II Programming Guide, the commands named); stored with ^DF it costs nothing a record.
 *
 * ^LT and ^LS are also what an operator aligns at the printer's panel, and the printer does not tell one from the
 * other. So they belong to the printer's format, `labelTop` and `labelShift`, and are 0 without. Speed, darkness and
 * what else `settings.ts` knows is left as it is at the printer: no label of ours changes it.
 */
import type { PrinterFormat } from '../../../src/contract/format.ts';

type Offsets = Pick<PrinterFormat, 'labelTop' | 'labelShift'>;

/** Where and how a label lies, after ^XA; first ^MUD, in whose unit the rest is measured. */
function placing({ labelTop = 0, labelShift = 0 }: Offsets): string {
  return `^MUD^JMA^PON^PMN^LRN^LH0,0^LS${labelShift}^LT${labelTop}^FWN,0^MCY^CVN`;
}

function sheetSize({ width, height }: { readonly width: number; readonly height: number }): string {
  return `^PW${width}^LL${height}`;
}

/**
 * For a designed label. ^CI28: UTF-8 ("Change International Font/Encoding").
 * @param sheet the label, dots
 */
export function designedStart(format: Offsets, sheet: { width: number; height: number }): string {
  return `^CI28${placing(format)}${sheetSize(sheet)}`;
}

/** What a printer has that was just switched on: a raw label may rely on any of it. */
function powerOn(format: Offsets): string {
  return `${placing(format)}^CI0^CFA,9^BY2,3,10^PA0,0,0,0`;
}

/** @param media as the format has it, dots */
export function rawStart(format: Offsets, media: { width: number; height: number }): string {
  return powerOn(format) + sheetSize(media);
}

/**
 * After the last raw label: what it may have changed is put back, for the labels of others.
 * @param deletions ^ID of what it brought along
 */
export function rawEnd(format: Offsets, deletions: string): string {
  return `^XA${powerOn(format)}${deletions}^XZ`;
}
