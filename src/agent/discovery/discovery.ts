/**
 * The agent's printers, kept up to date: scan, ask, merge, compare with what was known, tell.
 *
 *   providers ─▶ lists of ways ─▶ each way is asked ─▶ merge ─▶ printers, each with its ways ─▶ events
 *                                  (ways.ts)            (merge.ts)   (choice.ts: which one is driven)
 *
 * Each provider is scanned in a loop of its own, with its own time limit; what one says or fails to say does not
 * hold up another. A list that is near (a file, this machine's own) is looked at each second, others each scan,
 * and at once when something has been announced.
 *
 * What the providers tell of a way, and what the device at its end says, decide together which ways lead to one
 * printer and what its ID is. So:
 * - A way that cannot be reached, and that nothing is known of, is no printer yet: one that is switched off at
 *   the first start gets its ID when it is on. One that was seen before is the one that it was.
 * - A device that says nothing gets an ID by what is told of it; where nothing is, by its address, after it was
 *   asked three times. When it tells more later, it gets its right ID, and the other is gone.
 * - When it starts, it waits until every provider has been asked once before it makes an ID that might be another
 *   in a moment.
 * - No ID changes, and no printer changes to a way on which its job is not known, while a job is under way.
 *
 * One that the configuration names stays at its addresses (choice.ts); what elsewhere says that it is this one is told.
 *
 * A printer is online while the way that it is driven by is listed, and can be reached. One that is offline is
 * dropped when it has not been seen for a set time, or when all there is of it was in a list that is all there is.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import type { UnreachedPrinter } from '../../contract/printer.ts';
import type { Logger } from '../../log.ts';
import type { Timings } from '../config.ts';
import type { Confirmation } from '../printer/confirmation.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { boundTo, drivenAlike, firstWay, nextWay } from './choice.ts';
import { toldAndSaid } from './evidence.ts';
import { candidateOf, type Fingerprint } from './fingerprints.ts';
import { drivenBy, FoundPrinter } from './found-printer.ts';
import { addressOf } from './identity.ts';
import type { KnownPrinter, KnownPrinters, KnownWay } from './known-printers.ts';
import { type Found, type MergedPrinter, type Way as MergeWay, mergeCandidates } from './merge.ts';
import type { Candidate, DiscoveryProvider } from './provider.ts';
import { CONFIGURED } from './providers/configured.ts';
import { type ProviderNews, Scans } from './scans.ts';
import { type Way, Ways } from './ways.ts';

export type DiscoveryEvent = 'added' | 'changed' | 'offline' | 'back' | 'gone';

export interface DiscoveryOptions {
  /** What tells this computer from others: the agent's ID. */
  host: string;
  providers: readonly DiscoveryProvider[];
  fingerprints?: readonly Fingerprint[];
  known: Pick<KnownPrinters, 'all' | 'put' | 'forget'>;
  timings: Pick<Timings, 'scan' | 'near' | 'scanTimeout' | 'dropAfter'>;
  transports: Transports;
  device(candidate: Candidate): PrinterDevice;
  /** Whether a job of the printer is under way, or was cut off and may have labels out. */
  busy(printerId: string): boolean;
  mostPrinters?: number;
  /** For printers for which nothing else is set; default: `device`. */
  confirmation?: Confirmation;
  onEvent(event: DiscoveryEvent, printer: FoundPrinter): void;
  /** Something is listed or reached that was not before, or the reverse; it may be no printer yet. */
  onNews?(): void;
  /** A round of a provider's is over, whatever became of it. */
  onTurn?: () => void;
  logger: Logger;
}

type Listed = MergeWay & { of: Way };
type Merged = MergedPrinter<Listed>;

/** After a merge there is none for this many times as long. */
const REST = 10;
/** How long a way that is new may take to answer before IDs are made without it, ms. */
const FIRST_ANSWER = 2_000;
/** Of one printer, so that what is kept of it stays small. */
const MOST_WAYS = 50;
/** Found ones; the configuration may name more. */
const MOST_PRINTERS = 5_000;
/** When a way was last listed is kept to this many ms, so that it is not written at each scan. */
const LISTED_TO = 600_000;

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #printers = new Map<string, FoundPrinter>();
  readonly #ways: Ways;
  /** Which printer a way was found to lead to. */
  readonly #owners = new Map<Way, FoundPrinter>();
  readonly #scans: Scans;
  readonly #stopped = new AbortController();
  /** What was last told of a printer, and what was last written down. */
  readonly #told = new WeakMap<FoundPrinter, string>();
  readonly #kept = new WeakMap<FoundPrinter, { text: string; seenAt: number }>();
  #startedAt = 0;
  #merging: NodeJS.Timeout | undefined;
  #restUntil = 0;
  #full = false;
  /** A job under way kept something from being changed. */
  #deferred = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#ways = new Ways({
      timings: options.timings,
      device: options.device,
      driven: (way) => {
        const printer = this.#owners.get(way);
        return printer?.known.uri === way.uri ? printer.device : undefined;
      },
      busy: (way) => options.busy(this.#owners.get(way)?.id ?? ''),
      onNews: () => this.#soon(),
      onStatus: (way) => {
        const printer = this.#owners.get(way);
        if (printer !== undefined) this.#refresh(printer);
      },
      logger: options.logger,
    });
    this.#scans = new Scans({
      ...options,
      onList: (provider, found) =>
        this.#ways.list(provider, found, (finding) =>
          candidateOf(finding, options.transports, options.fingerprints),
        ),
    });
  }

  get printers(): FoundPrinter[] {
    return [...this.#printers.values()];
  }

  /** As each provider last said. */
  get news(): ProviderNews[] {
    return [...this.#scans.news.values()];
  }

  /** The addresses of all ways that lead to a printer now. */
  waysTo(printer: FoundPrinter): string[] {
    return [...this.#owners].flatMap(([way, owner]) => (owner === printer ? [way.uri] : []));
  }

  /** Addresses that the configuration names, where nothing was ever reached. */
  get unreached(): UnreachedPrinter[] {
    return [...this.#ways].flatMap((way) => (this.#owners.has(way) ? [] : (way.neverReached ?? [])));
  }

  /** Why nothing was reached at an address when it was last asked; null where something was, or nobody asked. */
  readonly unreachedAt = (uri: string): string | null => this.#ways.at(uri)?.unreached ?? null;

  /** Tells of the printers that were known (offline, so far) before it returns; scans from then on. */
  start(): void {
    const known = [...this.#options.known.all()].sort((a, b) => a.seenAt - b.seenAt);
    for (const { printer, seenAt } of known) {
      for (const way of printer.ways) this.#ways.remember(way);
      this.#add(printer, seenAt);
    }
    this.#startedAt = performance.now();
    this.#scans.start();
    this.#ways.start(() => this.#tick());
  }

  /** No more scans and questions; a job under way keeps its device. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#scans.stop(), this.#ways.stop()]);
    clearTimeout(this.#merging);
    await Promise.all(this.#options.providers.map((provider) => provider.stop?.()));
  }

  #tick(): void {
    if (this.#deferred) this.#soon();
    const owners = new Set(this.#owners.values());
    const tooOld = Date.now() - this.#options.timings.dropAfter;
    for (const printer of this.printers) {
      if (!owners.has(printer) && printer.seenAt < tooOld) this.#gone(printer);
    }
  }

  /** Merges once for everything that is heard at about the same time, and rests longer the longer it takes. */
  #soon(): void {
    this.#options.onNews?.();
    if (this.#stopped.signal.aborted || this.#merging !== undefined) return;
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
    const found: Found<Listed>[] = [...this.#ways].flatMap((of) =>
      [...of.listed].map(([provider, { finding }]) => ({
        provider,
        way: { uri: of.uri, id: finding.entry?.id, evidence: of.evidence(provider), of },
      })),
    );
    const known = this.printers.flatMap((printer) =>
      printer.known.ways.map(({ uri, told, said }) => ({
        id: printer.id,
        uri,
        evidence: toldAndSaid(told, said),
      })),
    );
    this.#owners.clear();
    for (const merged of mergeCandidates(found, this.#options, known)) this.#take(merged);
    const owners = new Set(this.#owners.values());
    // One that the configuration has at another address now is that one, once it has been asked there.
    const asking = [...this.#ways].some((way) => way.candidate !== undefined && !way.asked);
    for (const printer of this.printers) {
      const way = this.#ways.at(printer.known.uri);
      const owner = way?.reached ? this.#owners.get(way) : undefined;
      printer.device.displaced = owner !== undefined && owner !== printer;
      if (!owners.has(printer) && !asking && !this.#isKept(printer)) this.#gone(printer);
      else this.#refresh(printer);
    }
  }

  /** Not everybody has had a say yet: who is there may still become clearer. */
  get #isFirstLook(): boolean {
    if (performance.now() - this.#startedAt > this.#options.timings.scanTimeout) return false;
    return !this.#scans.complete || [...this.#ways].some((way) => way.isNew(FIRST_ANSWER));
  }

  /** Anybody on the network can announce printers, each of which is kept, and has a queue. */
  #isFull({ ways }: Merged): boolean {
    const { mostPrinters = MOST_PRINTERS, logger } = this.#options;
    const named = ways.some(({ provider }) => provider === CONFIGURED);
    if (named || this.#printers.size < mostPrinters) return false;
    if (!this.#full) logger.warn({ printers: mostPrinters }, 'no more printers are taken that are found');
    this.#full = true;
    return true;
  }

  /** Not where all there is of it was in lists that are all there is, and is not in them any more. */
  #isKept({ known }: FoundPrinter): boolean {
    return known.ways.some((way) => way.candidate !== null && !this.#isUnlisted(way));
  }

  #isUnlisted({ provider, uri }: KnownWay): boolean {
    return this.#scans.isExhaustive(provider) && !this.#ways.at(uri)?.listed.has(provider);
  }

  /** The ways that lead to one printer. */
  #take(merged: Merged): void {
    const { transports } = this.#options;
    const ways = new Set(merged.ways.map(({ way }) => way.of));
    const replaced = merged.replaces.flatMap((id) => this.#printers.get(id) ?? []);
    const kept = replaced.find(({ id }) => this.#options.busy(id));
    if (kept !== undefined) this.#deferred = true;
    let printer = this.#printers.get(merged.id) ?? kept;
    const early = printer === undefined && !isOwn(merged) && this.#isFirstLook;
    const bound = boundTo(ways, this.#namedFor(printer, ways));
    const there = bound === null ? ways : new Set([...ways].filter((way) => bound.has(way.uri)));
    const { uri, waits } = printer
      ? nextWay(printer.way, there, () => this.#options.busy(printer?.id ?? ''), transports)
      : { uri: firstWay(there, transports), waits: early };
    if (waits) this.#deferred = true;
    if (uri === undefined || early) return;
    if (printer === undefined && replaced.length === 0 && this.#isFull(merged)) return;
    for (const old of replaced) if (old !== kept) this.#gone(old);
    const id = printer?.id ?? merged.id;
    const known = { id, uri, ways: this.#knownWays(merged, ways, uri, printer) };
    if (printer === undefined) printer = this.#add(known, Date.now());
    else this.#learn(printer, known);
    for (const way of ways) this.#owners.set(way, printer);
    printer.elsewhere = bound && ([...ways].find((way) => way.reached && !bound.has(way.uri))?.uri ?? null);
  }

  /** The ways that the configuration has named for it so far, unless it does no more, or another device is there. */
  #namedFor(printer: FoundPrinter | undefined, ways: ReadonlySet<Way>): KnownWay[] {
    return (printer?.known.ways ?? []).filter((way) => {
      const there = this.#ways.at(way.uri);
      const isIts = there === undefined || ways.has(there);
      return way.provider === CONFIGURED && isIts && !this.#isUnlisted(way);
    });
  }

  #knownWays(merged: Merged, ways: ReadonlySet<Way>, driven: string, printer?: FoundPrinter): KnownWay[] {
    const now = Date.now();
    const listed = merged.ways.flatMap(({ provider, way: { of } }): KnownWay[] => {
      const one = of.listed.get(provider);
      if (one === undefined) return [];
      const { uri, said, identity, answers } = of;
      const { finding, candidate = null } = one;
      const listedAt = Math.floor(now / LISTED_TO) * LISTED_TO;
      return [{ provider, uri, candidate, told: finding.evidence, said, identity, answers, listedAt }];
    });
    const before = (printer?.known.ways ?? []).filter((way) => {
      if (listed.some(({ provider, uri }) => provider === way.provider && uri === way.uri)) return false;
      if (way.uri === driven) return !listed.some(({ uri }) => uri === driven);
      const there = this.#ways.at(way.uri);
      const elsewhere = there !== undefined && !ways.has(there);
      const tooOld = way.listedAt < now - this.#options.timings.dropAfter - LISTED_TO;
      return !elsewhere && !tooOld && !this.#isUnlisted(way);
    });
    const all = [...listed, ...before];
    const first = all.filter(({ uri }) => uri === driven);
    return [...first, ...all.filter(({ uri }) => uri !== driven)].slice(0, MOST_WAYS);
  }

  #add(known: KnownPrinter, seenAt: number): FoundPrinter {
    const { fingerprints = [], confirmation } = this.#options;
    const device = this.#deviceAt(known.uri) ?? this.#options.device(drivenBy(known).candidate);
    const printer = new FoundPrinter(known, device, seenAt, fingerprints, confirmation);
    this.#listen(printer);
    this.#printers.set(known.id, printer);
    this.#tell('added', printer);
    return printer;
  }

  #learn(printer: FoundPrinter, known: KnownPrinter): void {
    const { device: old, way } = printer;
    const { candidate } = drivenBy(known);
    if (way.uri !== known.uri) {
      const [from, to] = [addressOf(way.uri), addressOf(known.uri)];
      this.#options.logger.info({ printer: printer.id, from, to }, 'printer is driven another way');
    }
    const spare = way.uri === known.uri ? undefined : this.#deviceAt(known.uri);
    if (drivenAlike(way.candidate, candidate, this.#options.transports)) {
      void spare?.drop();
      printer.learn(known, old);
      return;
    }
    printer.learn(known, spare ?? this.#options.device(candidate));
    this.#listen(printer);
    old.onStatus = () => undefined;
    void old.drop();
  }

  /** What the way was asked with so far. */
  #deviceAt(uri: string): PrinterDevice | undefined {
    const way = this.#ways.at(uri);
    return way && this.#ways.takeSpare(way);
  }

  #listen(printer: FoundPrinter): void {
    printer.device.onStatus = (status) => this.#ways.observed(printer.known.uri, status);
  }

  /** Says what has changed of it. */
  #refresh(printer: FoundPrinter): void {
    const way = this.#ways.at(printer.known.uri);
    const mine = way !== undefined && this.#owners.get(way) === printer;
    const online = mine && way.reached && way.candidate !== undefined;
    const wasOnline = printer.online;
    printer.online = online;
    printer.refused = mine && way.refused;
    printer.claimed(online ? null : printer.elsewhere, this.#options.logger);
    printer.status(online ? this.#statusOf(printer, way) : null);
    if (online) printer.seenAt = Date.now();
    this.#keep(printer);
    if (wasOnline !== online) this.#tell(online ? 'back' : 'offline', printer);
    else if (this.#told.get(printer) !== shown(printer)) this.#tell('changed', printer);
  }

  /** As the printer says; one that never says anything, as somebody else says who can tell. */
  #statusOf(printer: FoundPrinter, way: Way): Pick<DeviceStatus, 'state' | 'reasons'> | null {
    if (way.answers) return way.status;
    const told = [...this.#owners].flatMap(([other, owner]) =>
      owner !== printer ? [] : [...other.listed.values()].flatMap(({ finding }) => finding.status ?? []),
    );
    return told[0] ?? null;
  }

  /** Writes down what has changed, and now and then that it was there. */
  #keep(printer: FoundPrinter): void {
    const text = JSON.stringify(printer.known);
    const kept = this.#kept.get(printer);
    const often = Math.min(LISTED_TO, this.#options.timings.dropAfter / 2);
    if (kept?.text === text && printer.seenAt - kept.seenAt < often) return;
    this.#kept.set(printer, { text, seenAt: printer.seenAt });
    this.#options.known.put(printer.known, printer.seenAt);
  }

  #gone(printer: FoundPrinter): void {
    this.#printers.delete(printer.id);
    for (const [way, owner] of this.#owners) if (owner === printer) this.#owners.delete(way);
    this.#options.known.forget(printer.id);
    printer.online = false;
    this.#tell('gone', printer);
  }

  #tell(event: DiscoveryEvent, printer: FoundPrinter): void {
    this.#told.set(printer, shown(printer));
    const level = event === 'changed' ? 'debug' : 'info';
    const { state, reasons } = printer;
    this.#options.logger[level]({ printer: printer.id, state, reasons }, `printer ${event}`);
    this.#options.onEvent(event, printer);
  }
}

/** Its ID is made from what is the device's own, or given by the operator: it will not be another in a moment. */
function isOwn({ evidence, ways }: Merged): boolean {
  const own = ({ way: { evidence: one, id } }: Found<Listed>) =>
    id !== undefined || (evidence === 'uuid' && one?.uuid !== undefined && one.queue === undefined);
  return evidence === 'serial' || ways.some(own);
}

/** What people are told of it, and by which ways it is there. */
function shown(printer: FoundPrinter): string {
  return JSON.stringify([printer.describe(), printer.known.ways.map(({ uri }) => uri), printer.device.kind]);
}
