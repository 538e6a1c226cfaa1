/** One printer as the agent knows it: who it is, where it is, how it is. */

import type { DeviceState } from '../../../drivers/device.ts';
import { plainText } from '../../../drivers/transports/device-id.ts';
import type { LanguageId } from '../../contract/format.ts';
import type {
  ConfirmedBy,
  PrinterDescription,
  PrinterReason,
  PrinterState,
  PrinterSupply,
} from '../../contract/printer.ts';
import type { Logger } from '../../log.ts';
import { type Fingerprint, fingerprintOf } from '../discovery/fingerprints.ts';
import { addressOf, evidenceOf, printerIdOf } from '../discovery/identity.ts';
import type { KnownEndpoint, KnownPrinter, KnownPrinters } from '../discovery/known.ts';
import type { DriverChoice } from '../discovery/provider.ts';
import { CONFIGURED } from '../discovery/providers/configured.ts';
import type { Confirmation } from '../printer-entry.ts';
import { formatsOf } from './formats.ts';
import type { PrinterDevice } from './printer-device.ts';

type DrivenEndpoint = KnownEndpoint & { driver: DriverChoice };

export class Printer {
  readonly id: string;
  readonly #models: readonly Fingerprint[];
  readonly #usual: Confirmation;
  /** Where `elsewhere` is, while nothing is reached where the printer may be driven. */
  #claimedAt: string | null = null;
  #device: PrinterDevice;
  #known: KnownPrinter;
  /** What was last told of it, and what was last kept. */
  #told = '';
  #kept = { text: '', seenAt: 0 };
  online = false;
  /** It is there, and shows another certificate than it is known by. */
  refused = false;
  /** An address where a device says that it is this printer, but where this printer must not be driven. */
  elsewhere: string | null = null;
  /** Another agent serves it. */
  servedElsewhere = false;
  /** When it was last there, ms since the epoch. */
  seenAt: number;
  state: PrinterState = 'unknown';
  reasons: readonly PrinterReason[] = [];
  #supplies: readonly PrinterSupply[] = [];

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

  /** What it is driven with; another one after `learn`, where its endpoint is of another kind. */
  get device(): PrinterDevice {
    return this.#device;
  }

  get known(): KnownPrinter {
    return this.#known;
  }

  /** The endpoint that the printer is driven by. */
  get endpoint(): DrivenEndpoint {
    return drivenBy(this.#known);
  }

  /** Takes over what is known by now. */
  learn(known: KnownPrinter, device: PrinterDevice): void {
    this.#known = known;
    this.#device = device;
    const { uri, answers, identity } = this.endpoint;
    device.answers ||= answers;
    device.expected = identity === null ? null : printerIdOf(identity);
    device.moveTo(uri);
  }

  /** null: it could not be asked. */
  status(status: DeviceState | null): void {
    this.state = status?.state ?? 'unknown';
    this.reasons = status?.reasons ?? [];
    this.#supplies = status?.supplies ?? [];
    this.#device.offline = this.#offline();
  }

  /** @param at where a device says that it is this printer, while its configured addresses are not reached */
  claimed(at: string | null, logger: Logger): void {
    if (at !== null && this.#claimedAt !== at) {
      const [found, named] = [addressOf(at), addressOf(this.endpoint.uri)];
      logger.warn(
        { printer: this.id, named, found },
        'printer not driven where it is found: the configuration has it elsewhere, without "mayMove"',
      );
    }
    this.#claimedAt = at;
  }

  /** As set for it, for its model, or for all of the agent's printers. */
  confirmation(): Confirmation {
    return this.#driver().confirmation ?? this.#model().confirmation ?? this.#usual;
  }

  /** How it becomes known that a label of it is out; undefined: not known before it is reached. */
  #confirmedBy(): ConfirmedBy | undefined {
    const { confirms } = this.#device;
    if (confirms === null || (!this.online && this.#device.expected === null)) return undefined;
    if (confirms !== 'nothing') return confirms;
    return this.confirmation() === 'transport' ? 'delivery' : 'person';
  }

  /** Whether bytes of this language may go to it where it is driven. */
  speaks(language: LanguageId): boolean {
    const { language: usual, formats = [] } = this.#driver();
    return usual === language || formats.some((format) => format.language === language);
  }

  describe(): PrinterDescription {
    const driver = this.#driver();
    const identity = this.#identity();
    const uri = addressOf(driver.uri);
    const confirmed = this.#confirmedBy();
    const { languages: _, ...size } = this.#model();
    const evidence = this.#known.endpoints.flatMap(({ told }) => told.model ?? []);
    const model = (identity?.model ?? evidence[0])?.slice(0, 200).toWellFormed();
    return {
      id: this.id,
      name: (driver.name ?? identity?.name ?? model ?? placeOf(uri)).slice(0, 200).toWellFormed(),
      evidence: evidenceOf(this.id),
      uri,
      ...(model !== undefined && { model }),
      state: this.online ? this.state : 'unknown',
      reasons: this.online ? [...this.reasons] : this.#offline(),
      ...(this.#supplies.length > 0 && { supplies: [...this.#supplies] }),
      formats: formatsOf({ ...size, ...driver }, identity),
      ...(confirmed !== undefined && { confirmedBy: confirmed }),
    };
  }

  /** What people are told of it, and by which endpoints it is there. */
  #shown(): string {
    return JSON.stringify([this.describe(), this.#known.endpoints.map(({ uri }) => uri), this.#device.kind]);
  }

  /** Something of it has changed since `told`. */
  get isToTell(): boolean {
    return this.#told !== this.#shown();
  }

  told(): void {
    this.#told = this.#shown();
  }

  /** Writes down what is known of it, where that has changed or is older than `ms`. */
  keepIn(store: Pick<KnownPrinters, 'put'>, ms: number): void {
    const text = JSON.stringify(this.#known);
    if (this.#kept.text === text && this.seenAt - this.#kept.seenAt < ms) return;
    this.#kept = { text, seenAt: this.seenAt };
    store.put(this.#known, this.seenAt);
  }

  #offline(): PrinterReason[] {
    return [
      'offline',
      ...(this.refused ? (['certificate-unknown'] as const) : []),
      ...(this.#claimedAt === null ? [] : (['found-elsewhere'] as const)),
    ];
  }

  /** How the printer is driven, with what the operator has set for it, whichever endpoint that is. */
  #driver(): DriverChoice {
    const { driver } = this.endpoint;
    const set = this.#known.endpoints.find(({ provider }) => provider === CONFIGURED)?.driver;
    if (set == null) return driver;
    const { formats, ...rest } = set;
    const alike = set.language === driver.language;
    return {
      ...driver,
      ...rest,
      uri: driver.uri,
      language: driver.language,
      ...(alike && formats !== undefined && { formats }),
    };
  }

  /** What the device said of itself where it is driven; or else elsewhere, without languages and raster. */
  #identity(): KnownEndpoint['identity'] {
    if (this.endpoint.identity !== null) return this.endpoint.identity;
    const other = this.#known.endpoints.find(({ identity }) => identity !== null)?.identity;
    if (other == null) return null;
    const { languages: _, raster: __, ...rest } = other;
    return rest;
  }

  #model(): Omit<Fingerprint, 'match'> {
    const told = this.#known.endpoints
      .map((endpoint) => endpoint.told)
      .find(({ model }) => model !== undefined);
    const model = this.#identity()?.model;
    const name = told === undefined ? this.#driver().name : undefined;
    return fingerprintOf({ ...told, ...(model !== undefined && { model }) }, this.#models, name);
  }
}

/** The endpoint that a printer is driven by: as the operator wrote it down, where the same address is listed twice. */
export function drivenBy({ id, uri, endpoints }: KnownPrinter): DrivenEndpoint {
  const all = endpoints.filter(
    (endpoint): endpoint is DrivenEndpoint => endpoint.uri === uri && endpoint.driver !== null,
  );
  const endpoint = all.find(({ provider }) => provider === CONFIGURED) ?? all[0];
  if (endpoint === undefined) throw new TypeError(`no endpoint to the printer ${id}`);
  return endpoint;
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
