/** One address at which one or more providers list a printer, and what was found there. */

import type { TransportError } from '../../../drivers/connection.ts';
import type { DeviceIdentity, DeviceStatus } from '../../../drivers/device.ts';
import type { UnreachedPrinter } from '../../contract/printer.ts';
import { withoutCredentials } from '../../words/without-credentials.ts';
import { contradict, type Evidence, toldAndSaid } from './evidence.ts';
import { addressOf } from './identity.ts';
import type { KnownEndpoint } from './known.ts';
import type { ChosenDriver, Sighting } from './provider.ts';
import { CONFIGURED } from './providers/configured.ts';

/** What a device answered; null: it was not asked, because a job uses it or is about to, or because another agent serves it. */
export type DeviceAnswer =
  | { reachable: false; error: TransportError }
  | {
      reachable: true;
      /** The device's language has a question that asks who it is. */
      canBeAsked: boolean;
      identity: DeviceIdentity | null;
      /** All that the device said about its identity. */
      said: Evidence;
      status: DeviceStatus | null;
      /** The device has shown the certificate that it was known by before, or the configured one. */
      vouched?: boolean;
    }
  | null;

/** How often a silent device is asked before Platen identifies it by its address alone. */
const ASKED = 3;
/** Scans between two questions to a spare endpoint: it works, but no printer is driven by it. */
const SPARE = 6;

interface Listing {
  sighting: Sighting;
  near: boolean;
  driver: ChosenDriver | undefined;
}

/** What the device at an address last said of itself. It is kept while the device says nothing more. */
export type KnownDevice = Pick<KnownEndpoint, 'said' | 'identity' | 'answers'>;

export class Endpoint {
  readonly uri: string;
  readonly #begun = performance.now();
  /** By provider. */
  readonly listed = new Map<string, Listing>();
  said: Evidence;
  identity: DeviceIdentity | null;
  answers: boolean;
  /** A printer is driven by this endpoint. */
  driven = false;
  /** The device accepted a connection when it was last asked. */
  reached = false;
  status: DeviceStatus | null = null;
  /** When the status that a job has read here was last passed on, by `performance.now`. */
  toldAt = 0;
  /** Why the device was not reached when it was last asked, in words for a person. */
  unreached: string | null = null;
  /** Since when the device has not been reached: the first of the failures in a row. */
  unreachedSince: string | null = null;
  /** The device shows another certificate than the one that its printer is known by. */
  refused = false;
  /** The device shows the certificate that its printer was already known by, or the configured one. */
  vouched = false;
  /** How often the device has accepted a connection and then said nothing. */
  #silent = 0;
  asked = false;
  asking = false;
  /** `performance.now()` */
  nextAt = 0;

  constructor(uri: string, { said, identity, answers }: KnownDevice) {
    this.uri = uri;
    this.said = said;
    this.identity = identity;
    this.answers = answers;
  }

  /** How the device is driven: as the configuration says, or else as the first provider that lists it says. */
  get driver(): ChosenDriver | undefined {
    const all = [...this.listed.values()].flatMap(({ driver }) => driver ?? []);
    return this.listed.get(CONFIGURED)?.driver ?? all[0];
  }

  /** The address is a print server's queue. */
  get queue(): boolean {
    return [...this.listed.keys()].some((provider) => this.evidence(provider).queue !== undefined);
  }

  /** Why the printer that the configuration names here is not reached; undefined: it is reached, or none is named here. */
  get neverReached(): UnreachedPrinter | undefined {
    const named = this.listed.get(CONFIGURED)?.sighting.entry;
    if (named === undefined || this.unreached === null) return undefined;
    return {
      uri: addressOf(this.uri),
      ...(named.name !== undefined && { name: named.name }),
      why: withoutCredentials(this.unreached).slice(0, 500),
      ...(this.unreachedSince !== null && { since: this.unreachedSince }),
    };
  }

  /** The endpoint still waits for its first question. @param ms how long it counts as new */
  isNew(ms: number): boolean {
    return !this.asked && this.driver !== undefined && performance.now() - this.#begun < ms;
  }

  evidence(provider: string): Evidence {
    return toldAndSaid(this.listed.get(provider)?.sighting.evidence ?? {}, this.said);
  }

  /** Enough is known of the device to call it a printer. */
  get ready(): boolean {
    if (!this.reached || this.driver === undefined) return false;
    const named = [...this.listed.values()].some(({ sighting: { entry, evidence } }) => {
      const { serial, uuid, deviceId, mac, queue } = evidence;
      return [entry?.id, serial, uuid, deviceId, mac, queue].some((one) => one !== undefined);
    });
    return this.identity !== null || named || this.#silent >= ASKED;
  }

  /** Takes over what the device has just answered. */
  found(probe: NonNullable<DeviceAnswer>): void {
    this.asked = true;
    this.reached = probe.reachable;
    this.unreached = probe.reachable ? null : probe.error.message;
    this.unreachedSince = probe.reachable ? null : (this.unreachedSince ?? new Date().toISOString());
    this.refused = !probe.reachable && probe.error.code === 'certificate-unknown';
    // A device that no longer answers is busy or broken: its state is unknown, not idle.
    this.status = probe.reachable ? probe.status : null;
    if (!probe.reachable) {
      this.#silent = 0;
      return;
    }
    this.vouched = probe.vouched ?? false;
    this.answers ||= probe.identity !== null || probe.status !== null;
    if (probe.identity !== null) {
      this.#silent = 0;
      this.identity = probe.identity;
      this.said = probe.said;
      return;
    }
    this.#silent += probe.canBeAsked ? 1 : ASKED;
    // A provider says that another device is at this address now, not the one that answered last.
    const isAnothers = [...this.listed.values()].some(({ sighting }) =>
      contradict(sighting.evidence, this.said),
    );
    if (this.#silent < ASKED || !isAnothers) return;
    this.said = {};
    this.identity = null;
    this.answers = false;
  }

  /** How long until the device is asked again, ms. */
  restFor({ scan, near }: { scan: number; near: number }): number {
    if (!this.reached) return [...this.listed.values()].some((one) => one.near) ? near : scan;
    if (this.identity === null && this.#silent < ASKED) return near;
    return this.driven ? scan : scan * SPARE;
  }

  /** When this text changes, the endpoints may have to be merged into printers anew. */
  get news(): string {
    const { reached, unreached, refused, vouched, identity, said, answers, ready } = this;
    return JSON.stringify([reached, unreached !== null, refused, vouched, identity, said, answers, ready]);
  }
}
