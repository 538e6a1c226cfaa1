/**
 * The agent's printers, and the endpoint that each is driven by. Discovery proposes which endpoints lead to one printer, and
 * its ID. This file knows what is being printed, so it decides what becomes of a proposal:
 *
 * - An endpoint that cannot be reached, and of which nothing is known, is no printer yet. So a printer that is off at the
 *   first start gets its ID when it is switched on. A printer that was seen before keeps its ID.
 * - A device that says nothing gets an ID from what providers tell of it. If they tell nothing either, it gets an ID from its
 *   address after three questions. If it says more later, it gets its right ID, and the printer with the first ID is gone.
 * - At the start, no ID that might soon change is made before every provider has been asked once.
 * - While a job is under way, no ID changes, and no printer changes to an endpoint at which its job is not known. Of the
 *   printer's endpoints only the one that drives it may be asked then, because many printers take only one connection.
 *
 * A printer that the configuration names stays at its addresses (`choice.ts`). If a device elsewhere says that it is this
 * printer, people are told so.
 *
 * A printer is online while the endpoint that it is driven by is listed and can be reached. An offline printer is dropped if
 * it has not been seen for a set time, or if all its endpoints were in exhaustive lists and are not any more.
 */
import type { DeviceState } from '../../../drivers/device.ts';
import type { UnreachedPrinter } from '../../contract/printer.ts';
import type { Logger } from '../../log.ts';
import type { AgentConfig } from '../config.ts';
import { Discovery, type Proposal } from '../discovery/discovery.ts';
import type { DeviceAnswer, Endpoint } from '../discovery/endpoint.ts';
import { addressOf } from '../discovery/identity.ts';
import type { KnownEndpoint, KnownPrinter, KnownPrinters } from '../discovery/known.ts';
import type { ChosenDriver, DiscoveryProvider } from '../discovery/provider.ts';
import { CONFIGURED } from '../discovery/providers/configured.ts';
import type { Drivers } from '../drivers.ts';
import { type Certificates, noCertificates } from './certificates.ts';
import { boundTo, drivenAlike, firstEndpoint, nextEndpoint } from './choice.ts';
import { deviceFor } from './devices.ts';
import { drivenBy, Printer } from './printer.ts';
import type { PrinterDevice } from './printer-device.ts';

export type PrinterEvent = 'added' | 'changed' | 'offline' | 'back' | 'gone';

interface PrintersOptions {
  /** What tells this computer from others: the agent's ID. */
  host: string;
  config: Pick<AgentConfig, 'timings' | 'transport' | 'access' | 'confirmation' | 'discovery'>;
  drivers: Drivers;
  /** Default: every device is seen for the first time. */
  certificates?: Certificates;
  providers: readonly DiscoveryProvider[];
  known: Pick<KnownPrinters, 'all' | 'put' | 'forget'>;
  mostPrinters?: number;
  /** Whether a job of the printer is under way, or was cut off and may have labels out. */
  busy(printerId: string): boolean;
  onEvent(event: PrinterEvent, printer: Printer): void;
  /** What is listed, reached or said has changed. It need not concern a printer yet. */
  onNews?(): void;
  /** A provider's scan is over, with or without a result. */
  onScan?: () => void;
  logger: Logger;
}

/** After a merge, the next one waits for this many times as long as the merge took. */
const REST = 10;
/** Endpoints kept of one printer, so that its entry stays small. */
const MOST_ENDPOINTS = 50;
/** Once there are so many printers, none that is only found is added. The configuration may name more. */
const MOST_PRINTERS = 5_000;
/** The time of an endpoint's last listing is rounded down to this many ms, so that it is not written down at each scan. */
const LISTED_TO = 600_000;

export class Printers {
  readonly #options: PrintersOptions;
  readonly #discovery: Discovery;
  readonly #printers = new Map<string, Printer>();
  /** Which printer an endpoint was found to lead to. */
  readonly #owners = new Map<Endpoint, Printer>();
  /** The devices that ask at endpoints by which no printer is driven. */
  readonly #spares = new Map<Endpoint, { driver: ChosenDriver; device: PrinterDevice }>();
  #ticking: NodeJS.Timeout | undefined;
  #merging: NodeJS.Timeout | undefined;
  #restUntil = 0;
  #stopped = false;
  #full = false;
  /** A change waits, for a job under way or for the first look. */
  #deferred = false;

  constructor(options: PrintersOptions) {
    const { config, drivers } = options;
    this.#options = options;
    this.#discovery = new Discovery({
      ...options,
      transports: drivers.transports,
      fingerprints: config.discovery.fingerprints,
      timings: config.timings,
      probe: (endpoint, driver, signal) => this.#probe(endpoint, driver, signal),
      onNews: () => this.#soon(),
      onStatus: (endpoint) => {
        const printer = this.#owners.get(endpoint);
        if (printer !== undefined) this.#refresh(printer);
      },
    });
  }

  get all(): Printer[] {
    return [...this.#printers.values()];
  }

  /** What each provider last said. */
  get lastScans(): Discovery['lastScans'] {
    return this.#discovery.lastScans;
  }

  /** The addresses of all endpoints that lead to a printer now. */
  addressesOf(printer: Printer): string[] {
    return [...this.#owners].flatMap(([{ uri }, owner]) => (owner === printer ? [uri] : []));
  }

  /** Addresses that the configuration names, where nothing was ever reached. */
  get unreached(): UnreachedPrinter[] {
    return [...this.#discovery.endpoints].flatMap((endpoint) =>
      this.#owners.has(endpoint) ? [] : (endpoint.neverReached ?? []),
    );
  }

  /** Why nothing was reached at an address when it was last asked; null: something was reached, or nobody asked. */
  readonly unreachedAt = (uri: string): string | null => this.#discovery.endpoints.at(uri)?.unreached ?? null;

  /** Adds the known printers before it returns, all of them still offline. From then on it looks for others. */
  start(): void {
    const known = [...this.#options.known.all()].sort((a, b) => a.seenAt - b.seenAt);
    for (const { printer, seenAt } of known) this.#add(printer, seenAt);
    this.#ticking = setInterval(() => this.#tick(), this.#options.config.timings.near);
    this.#discovery.start(known.map(({ printer }) => printer));
  }

  /** No more scans and questions; a job under way keeps its device. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#ticking);
    await this.#discovery.stop();
    clearTimeout(this.#merging);
    await Promise.all([...this.#spares.values()].map(({ device }) => device.drop()));
  }

  #tick(): void {
    if (this.#deferred) this.#soon();
    const owners = new Set(this.#owners.values());
    const tooOld = Date.now() - this.#options.config.timings.dropAfter;
    for (const printer of this.all) {
      if (!owners.has(printer) && printer.seenAt < tooOld) this.#gone(printer);
    }
  }

  /** Asks with the device of the printer that is driven here, or else with a spare device, unless a job is under way. */
  async #probe(endpoint: Endpoint, driver: ChosenDriver, signal: AbortSignal): Promise<DeviceAnswer> {
    const owner = this.#owners.get(endpoint);
    if (owner?.known.uri === endpoint.uri) return await owner.device.probe(signal, owner.servedElsewhere);
    if (owner !== undefined && this.#options.busy(owner.id)) return null;
    let spare = this.#spares.get(endpoint);
    if (spare?.driver !== driver) {
      void spare?.device.drop();
      spare = { driver, device: this.#device(driver) };
      this.#spares.set(endpoint, spare);
    }
    return await spare.device.probe(signal);
  }

  /** Merges once for all news of about the same time. The longer a merge takes, the longer the next one waits. */
  #soon(): void {
    this.#options.onNews?.();
    if (this.#stopped || this.#merging !== undefined) return;
    this.#merging = setTimeout(
      () => {
        const began = performance.now();
        this.#merge();
        this.#merging = undefined;
        const now = performance.now();
        this.#restUntil = now + REST * (now - began);
      },
      Math.max(0, this.#restUntil - performance.now()),
    );
  }

  #merge(): void {
    this.#deferred = false;
    const { endpoints } = this.#discovery;
    const proposals = this.#discovery.propose(this.all.map(({ known }) => known));
    this.#owners.clear();
    for (const proposal of proposals) this.#take(proposal);
    endpoints.drive((endpoint) => this.#owners.get(endpoint)?.known.uri === endpoint.uri);
    for (const endpoint of this.#spares.keys()) {
      if (endpoints.at(endpoint.uri) !== endpoint) void this.#spareAt(endpoint)?.drop();
    }
    const owners = new Set(this.#owners.values());
    // No printer is dropped as long as an endpoint was never asked: the configuration may have moved the printer there.
    const asking = [...endpoints].some(({ driver, asked }) => driver !== undefined && !asked);
    for (const printer of this.all) {
      const endpoint = endpoints.at(printer.known.uri);
      const owner = endpoint?.reached ? this.#owners.get(endpoint) : undefined;
      printer.device.displaced = owner !== undefined && owner !== printer;
      if (!owners.has(printer) && !asking && !this.#isKept(printer)) this.#gone(printer);
      else this.#refresh(printer);
    }
  }

  /** Bounds the number of found printers: anybody on the network can announce some, and each is kept and has a queue. */
  #isFull({ seen }: Proposal): boolean {
    const { mostPrinters = MOST_PRINTERS, logger } = this.#options;
    const named = seen.some(({ provider }) => provider === CONFIGURED);
    if (named || this.#printers.size < mostPrinters) return false;
    if (!this.#full) logger.warn({ printers: mostPrinters }, 'no more printers are taken that are found');
    this.#full = true;
    return true;
  }

  /** False: all endpoints that could drive the printer were in exhaustive lists, and are not any more. */
  #isKept({ known }: Printer): boolean {
    return known.endpoints.some((one) => one.driver !== null && !this.#discovery.isUnlisted(one));
  }

  #take(proposal: Proposal): void {
    const { busy, drivers } = this.#options;
    const { transports } = drivers;
    const endpoints = new Set(proposal.seen.map(({ endpoint }) => endpoint));
    const replaced = proposal.replaces.flatMap((id) => this.#printers.get(id) ?? []);
    const kept = replaced.find(({ id }) => busy(id));
    const had = this.#printers.get(proposal.id) ?? kept;
    const early = had === undefined && !isOwn(proposal) && this.#discovery.isFirstLook;
    const bound = boundTo(endpoints, this.#namedFor(had, endpoints));
    const there = bound === null ? endpoints : new Set([...endpoints].filter(({ uri }) => bound.has(uri)));
    const { uri, waits } = had
      ? nextEndpoint(had.endpoint, there, () => busy(had.id), transports)
      : { uri: firstEndpoint(there, transports), waits: early };
    if (kept !== undefined || waits) this.#deferred = true;
    if (uri === undefined || early) return;
    if (had === undefined && replaced.length === 0 && this.#isFull(proposal)) return;
    for (const old of replaced) if (old !== kept) this.#gone(old);
    const id = had?.id ?? proposal.id;
    const known = { id, uri, endpoints: this.#knownEndpoints(proposal, endpoints, uri, had) };
    const printer = had ?? this.#add(known, Date.now());
    if (had !== undefined) this.#learn(had, known);
    for (const endpoint of endpoints) this.#owners.set(endpoint, printer);
    const elsewhere = [...endpoints].find((endpoint) => endpoint.reached && !bound?.has(endpoint.uri));
    printer.elsewhere = bound && (elsewhere?.uri ?? null);
  }

  /** The endpoints that the configuration has named for the printer and still names, and where no other device is. */
  #namedFor(printer: Printer | undefined, endpoints: ReadonlySet<Endpoint>): KnownEndpoint[] {
    return (printer?.known.endpoints ?? []).filter((one) => {
      const there = this.#discovery.endpoints.at(one.uri);
      const isIts = there === undefined || endpoints.has(there);
      return one.provider === CONFIGURED && isIts && !this.#discovery.isUnlisted(one);
    });
  }

  /** The endpoints that are kept of a printer. The driven one comes first, then those listed now, then those listed before. */
  #knownEndpoints(
    { seen }: Proposal,
    endpoints: ReadonlySet<Endpoint>,
    driven: string,
    printer: Printer | undefined,
  ): KnownEndpoint[] {
    const now = Date.now();
    const listed = seen.flatMap(({ provider, endpoint }): KnownEndpoint[] => {
      const one = endpoint.listed.get(provider);
      if (one === undefined) return [];
      const { uri, said, identity, answers } = endpoint;
      const { sighting, driver = null } = one;
      const listedAt = Math.floor(now / LISTED_TO) * LISTED_TO;
      return [{ provider, uri, driver, told: sighting.evidence, said, identity, answers, listedAt }];
    });
    const before = (printer?.known.endpoints ?? []).filter((one) => {
      if (listed.some(({ provider, uri }) => provider === one.provider && uri === one.uri)) return false;
      if (one.uri === driven) return !listed.some(({ uri }) => uri === driven);
      const there = this.#discovery.endpoints.at(one.uri);
      const elsewhere = there !== undefined && !endpoints.has(there);
      const tooOld = one.listedAt < now - this.#options.config.timings.dropAfter - LISTED_TO;
      return !elsewhere && !tooOld && !this.#discovery.isUnlisted(one);
    });
    const all = [...listed, ...before];
    const first = all.filter(({ uri }) => uri === driven);
    return [...first, ...all.filter(({ uri }) => uri !== driven)].slice(0, MOST_ENDPOINTS);
  }

  #add(known: KnownPrinter, seenAt: number): Printer {
    const { discovery, confirmation } = this.#options.config;
    const device = this.#deviceAt(known.uri) ?? this.#device(drivenBy(known).driver);
    const printer = new Printer(known, device, seenAt, discovery.fingerprints, confirmation);
    this.#listen(printer);
    this.#printers.set(known.id, printer);
    this.#tell('added', printer);
    return printer;
  }

  #learn(printer: Printer, known: KnownPrinter): void {
    const { drivers, logger } = this.#options;
    const { device: old, endpoint } = printer;
    const { driver } = drivenBy(known);
    if (endpoint.uri !== known.uri) {
      const [from, to] = [addressOf(endpoint.uri), addressOf(known.uri)];
      logger.info(
        { printer: printer.id, printerName: printer.describe().name, from, to },
        'printer is driven another way',
      );
    }
    const spare = endpoint.uri === known.uri ? undefined : this.#deviceAt(known.uri);
    if (drivenAlike(endpoint.driver, driver, drivers.transports)) {
      void spare?.drop();
      printer.learn(known, old);
      return;
    }
    printer.learn(known, spare ?? this.#device(driver));
    this.#listen(printer);
    old.onStatus = () => undefined;
    void old.drop();
  }

  #device(driver: ChosenDriver): PrinterDevice {
    const { config, drivers, certificates = noCertificates } = this.#options;
    return deviceFor(driver, config, drivers, certificates);
  }

  /** Takes the spare device of an address, for the printer that will be driven there. */
  #deviceAt(uri: string): PrinterDevice | undefined {
    const endpoint = this.#discovery.endpoints.at(uri);
    return endpoint && this.#spareAt(endpoint);
  }

  #spareAt(endpoint: Endpoint): PrinterDevice | undefined {
    const spare = this.#spares.get(endpoint);
    this.#spares.delete(endpoint);
    return spare?.device;
  }

  #listen(printer: Printer): void {
    const { endpoints } = this.#discovery;
    printer.device.onStatus = (status) => endpoints.observed(printer.known.uri, status);
  }

  /** Updates the printer's state, and tells what has changed. */
  #refresh(printer: Printer): void {
    const { config, known, logger } = this.#options;
    const endpoint = this.#discovery.endpoints.at(printer.known.uri);
    const mine = endpoint !== undefined && this.#owners.get(endpoint) === printer;
    const online = mine && endpoint.reached && endpoint.driver !== undefined;
    const wasOnline = printer.online;
    printer.online = online;
    printer.refused = mine && endpoint.refused;
    printer.claimed(online ? null : printer.elsewhere, logger);
    printer.status(online ? this.#statusOf(printer, endpoint) : null);
    if (online) printer.seenAt = Date.now();
    // Writes down what has changed and, from time to time, when the printer was last there.
    this.#keeps(() => printer.keepIn(known, Math.min(LISTED_TO, config.timings.dropAfter / 2)));
    if (wasOnline !== online) this.#tell(online ? 'back' : 'offline', printer);
    else if (printer.isToTell) this.#tell('changed', printer);
  }

  /** What the printer itself says, or for a printer that never answers, what a provider says of it. */
  #statusOf(printer: Printer, endpoint: Endpoint): DeviceState | null {
    if (endpoint.answers) return endpoint.status;
    const told = [...this.#owners].flatMap(([other, owner]) =>
      owner !== printer ? [] : [...other.listed.values()].flatMap(({ sighting }) => sighting.status ?? []),
    );
    return told[0] ?? null;
  }

  #gone(printer: Printer): void {
    this.#printers.delete(printer.id);
    for (const [endpoint, owner] of this.#owners) if (owner === printer) this.#owners.delete(endpoint);
    this.#keeps(() => this.#options.known.forget(printer.id));
    printer.online = false;
    this.#tell('gone', printer);
  }

  /** Only logs an error: a disk that is full for a while must not end the process. */
  #keeps(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'what is known of a printer cannot be written down');
    }
  }

  #tell(event: PrinterEvent, printer: Printer): void {
    printer.told();
    const level = event === 'changed' ? 'debug' : 'info';
    const { id, state, reasons } = printer;
    const printerName = printer.describe().name;
    this.#options.logger[level]({ printer: id, printerName, state, reasons }, `printer ${event}`);
    this.#options.onEvent(event, printer);
  }
}

/** Whether the ID comes from the device's own evidence, or from the operator. Then it will not change soon. */
function isOwn({ evidence: kind, seen }: Proposal): boolean {
  const own = ({ id, evidence }: Proposal['seen'][number]) =>
    id !== undefined || (kind === 'uuid' && evidence?.uuid !== undefined && evidence.queue === undefined);
  return kind === 'serial' || seen.some(own);
}
