/** One printer as the agent knows it: who it is, where it is, how it is. */

import type { DeviceStatus } from '../../../drivers/device.ts';
import { plainText } from '../../../drivers/transports/device-id.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { ConfirmedBy, PrinterDescription, PrinterReason, PrinterState } from '../../contract/printer.ts';
import type { Logger } from '../../log.ts';
import type { Confirmation } from '../printer/confirmation.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { type Fingerprint, fingerprintOf } from './fingerprints.ts';
import { formatsOf } from './formats.ts';
import { addressOf, printerIdOf } from './identity.ts';
import type { KnownPrinter, KnownWay } from './known-printers.ts';
import type { Candidate } from './provider.ts';
import { CONFIGURED } from './providers/configured.ts';

type DrivenWay = KnownWay & { candidate: Candidate };

export class FoundPrinter {
  readonly id: string;
  readonly #models: readonly Fingerprint[];
  readonly #usual: Confirmation;
  /** `elsewhere`, while nothing is reached where it may be driven. */
  #claimedAt: string | null = null;
  #device: PrinterDevice;
  #known: KnownPrinter;
  online = false;
  /** It is there, and shows another certificate than it is known by. */
  refused = false;
  /** A way that leads to what says it is this printer, where this one must not be driven. */
  elsewhere: string | null = null;
  /** When it was last there, ms since the epoch. */
  seenAt: number;
  state: PrinterState = 'unknown';
  reasons: readonly PrinterReason[] = [];

  /**
   * Offline until it is seen.
   * @param models what the operator has set for models
   * @param usual what is set for all of the agent's printers
   */
  constructor(
    known: KnownPrinter,
    device: PrinterDevice,
    seenAt: number,
    models: readonly Fingerprint[],
    usual: Confirmation = 'device',
  ) {
    this.#usual = usual;
    this.id = known.id;
    this.#known = known;
    this.#device = device;
    this.#models = models;
    this.seenAt = seenAt;
    this.learn(known, device);
  }

  /** What it is driven with; another one after `learn`, where the way is of another kind. */
  get device(): PrinterDevice {
    return this.#device;
  }

  get known(): KnownPrinter {
    return this.#known;
  }

  /** The way that it is driven by. */
  get way(): DrivenWay {
    return drivenBy(this.#known);
  }

  /** Takes over what is known by now. */
  learn(known: KnownPrinter, device: PrinterDevice): void {
    this.#known = known;
    this.#device = device;
    const { uri, answers, identity } = this.way;
    device.answers ||= answers;
    device.expected = identity === null ? null : printerIdOf(identity);
    device.moveTo(uri);
  }

  /** null: it could not be asked. */
  status(status: Pick<DeviceStatus, 'state' | 'reasons'> | null): void {
    this.state = status?.state ?? 'unknown';
    this.reasons = status?.reasons ?? [];
    this.#device.offline = this.#offline();
  }

  /** Nothing is reached where the configuration has the printer; `at` something says that it is there. */
  claimed(at: string | null, logger: Logger): void {
    if (at !== null && this.#claimedAt !== at) {
      const [found, named] = [addressOf(at), addressOf(this.way.uri)];
      logger.warn(
        { printer: this.id, named, found },
        'printer not driven where it is found: the configuration has it elsewhere, without "mayMove"',
      );
    }
    this.#claimedAt = at;
  }

  /** As set for it, for its model, or for all of the agent's printers. */
  confirmation(): Confirmation {
    return this.#candidate().confirmation ?? this.#model().confirmation ?? this.#usual;
  }

  /** How it becomes known that a label of it is out; undefined: not known before it is reached. */
  #confirmedBy(): ConfirmedBy | undefined {
    const { confirms } = this.#device;
    if (confirms === null || (!this.online && this.#device.expected === null)) return undefined;
    if (confirms !== 'nothing') return confirms;
    return this.confirmation() === 'transport' ? 'delivery' : 'person';
  }

  /** Whether bytes of this language may go to it by the way that it is driven. */
  speaks(language: LanguageId): boolean {
    const { language: usual, formats = [] } = this.#candidate();
    return usual === language || formats.some((format) => format.language === language);
  }

  describe(): PrinterDescription {
    const candidate = this.#candidate();
    const identity = this.#identity();
    const uri = addressOf(candidate.uri);
    const confirmed = this.#confirmedBy();
    const { languages: _, ...size } = this.#model();
    const evidence = this.#known.ways.flatMap(({ told }) => told.model ?? []);
    const model = (identity?.model ?? evidence[0])?.slice(0, 200);
    return {
      id: this.id,
      name: (candidate.name ?? identity?.name ?? model ?? placeOf(uri)).slice(0, 200),
      evidence: evidenceOf(this.id),
      uri,
      ...(model !== undefined && { model }),
      state: this.online ? this.state : 'unknown',
      reasons: this.online ? [...this.reasons] : this.#offline(),
      formats: formatsOf({ ...size, ...candidate }, identity),
      ...(confirmed !== undefined && { confirmedBy: confirmed }),
    };
  }

  #offline(): PrinterReason[] {
    return [
      'offline',
      ...(this.refused ? (['certificate-unknown'] as const) : []),
      ...(this.#claimedAt === null ? [] : (['found-elsewhere'] as const)),
    ];
  }

  /** With what the operator has written down for this printer, by whatever way it is driven. */
  #candidate(): Candidate {
    const { candidate } = this.way;
    const set = this.#known.ways.find(({ provider }) => provider === CONFIGURED)?.candidate;
    if (set == null) return candidate;
    const { formats, ...rest } = set;
    const alike = set.language === candidate.language;
    return {
      ...candidate,
      ...rest,
      uri: candidate.uri,
      language: candidate.language,
      ...(alike && formats !== undefined && { formats }),
    };
  }

  /** What the device said of itself, over the way that it is driven by or else another; what it takes, over that only. */
  #identity(): KnownWay['identity'] {
    if (this.way.identity !== null) return this.way.identity;
    const other = this.#known.ways.find(({ identity }) => identity !== null)?.identity;
    if (other == null) return null;
    const { languages: _, raster: __, ...rest } = other;
    return rest;
  }

  #model(): Omit<Fingerprint, 'match'> {
    const told = this.#known.ways.map((way) => way.told).find(({ model }) => model !== undefined);
    const model = this.#identity()?.model;
    const name = told === undefined ? this.#candidate().name : undefined;
    return fingerprintOf({ ...told, ...(model !== undefined && { model }) }, this.#models, name);
  }
}

/** The way that a printer is driven by: as the operator wrote it down, where the same address is listed twice. */
export function drivenBy({ id, uri, ways }: KnownPrinter): DrivenWay {
  const all = ways.filter((way): way is DrivenWay => way.uri === uri && way.candidate !== null);
  const way = all.find(({ provider }) => provider === CONFIGURED) ?? all[0];
  if (way === undefined) throw new TypeError(`no way to the printer ${id}`);
  return way;
}

/** What an address says to a person: a host, or else a queue's name or a path. */
function placeOf(uri: string): string {
  const { host, pathname } = new URL(uri);
  if (host !== '') return host;
  try {
    return plainText(decodeURI(pathname)) || uri;
  } catch {
    return uri;
  }
}

const EVIDENCE = ['serial', 'uuid', 'device-id', 'mac', 'queue', 'address'] as const;

/** What the ID says it was made from. */
function evidenceOf(id: string): PrinterDescription['evidence'] {
  return EVIDENCE.find((evidence) => id.startsWith(`${evidence}-`)) ?? 'address';
}
