/** What a device reports about itself, in any language: its identity, its status, what it has printed. */
import type { LanguageId, RasterType } from '../src/contract/format.ts';
import type {
  IdentityEvidence,
  PrinterReason,
  PrinterState,
  PrinterSupply,
} from '../src/contract/printer.ts';

export interface DeviceIdentity {
  evidence: IdentityEvidence;
  /** The serial number or other evidence itself. */
  value: string;
  model?: string;
  /** The device's own name, shown to people. */
  name?: string;
  dpi?: number;
  /** Printable width and length, mm. */
  width?: number;
  height?: number;
  /** The languages it prints, best first, and the media it takes, loaded first; absent: not reported. */
  languages?: LanguageId[];
  media?: { width: number; height: number }[];
  /** The type and resolution of PWG raster that it wants, if it takes PWG raster. */
  raster?: { type: RasterType; dpi?: number };
}

export interface DeviceStatus {
  state: PrinterState;
  reasons: PrinterReason[];
  supplies?: PrinterSupply[];
  /** Labels that the device has accepted and not printed yet; 0: all are out; null: it cannot tell. */
  labelsPending: number | null;
  /** How many of `labelsPending` are formats, counted once however many copies they have; default: all. */
  formatsPending?: number;
  /**
   * Labels the device has printed in its life; null: it cannot tell. Read before `labelsPending`, unless that
   * is 0: a label that comes out between the two queries may be in neither count, but is never in both.
   */
  odometer: number | null;
  /** The device holds a part of a label and waits for the rest; it counts that label as pending. */
  unfinished?: true;
}

/** How a device is, without what it counts: also other services say that of it. */
export type DeviceState = Pick<DeviceStatus, 'state' | 'reasons' | 'supplies'>;
