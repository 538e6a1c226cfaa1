/** What discovery and the agent know of a device, however it is driven: by bytes or by documents. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { ProbeResult } from '../discovery/endpoint.ts';
import type { LinkOptions, PrinterLink } from './link.ts';

export interface PrinterDevice {
  /** `stream`: takes bytes (`stream-device.ts`); `document`: takes documents and keeps jobs (`document-device.ts`). */
  readonly kind: 'stream' | 'document';
  readonly uri: string;
  /** The identity that the device must have; null: none is known. */
  expected: string | null;
  /** Another device has been found at its address: until that one is gone, no connection is tried. */
  displaced: boolean;
  /** The reasons that a job gives while the device cannot be reached. */
  offline: readonly PrinterReason[];
  /** Whether it has ever answered a question. One that never has is not waited for. */
  answers: boolean;
  /** What the device itself can say of what came out; `nothing`, or null: not known yet. */
  readonly confirms: 'count' | 'pending' | 'job' | 'nothing' | null;
  /** Called with every status a job reads, and with null when the device could not be reached. */
  onStatus: (status: DeviceStatus | null) => void;
  /** The device was found at another address; a job under way goes on there when its connection breaks. */
  moveTo(uri: string): void;
  /** Another agent, or nobody, has served it until now: it may hold half a label of somebody else's. */
  distrust(): void;
  /** Makes the link of one job to the device. */
  link(options: LinkOptions): PrinterLink;
  /** Closes what is open. What follows is on a new connection. */
  drop(): Promise<void>;
  /**
   * Asks the device who and how it is. Never throws for a device that is not there.
   * @param aside another agent serves it: a device that takes one connection only is mostly left to that agent
   */
  probe(signal: AbortSignal, aside?: boolean): Promise<ProbeResult>;
}
