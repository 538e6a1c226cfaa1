/**
 * The commands that put a ZPL printer into the state that a label starts from. The printer applies what one
 * label sets to the next labels, whoever sends them: upside down after ^POI, shifted after ^LS and ^LT, in
 * inches after ^MUI. So every label first sets what it relies on (ZPL II Programming Guide, the commands
 * named); stored with ^DF, that costs nothing per record.
 *
 * An operator may also set ^LT and ^LS at the printer's panel, and the printer has only one value for both.
 * So they belong to the printer's format, `labelTop` and `labelShift`, and are 0 without. Speed, darkness and
 * the other settings of `settings.ts` stay as they are at the printer: no label changes them.
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

/** The state of a printer that was just switched on: a raw label may rely on any of it. */
function powerOn(format: Offsets): string {
  return `${placing(format)}^CI0^CFA,9^BY2,3,10^PA0,0,0,0`;
}

/** @param media as the format has it, dots */
export function rawStart(format: Offsets, media: { width: number; height: number }): string {
  return powerOn(format) + sheetSize(media);
}

/**
 * Sent after the last raw label: restores what the labels may have changed, for the labels of other senders.
 * @param deletions ^ID of the objects that the template downloaded
 */
export function rawEnd(format: Offsets, deletions: string): string {
  return `^XA${powerOn(format)}${deletions}^XZ`;
}
