/** What a virtual IPP printer is and does at a moment, and the documents that it takes. */
import type { IppIdentity, IppPrinterState } from '../../ipp/attributes.ts';
import { ANY_FORMAT } from '../../ipp/document.ts';
import { type PrinterFaults, STOPPAGES, type Stoppages } from '../machine/faults.ts';

export const DOCUMENT_FORMATS = ['application/pdf', 'application/vnd.zebra-zpl', ANY_FORMAT] as const;

export interface VirtualIppState extends IppPrinterState, PrinterFaults {
  /** Labels printed in its life. */
  readonly odometer: number;
}

export interface VirtualIdentity extends IppIdentity {
  readonly serial: string;
}

/** IEEE 1284 device ID. */
export function deviceId({ make, model, serial }: VirtualIdentity): string {
  return `MFG:${make};MDL:${model};CMD:ZPL,PDF;CLS:PRINTER;SN:${serial};`;
}

/** printer-state-reasons, with the severity that printers give them (RFC 8011 §5.4.12). */
export function stateReasons(stoppages: Stoppages): string[] {
  const reasons = STOPPAGES.filter((word) => stoppages[word]);
  return reasons.length === 0
    ? ['none']
    : reasons.map((word) => (word === 'paused' ? word : `${word}-error`));
}
