/**
 * The commands that put a ZPL printer into the state that a label starts from. What one label sets, the printer also applies to
 * the next labels, whoever sends them: upside down after ^POI, shifted after ^LS and ^LT, in inches after ^MUI. So every label
 * first sets everything that it relies on (ZPL II Programming Guide, the commands named). If these commands are stored with
 * ^DF, they cost nothing for each record.
 *
 * An operator may also set ^LT and ^LS at the printer's panel, and the printer keeps only the value that was set last. So both
 * are members of the printer's format, `labelTop` and `labelShift`; if the format does not have them, they are 0. Speed,
 * darkness and the other settings of `settings.ts` stay as they are at the printer, because no label changes them.
 */
import type { PrinterFormat } from '../../../src/contract/format.ts';

type Offsets = Pick<PrinterFormat, 'labelTop' | 'labelShift'>;

/** Where and how a label lies, for use after ^XA. ^MUD comes first, because the rest is measured in its unit. */
function placing({ labelTop = 0, labelShift = 0 }: Offsets): string {
  return `^MUD^JMA^PON^PMN^LRN^LH0,0^LS${labelShift}^LT${labelTop}^FWN,0^MCY^CVN`;
}

function sheetSize({ width, height }: { readonly width: number; readonly height: number }): string {
  return `^PW${width}^LL${height}`;
}

/**
 * The state for a designed label. ^CI28 is UTF-8 ("Change International Font/Encoding").
 * @param sheet the label, dots
 */
export function designedStart(format: Offsets, sheet: { width: number; height: number }): string {
  return `^CI28${placing(format)}${sheetSize(sheet)}`;
}

/** The state of a printer that was just switched on. A raw label may rely on any of it. */
function powerOn(format: Offsets): string {
  return `${placing(format)}^CI0^CFA,9^BY2,3,10^PA0,0,0,0`;
}

/** The state for a raw label. @param media the size that the format has, dots */
export function rawStart(format: Offsets, media: { width: number; height: number }): string {
  return powerOn(format) + sheetSize(media);
}

/**
 * Sent after the last raw label. It undoes what the labels may have changed, for the labels of other senders.
 * @param deletions ^ID of the objects that the template downloaded
 */
export function rawEnd(format: Offsets, deletions: string): string {
  return `^XA${powerOn(format)}${deletions}^XZ`;
}
