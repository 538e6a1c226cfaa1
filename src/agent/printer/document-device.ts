/**
 * One printer that takes documents. Several connections to it may be open at once, so a job and the question "are you still
 * there" do not disturb each other. The station makes the printer's jobs follow one after the other.
 *
 * Nobody can ask a printer whether it counts what comes out: many always say 0. So Platen learns this from each document that
 * came out whole, and believes the counters only if the last such document was counted right.
 */

import { TransportError } from '../../../drivers/connection.ts';
import type { DeviceIdentity, DeviceStatus } from '../../../drivers/device.ts';
import type { DocumentDescription, DocumentPort } from '../../../drivers/transports/document/document.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { DeviceAnswer } from '../discovery/endpoint.ts';
import { type Evidence, evidenceOfDeviceId, evidenceOfDeviceUri, uuidOf } from '../discovery/evidence.ts';
import { addressOf, printerIdOf } from '../discovery/identity.ts';
import type { Certificates } from './certificates.ts';
import type { LinkOptions, PrinterLink } from './link.ts';
import type { PrinterDevice } from './printer-device.ts';

interface DocumentDeviceOptions {
  uri: string;
  certificates: Certificates;
  transports: Transports;
  /** @throws TransportError `address-invalid` */
  open(uri: string): DocumentPort;
  link(device: DocumentDevice, options: LinkOptions): PrinterLink;
}

interface Described {
  port: DocumentPort;
  description: DocumentDescription;
  /** All that the device says about its identity. */
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
  /** The certificate that the device last showed, and who it said it was; only while no printer is driven with the device. */
  #unpinned: { subjects: string[]; certificate: string } | null = null;
  displaced = false;
  offline: readonly PrinterReason[] = ['offline'];
  answers = false;
  onStatus: (status: DeviceStatus | null) => void = () => undefined;
  /** As of the last connection. */
  description: DocumentDescription | null = null;
  /** Whether the printer's lifetime counter, and the counter of each job, count labels; null: no document has shown it yet. */
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

  /** From now on a printer is driven with this device. So the certificate that it last showed is pinned for the printer. */
  set expected(expected: string | null) {
    this.#expected = expected;
    const shown = this.#unpinned;
    this.#unpinned = null;
    if (expected === null || shown === null) return;
    try {
      this.#options.certificates.pin(shown.subjects, shown.certificate);
    } catch (error) {
      // The next question fails for the same reason and reports it. Nothing goes to the device before that question.
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

  /** Nothing to do: each document is whole by itself. */
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
   * Connects, and resolves once the device has said that it is the expected one.
   * @throws TransportError; `device-unreachable` also if another device is at the address
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

  async probe(signal: AbortSignal): Promise<DeviceAnswer> {
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
      // A device that answers, but not as a printer, counts as not reached too.
      if (error instanceof TransportError) return { reachable: false, error };
      throw error;
    }
  }

  /** Asks the device who it is, and checks that the certificate belongs to that device. */
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
      // If there is no certificate to pin, an encrypted connection has been checked against the configuration.
      const vouched =
        certificate === null
          ? transports.traits(uri)?.encrypted === true
          : this.#known(subjects, certificate, identity);
      return { port, description, said, identity, vouched };
    } catch (error) {
      // Another device may be at the address by now. Only a new connection looks at its certificate.
      if (error instanceof TransportError && error.code === 'certificate-unknown') await this.drop();
      throw error;
    }
  }

  /** Whether the certificate was known before. If a printer is driven with the device, this pins the certificate too. */
  #known(subjects: string[], certificate: string, identity: DeviceIdentity): boolean {
    const { certificates } = this.#options;
    const known = certificates.check(subjects, certificate);
    if (this.#expected === null) this.#unpinned = { subjects, certificate };
    // If another device is at the address, its certificate is not pinned.
    else if (printerIdOf(identity) === this.#expected) {
      certificates.pin(subjects, certificate);
    }
    return known;
  }
}

/** What the device says of its identity. A queue's UUID is the queue's own, unless the URI of the queue's device has one. */
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

/** All identities that a device claims, as printer IDs. The device has to show the certificate of each. */
function subjectsOf({ serial, uuid }: Evidence, uri: string): string[] {
  const claims = [
    ...(serial === undefined ? [] : [{ evidence: 'serial' as const, value: serial }]),
    ...(uuid === undefined ? [] : [{ evidence: 'uuid' as const, value: uuid }]),
  ];
  const address = { evidence: 'address' as const, value: addressOf(uri) };
  return (claims.length > 0 ? claims : [address]).map(printerIdOf);
}

/** By serial number. Otherwise a queue by its name, because its UUID is not the device's. Otherwise by UUID, or by address. */
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
