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
  /** The languages that it prints, the best first, and the media that it takes, the loaded first. Absent: not reported. */
  languages?: LanguageId[];
  media?: { width: number; height: number }[];
  /** The type and resolution of PWG raster that it wants, if it takes PWG raster. */
  raster?: { type: RasterType; dpi?: number };
}

export interface DeviceStatus {
  state: PrinterState;
  reasons: PrinterReason[];
  supplies?: PrinterSupply[];
  /** How many labels the device has accepted and not printed yet. 0: all are out. Null: the device cannot tell. */
  labelsPending: number | null;
  /** How many of `labelsPending` are formats. The device counts a format once, however many copies it has. Default: all. */
  formatsPending?: number;
  /**
   * How many labels the device has printed in its life. Null: it cannot tell. It is read before `labelsPending`, unless that is
   * 0. So a label that comes out between the two queries may be in neither count, but is never in both.
   */
  odometer: number | null;
  /**
   * Counter and pending labels as they were read together, where `labelsPending` is newer than `odometer`; none where the device
   * cannot be asked for both at once. Default: `odometer` and `labelsPending` themselves.
   */
  moments?: readonly Moment[];
  /** The device holds a part of a label and waits for the rest. That label counts as pending. */
  unfinished?: true;
}

/**
 * What was pending, and the counter `ms` after, by when the two arrived (default 0): a label that comes out in between is in both
 * counts.
 */
export type Moment = Pick<DeviceStatus, 'labelsPending' | 'formatsPending'> & {
  odometer: number;
  ms?: number;
};

/** How a device is, without what it counts. Other services, such as a print server, can report this of it too. */
export type DeviceState = Pick<DeviceStatus, 'state' | 'reasons' | 'supplies'>;
