/**
 * One printer that takes documents. Several may talk to it at once, so that a job and the question "are you still
 * there" do not get in each other's way; that jobs follow each other is the station's doing.
 *
 * Whether the printer counts what comes out cannot be asked: many always say 0. It is learnt from every document
 * that came out whole, and believed only as long as each of them was counted right.
 */

import { TransportError } from '../../../drivers/connection.ts';
import type { DeviceIdentity, DeviceStatus } from '../../../drivers/device.ts';
import type { DocumentDescription, DocumentPort } from '../../../drivers/transports/document/document.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { ProbeResult } from '../discovery/endpoint.ts';
import { type Evidence, evidenceOfDeviceId, evidenceOfDeviceUri, uuidOf } from '../discovery/evidence.ts';
import { addressOf, printerIdOf } from '../discovery/identity.ts';
import type { Certificates } from './certificates.ts';
import type { LinkOptions, PrinterLink } from './link.ts';
import type { PrinterDevice } from './printer-device.ts';

export interface DocumentDeviceOptions {
  uri: string;
  certificates: Certificates;
  transports: Transports;
  /** @throws TransportError `address-invalid` */
  open(uri: string): DocumentPort;
  /** The way of one job to it. */
  link(device: DocumentDevice, options: LinkOptions): PrinterLink;
}

interface Described {
  port: DocumentPort;
  description: DocumentDescription;
  /** All that it says of who it is. */
  said: Evidence;
  identity: DeviceIdentity;
  vouched: boolean;
}

export class DocumentDevice implements PrinterDevice {
  readonly kind = 'document';
  readonly #options: DocumentDeviceOptions;
  #uri: string;
  #port: DocumentPort | null = null;

  #expected: string | null = null;
  /** Who showed what when it was last asked, while nothing was driven with it. */
  #unpinned: { subjects: string[]; certificate: string } | null = null;
  displaced = false;
  offline: readonly PrinterReason[] = ['offline'];
  servedElsewhere = false;
  answers = false;
  onStatus: (status: DeviceStatus | null) => void = () => undefined;
  /** As of the last connection. */
  description: DocumentDescription | null = null;
  /** The counter of its life, and the one of each job, count labels; null: no document has shown that yet. */
  countsLife = false;
  countsJobs: boolean | null = null;

  constructor(options: DocumentDeviceOptions) {
    this.#options = options;
    this.#uri = options.uri;
  }

  get uri(): string {
    return this.#uri;
  }

  get confirms(): PrinterDevice['confirms'] {
    if (this.description === null) return null;
    return this.description.spooler === 'delivers' ? 'nothing' : 'job';
  }

  get expected(): string | null {
    return this.#expected;
  }

  /** A printer is driven with it from now on: what was shown is the printer's. */
  set expected(expected: string | null) {
    this.#expected = expected;
    const shown = this.#unpinned;
    this.#unpinned = null;
    if (expected === null || shown === null) return;
    try {
      this.#options.certificates.pin(shown.subjects, shown.certificate);
    } catch (error) {
      // It is said when it is asked next, and nothing goes to it before.
      if (!(error instanceof TransportError)) throw error;
    }
  }

  moveTo(uri: string): void {
    if (uri === this.#uri) return;
    this.#uri = uri;
    this.#unpinned = null;
    this.#port?.close();
    this.#port = null;
  }

  /** Each of its documents is whole by itself. */
  distrust(): void {}

  link(options: LinkOptions): PrinterLink {
    return this.#options.link(this, options);
  }

  /** A job has read a status. */
  answered(status: DeviceStatus): void {
    this.answers = true;
    this.onStatus(status);
  }

  /**
   * The device, once it has said that it is the one expected.
   * @throws TransportError; `device-unreachable` too when another device is at the address
   */
  async connect(signal: AbortSignal): Promise<DocumentPort> {
    if (this.displaced) throw new TransportError('device-unreachable', 'another device is at its address');
    const { port, description, identity } = await this.#describe(signal);
    if (this.expected !== null && printerIdOf(identity) !== this.expected) {
      throw new TransportError('device-unreachable', 'another device answers at its address');
    }
    this.description = description;
    return port;
  }

  async drop(): Promise<void> {
    this.#port?.close();
    this.#port = null;
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    try {
      const { port, description, said, identity, vouched } = await this.#describe(signal);
      this.description ??= description;
      return {
        reachable: true,
        canBeAsked: true,
        identity,
        said,
        status: await port.status(signal),
        vouched,
      };
    } catch (error) {
      // What answers, but not as a printer does, is no printer either.
      if (error instanceof TransportError) return { reachable: false, error };
      throw error;
    }
  }

  /** Asks who is there, and sees to it that it is the device that its certificate says. */
  async #describe(signal: AbortSignal): Promise<Described> {
    const uri = this.#uri;
    const { transports } = this.#options;
    this.#port ??= this.#options.open(uri);
    const port = this.#port;
    try {
      const description = await port.describe(signal);
      const { certificate = null } = port;
      const said = evidenceIn(description, transports.queueOf(uri));
      const identity = identityOf(description, said, uri);
      const subjects = subjectsOf(said, uri);
      // Without one of its own, it is checked against what the configuration says.
      const vouched =
        certificate === null
          ? transports.traits(uri)?.encrypted === true
          : this.#known(subjects, certificate, identity);
      return { port, description, said, identity, vouched };
    } catch (error) {
      // Another device may be there by now: what was shown first is no longer what counts.
      if (error instanceof TransportError && error.code === 'certificate-unknown') await this.drop();
      throw error;
    }
  }

  /** Whether that certificate was known before; what a printer is driven with is known from now on. */
  #known(subjects: string[], certificate: string, identity: DeviceIdentity): boolean {
    const { certificates } = this.#options;
    const known = certificates.check(subjects, certificate);
    if (this.#expected === null) this.#unpinned = { subjects, certificate };
    // Another device there is none that is driven.
    else if (printerIdOf(identity) === this.#expected) {
      certificates.pin(subjects, certificate);
    }
    return known;
  }
}

/** A UUID of a queue is the queue's own, unless its device's address has one. */
function evidenceIn(description: DocumentDescription, queue: string): Evidence {
  const { deviceUri, spooler, makeAndModel } = description;
  const device = evidenceOfDeviceUri(deviceUri ?? '');
  const uuid = device.uuid ?? uuidOf(description.uuid);
  return {
    ...(makeAndModel !== undefined && { model: makeAndModel }),
    ...evidenceOfDeviceId(description.deviceId ?? ''),
    ...device,
    ...(uuid !== undefined && { uuid }),
    ...(spooler !== 'none' && { queue }),
  };
}

/** All that a device says it is: who claims any of it has to be the one. */
function subjectsOf({ serial, uuid }: Evidence, uri: string): string[] {
  const claims = [
    ...(serial === undefined ? [] : [{ evidence: 'serial' as const, value: serial }]),
    ...(uuid === undefined ? [] : [{ evidence: 'uuid' as const, value: uuid }]),
  ];
  const address = { evidence: 'address' as const, value: addressOf(uri) };
  return (claims.length > 0 ? claims : [address]).map(printerIdOf);
}

/** By serial number, then UUID, which of a queue is not its device's; what has neither is known by its address. */
function identityOf(
  description: DocumentDescription,
  { serial, uuid, queue }: Evidence,
  uri: string,
): DeviceIdentity {
  const [media] = description.media;
  const { makeAndModel, name, dpi, languages } = description;
  const evidence: Pick<DeviceIdentity, 'evidence' | 'value'> =
    serial !== undefined
      ? { evidence: 'serial', value: serial }
      : queue !== undefined
        ? { evidence: 'queue', value: queue }
        : uuid !== undefined
          ? { evidence: 'uuid', value: uuid }
          : { evidence: 'address', value: addressOf(uri) };
  return {
    ...evidence,
    ...(makeAndModel !== undefined && { model: makeAndModel }),
    ...(name !== undefined && { name }),
    ...(dpi !== undefined && { dpi }),
    ...(media !== undefined && media),
    ...(languages.length > 0 && { languages }),
    ...(description.media.length > 0 && { media: description.media }),
    ...(description.raster !== undefined && { raster: description.raster }),
  };
}
