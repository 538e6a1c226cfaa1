/** One printer as the agent knows it: its identity, its address and its state. */

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
import type { ChosenDriver } from '../discovery/provider.ts';
import { CONFIGURED } from '../discovery/providers/configured.ts';
import type { Confirmation } from '../printer-config.ts';
import { formatsOf } from './formats.ts';
import type { PrinterDevice } from './printer-device.ts';

type DrivenEndpoint = KnownEndpoint & { driver: ChosenDriver };

export class Printer {
  readonly id: string;
  readonly #models: readonly Fingerprint[];
  readonly #usual: Confirmation;
  /** The address `elsewhere`, while no address at which the printer may be driven is reached. */
  #claimedAt: string | null = null;
  #device: PrinterDevice;
  #known: KnownPrinter;
  /** What was last told of the printer, and what was last written down. */
  #told = '';
  #kept = { text: '', seenAt: 0 };
  online = false;
  /** The printer is there, but shows another certificate than the one it is known by. */
  refused = false;
  /** An address where a device says that it is this printer, but where this printer must not be driven. */
  elsewhere: string | null = null;
  /** Another agent serves the printer. */
  servedElsewhere = false;
  /** When the printer was last there, ms since the epoch. */
  seenAt: number;
  state: PrinterState = 'unknown';
  reasons: readonly PrinterReason[] = [];
  #supplies: readonly PrinterSupply[] = [];

  /**
   * Offline until it is seen.
   * @param models the operator's own table of models
   * @param usual the setting for all of the agent's printers
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

  /** The device that the printer is driven with. `learn` may replace it, if the new endpoint is of another kind. */
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

  /** Takes over what is now known of the printer, and the device to drive it with. */
  learn(known: KnownPrinter, device: PrinterDevice): void {
    this.#known = known;
    this.#device = device;
    const { uri, answers, identity } = this.endpoint;
    device.answers ||= answers;
    device.expected = identity === null ? null : printerIdOf(identity);
    device.moveTo(uri);
  }

  /** @param status null: the printer could not be asked */
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

  /** As set for the printer itself, or else for its model, or else for all of the agent's printers. */
  confirmation(): Confirmation {
    return this.#driver().confirmation ?? this.#model().confirmation ?? this.#usual;
  }

  /** How Platen learns that a label of this printer is out; undefined: not known before the printer is reached. */
  #confirmedBy(): ConfirmedBy | undefined {
    const { confirms } = this.#device;
    if (confirms === null || (!this.online && this.#device.expected === null)) return undefined;
    if (confirms !== 'nothing') return confirms;
    return this.confirmation() === 'transport' ? 'delivery' : 'person';
  }

  /** Whether bytes of this language may go to the printer at the endpoint that it is driven by. */
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

  /** What people are told of the printer, and which endpoints lead to it. */
  #shown(): string {
    return JSON.stringify([this.describe(), this.#known.endpoints.map(({ uri }) => uri), this.#device.kind]);
  }

  /** What is told of the printer has changed since `told` was called. */
  get isToTell(): boolean {
    return this.#told !== this.#shown();
  }

  told(): void {
    this.#told = this.#shown();
  }

  /** Writes down what is known of the printer, if this has changed, or if `seenAt` was written down more than `ms` ago. */
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

  /** How the printer is driven. The operator's settings for it count at every endpoint. */
  #driver(): ChosenDriver {
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

  /** What the device said of itself at the driven endpoint; or else at another one, but then without languages and raster. */
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

/** The endpoint that a printer is driven by. If several providers list its address, what the operator wrote down counts. */
export function drivenBy({ id, uri, endpoints }: KnownPrinter): DrivenEndpoint {
  const all = endpoints.filter(
    (endpoint): endpoint is DrivenEndpoint => endpoint.uri === uri && endpoint.driver !== null,
  );
  const endpoint = all.find(({ provider }) => provider === CONFIGURED) ?? all[0];
  if (endpoint === undefined) throw new TypeError(`no endpoint to the printer ${id}`);
  return endpoint;
}

/** The part of an address that tells a person something: the host, or else a queue's name or a path. */
function placeOf(uri: string): string {
  const { host, pathname } = new URL(uri);
  if (host !== '') return host;
  try {
    return plainText(decodeURI(pathname)) || uri;
  } catch {
    return uri;
  }
}
