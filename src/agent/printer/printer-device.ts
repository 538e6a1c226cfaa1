/** What discovery and the agent know of a device, whether it is driven by bytes or by documents. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { DeviceAnswer } from '../discovery/endpoint.ts';
import type { LinkOptions, PrinterLink } from './link.ts';

export interface PrinterDevice {
  /** `stream`: takes bytes (`stream-device.ts`); `document`: takes documents and keeps jobs (`document-device.ts`). */
  readonly kind: 'stream' | 'document';
  readonly uri: string;
  /** The identity that the device must have; null: none is known. */
  expected: string | null;
  /** Another device was found at this device's address. Until it is gone, no connection is tried. */
  displaced: boolean;
  /** The reasons that a job gives while the device cannot be reached. */
  offline: readonly PrinterReason[];
  /** Whether the device has ever answered a question. If not, nobody waits for an answer. */
  answers: boolean;
  /** By what the device itself can say what came out; `nothing`: it cannot; null: not known yet. */
  readonly confirms: 'count' | 'pending' | 'job' | 'nothing' | null;
  /** Called with every status a job reads, and with null when the device could not be reached. */
  onStatus: (status: DeviceStatus | null) => void;
  /** The device was found at another address. A job under way goes on there once its connection breaks. */
  moveTo(uri: string): void;
  /** Until now another agent or nobody has served the device. So it may hold half a label of somebody else. */
  distrust(): void;
  /** Makes the link of one job to the device. */
  link(options: LinkOptions): PrinterLink;
  /** Closes the open connection. What follows goes over a new one. */
  drop(): Promise<void>;
  /**
   * Asks the device who it is and how it is. Does not throw if the device is not there.
   * @param aside another agent serves the device: one that takes only one connection is then mostly left to that agent
   */
  probe(signal: AbortSignal, aside?: boolean): Promise<DeviceAnswer>;
}
