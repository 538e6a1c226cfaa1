/**
 * The commands for the printer settings of a format (ZPL II Programming Guide, the commands named). They are sent once before a
 * job's labels, and again with every new connection. A setting that the format leaves out is not changed. The printer keeps the
 * settings until something else sets them, or until it is switched off.
 */
import type { PrinterFormat } from '../../../src/contract/format.ts';

const TRACKING = { continuous: 'N', gap: 'Y', mark: 'M' } as const;
const PRINT_MODE = { 'tear-off': 'T', 'peel-off': 'P', rewind: 'R', applicator: 'A', cutter: 'C' } as const;
const THERMAL_MODE = { transfer: 'T', direct: 'D' } as const;

/** Commands to send before the first label; empty if the format sets nothing. */
export function printerSettings(format: PrinterFormat): string {
  const { mediaTracking, printMode, thermalMode } = format;
  const commands = [
    ['^MT', thermalMode && THERMAL_MODE[thermalMode]],
    ['^MN', mediaTracking && TRACKING[mediaTracking]],
    ['^MM', printMode && PRINT_MODE[printMode]],
    ['^PR', format.speed],
    ['^MD', format.darknessOffset],
    ['^LT', format.labelTop],
    ['^LS', format.labelShift],
  ] as const;
  const inFormat = commands.flatMap(([code, value]) => (value === undefined ? [] : [code + value])).join('');
  return darkness(format) + (inFormat === '' ? '' : `^XA${inFormat}^XZ`);
}

/** ~SD takes two digits. On printers that know tenths, it also takes a decimal. */
function darkness({ darkness: value }: PrinterFormat): string {
  if (value === undefined) return '';
  const [whole = '0', tenth] = String(value).split('.');
  return `~SD${whole.padStart(2, '0')}${tenth === undefined ? '' : `.${tenth}`}`;
}

/** Whether the printer cuts labels. Only with a cutter (^MMC) ^PQ says where it cuts. */
export function cuts(format: PrinterFormat): boolean {
  return format.printMode === 'cutter';
}

/**
 * ^PQ ("Print Quantity"): the printer makes the copies. With a cutter, each copy is a group of its own, so that it is cut off.
 * The pause that would follow a group is switched off.
 */
export function printQuantity(copies: number, format: PrinterFormat): string {
  return cuts(format) ? `^PQ${copies},1,0,Y` : `^PQ${copies}`;
}
