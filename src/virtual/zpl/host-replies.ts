/**
 * The virtual ZPL printer's answers to `~HS`, `~HI`, `~HQ…` and SGD variables.
 *
 * Source: ZPL II Programming Guide, ~HS, ~HI, ~HQ and "SGD Command Reference". One deliberate difference: the guide
 * says that `~HS` is not answered while media or ribbon is out or the head is open; printers of today do answer, with
 * the flag set, and so does this one. A printer that answers nothing at all has the fault `silent`.
 */
import type { Stoppages } from '../machine/faults.ts';

const STX = '\x02';
const ETX = '\x03';
const EOL = '\r\n';

/** The state that answers report. */
export interface ZplPrinterState extends Stoppages {
  /** Complete formats that wait in the receive buffer. */
  readonly formats: number;
  readonly bufferFull: boolean;
  readonly partialFormat: boolean;
  /** Labels of the batch being printed that are not out yet. */
  readonly remaining: number;
  readonly graphics: number;
  readonly odometer: number;
}

export interface PrinterIdentity {
  readonly name: string;
  readonly serial: string;
  readonly model: string;
  readonly firmware: string;
  readonly dpi: number;
  /** Media, dots. */
  readonly width: number;
  readonly height: number;
}

function flag(value: boolean): string {
  return value ? '1' : '0';
}

function digits(value: number, size: number): string {
  return String(Math.min(value, 10 ** size - 1)).padStart(size, '0');
}

/** `~HS`: three strings. `length`: the label length in force, dots. */
export function hostStatus(state: ZplPrinterState, length: number): string {
  const first = [
    '030',
    flag(state['media-empty']),
    flag(state.paused),
    digits(length, 4),
    digits(state.formats, 3),
    flag(state.bufferFull),
    '0',
    flag(state.partialFormat),
    '000',
    '0',
    '0',
    '0',
  ];
  // Function settings 001: thermal transfer, gap media; print mode 2: tear-off.
  const second = [
    '001',
    '0',
    flag(state['cover-open']),
    flag(state['marker-supply-empty']),
    '1',
    '2',
    '6',
    '0',
    digits(state.remaining, 8),
    '1',
    digits(state.graphics, 3),
  ];
  return [first, second, ['1234', '0']].map((line) => `${STX}${line.join(',')}${ETX}${EOL}`).join('');
}

/** Model, firmware, dots/mm, memory, options. Dots/mm are whole, as printers say them: 8 is 203 dpi, 12 is 300. */
function hostLine({ model, firmware, dpi }: PrinterIdentity): string {
  return `${model},${firmware},${Math.round(dpi / 25.4)},8192KB,X`;
}

/** `~HI` */
export function hostIdentification(identity: PrinterIdentity): string {
  return `${STX}${hostLine(identity)}${ETX}${EOL}`;
}

const MEDIA_OUT = 0x1;
const RIBBON_OUT = 0x2;
const HEAD_OPEN = 0x4;
const PAUSED = 0x10000;

/** `~HQES`, `~HQSN`, `~HQOD`; undefined for a query that this printer does not know. */
export function hostQuery(
  kind: string,
  state: ZplPrinterState,
  identity: PrinterIdentity,
): string | undefined {
  const lines = queryLines(kind.toUpperCase(), state, identity);
  return lines && `${STX}${EOL}${lines.map((line) => `  ${line}${EOL}`).join('')}${ETX}${EOL}`;
}

function queryLines(kind: string, state: ZplPrinterState, identity: PrinterIdentity): string[] | undefined {
  if (kind === 'ES') {
    const errors =
      (state['media-empty'] ? MEDIA_OUT : 0) |
      (state['marker-supply-empty'] ? RIBBON_OUT : 0) |
      (state['cover-open'] ? HEAD_OPEN : 0) |
      (state.paused ? PAUSED : 0);
    const bits = errors.toString(16).toUpperCase().padStart(8, '0');
    return [
      'PRINTER STATUS',
      `ERRORS:         ${flag(errors !== 0)} 00000000 ${bits}`,
      'WARNINGS:       0 00000000 00000000',
    ];
  }
  if (kind === 'SN') return ['SERIAL NUMBER', identity.serial];
  if (kind === 'OD') {
    const inches = `${Math.round(printedInches(state, identity))} "`.padStart(14);
    return [
      'PRINT METERS',
      `TOTAL NONRESETTABLE:  ${inches}`,
      `USER RESETTABLE CNTR1:${inches}`,
      `USER RESETTABLE CNTR2:${inches}`,
    ];
  }
  return undefined;
}

function printedInches(state: ZplPrinterState, identity: PrinterIdentity): number {
  return (state.odometer * identity.height) / identity.dpi;
}

/** What `getvar` of a variable gives, without quotes; undefined for an unknown one, which is answered `"?"`. */
export function sgdValue(
  variable: string,
  state: ZplPrinterState,
  identity: PrinterIdentity,
  address: { ip: string; port: number },
  length: number,
): string | undefined {
  const inches = printedInches(state, identity);
  const values: Record<string, string> = {
    'device.unique_id': identity.serial,
    'device.product_name': identity.model,
    'device.friendly_name': identity.name,
    'device.languages': 'zpl',
    'device.host_identification': hostLine(identity),
    'appl.name': identity.firmware,
    'head.resolution.in_dpi': String(identity.dpi),
    'ezpl.print_width': String(identity.width),
    'ezpl.media_type': 'gap/notch',
    'zpl.label_length': String(length),
    'media.status': state['media-empty'] ? 'out' : 'ok',
    'ribbon.status': state['marker-supply-empty'] ? 'out' : 'ok',
    'head.latch': state['cover-open'] ? 'open' : 'ok',
    'device.pause': state.paused ? 'on' : 'off',
    'odometer.total_label_count': String(state.odometer),
    'odometer.total_print_length': `${Math.round(inches)} INCHES, ${Math.round(inches * 2.54)} CENTIMETERS`,
    'interface.network.active.ip_addr': address.ip,
    'ip.addr': address.ip,
    'ip.port': String(address.port),
  };
  return Object.hasOwn(values, variable) ? values[variable] : undefined;
}
