/** What a device says of itself, whatever it speaks: who it is, how it is, what it has printed. */
import type { LanguageId, RasterType } from '../src/contract/format.ts';
import type { IdentityEvidence, PrinterReason, PrinterState } from '../src/contract/printer.ts';

export interface DeviceIdentity {
  evidence: IdentityEvidence;
  /** The serial number or other evidence itself. */
  value: string;
  model?: string;
  /** What the device calls itself, for people. */
  name?: string;
  dpi?: number;
  /** Printable width and length, mm. */
  width?: number;
  height?: number;
  /** What it prints, best first, and the media it can take, first what is loaded: where it says so itself. */
  languages?: LanguageId[];
  media?: { width: number; height: number }[];
  /** What it wants of PWG raster, where it takes that. */
  raster?: { type: RasterType; dpi?: number };
}

export interface DeviceStatus {
  state: PrinterState;
  reasons: PrinterReason[];
  /** Labels that the device has accepted and not printed yet, where it can tell; 0 means: all are out. */
  labelsPending: number | null;
  /** How many of `labelsPending` count a whole format as one, however many copies it has; default: all. */
  formatsPending?: number;
  /**
   * Labels the device has printed in its life, where it can tell. Read before what is pending, unless nothing is: a
   * label that comes out between the two questions may be missing in both counts, and is never in both.
   */
  odometer: number | null;
  /** It holds a part of a label, waits for the rest, and counts it as pending. */
  unfinished?: true;
}
