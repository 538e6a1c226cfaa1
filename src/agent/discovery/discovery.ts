/**
 * The agent's printers, kept up to date: scan, ask, compare with what was known, tell.
 *
 * Each provider is scanned in a loop of its own, with its own time limit; what one says or fails to say does not
 * hold up another. Every way to a printer that is listed is opened and asked who is there:
 *
 *   answers with an identity    that identity is the printer, wherever it is now; a printer that is there by two
 *                               ways is one, and keeps the way it has as long as it works
 *   does not take a connection  the printer last seen there is offline; where none was seen, there is none yet
 *   connects, says nothing      the printer last seen there, if one was: it may be busy. Where none was seen it is
 *                               asked at three scans, and then gets an ID by its address
 *
 * So a printer that is switched off at the first start gets no ID until it is on, and one that was seen before
 * has the one it had. A printer that answers only after it was given an ID by address gets its right one, and
 * the other is gone as the address is no longer its.
 *
 * A printer that is not found is offline; it is dropped when it has not been seen for a set time, or when the
 * provider's list is all there is and does not have it any more.
 */
import type { DeviceIdentity } from '../../../drivers/languages/device.ts';
import type { Logger } from '../../log.ts';
import type { Timings } from '../config.ts';
import { pause } from '../pause.ts';
import type { PrinterDevice } from '../printer-device.ts';
import { FoundPrinter } from './found-printer.ts';
import { addressOf, printerIdOf } from './identity.ts';
import type { KnownPrinter, KnownPrinters } from './known-printers.ts';
import type { Candidate, DiscoveryProvider } from './provider.ts';

export type DiscoveryEvent = 'added' | 'changed' | 'offline' | 'back' | 'gone';

export interface DiscoveryOptions {
  providers: readonly DiscoveryProvider[];
  known: Pick<KnownPrinters, 'all' | 'put' | 'forget'>;
  timings: Pick<Timings, 'scan' | 'scanTimeout' | 'dropAfter'>;
  device(candidate: Candidate): PrinterDevice;
  onEvent(event: DiscoveryEvent, printer: FoundPrinter): void;
  logger: Logger;
}

/** Scans at which a device that says nothing is asked before its address is all there is to know. */
const ASKED = 3;
/** Devices asked at the same time. */
const AT_ONCE = 32;

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #printers = new Map<string, FoundPrinter>();
  /** How often a device at an address has connected and said nothing. */
  readonly #silent = new Map<string, number>();
  readonly #stopped = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  get printers(): FoundPrinter[] {
    return [...this.#printers.values()];
  }

  /** Tells of the printers that were known (offline, so far) before it returns; scans from then on. */
  start(): void {
    for (const { printer, seenAt } of this.#options.known.all()) {
      this.#add(printer, seenAt);
    }
    this.#loops = this.#options.providers.map((provider) => this.#loop(provider));
  }

  /** No more scans and questions; a job under way keeps its device. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops);
    await Promise.all(this.#options.providers.map((provider) => provider.stop?.()));
  }

  async #loop(provider: DiscoveryProvider): Promise<void> {
    const { timings, logger } = this.#options;
    const stopped = this.#stopped.signal;
    let news = new AbortController();
    provider.onNews = () => news.abort();
    while (!stopped.aborted) {
      news = new AbortController();
      const limit = AbortSignal.any([stopped, AbortSignal.timeout(timings.scanTimeout)]);
      try {
        const candidates = await orAborted(provider.scan(limit), limit);
        await this.#examineAll(provider, candidates);
        this.#drop(provider, candidates);
      } catch (error) {
        if (!stopped.aborted) logger.warn({ err: error, provider: provider.id }, 'scan failed');
      }
      await pause(timings.scan, stopped, news.signal);
    }
  }

  async #examineAll(provider: DiscoveryProvider, candidates: Candidate[]): Promise<void> {
    const waiting = [...candidates];
    const next = async () => {
      for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
        if (this.#stopped.signal.aborted) return;
        try {
          await this.#examine(provider, candidate);
        } catch (error) {
          if (this.#stopped.signal.aborted) return;
          this.#options.logger.warn({ err: error, uri: addressOf(candidate.uri) }, 'printer not examined');
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  }

  async #examine(provider: DiscoveryProvider, candidate: Candidate): Promise<void> {
    const there = this.#at(candidate.uri);
    if (there !== undefined) this.#applySettings(there, provider, candidate);
    const device = there?.device ?? this.#options.device(candidate);
    const probe = await device.probe(this.#stopped.signal);
    if (probe === null) {
      if (there?.online) there.seenAt = Date.now();
      return;
    }
    if (!probe.reachable) {
      this.#silent.delete(candidate.uri);
      if (there !== undefined) this.#offline(there);
      return;
    }
    const { identity, status } = probe;
    const answers = identity !== null || status !== null;
    if (identity === null) {
      if (there !== undefined) {
        // One that used to answer and does not is busy or broken: unknown, and not to be taken for idle.
        there.status(status);
        return this.#seen(there, { ...there.known, answers: there.known.answers || answers });
      }
      const asked = (this.#silent.get(candidate.uri) ?? 0) + 1;
      this.#silent.set(candidate.uri, asked);
      if (asked < ASKED && candidate.id === undefined) return;
    }
    this.#silent.delete(candidate.uri);
    const id = candidate.id ?? printerIdOf(identity ?? byAddress(candidate));
    if (there !== undefined && there.id !== id) this.#leftAddress(there);
    const known: KnownPrinter = { id, provider: provider.id, candidate, identity, answers };
    const found = this.#printers.get(id) ?? this.#add(known, Date.now());
    // There by another way already: that one stays while it works. By bytes and by documents are never changed
    // for each other: what one of them has under way, the other can't tell.
    const elsewhere = found.known.candidate.uri !== candidate.uri;
    if (elsewhere && (found.online || found.device.kind !== device.kind)) {
      found.seenAt = Date.now();
      return;
    }
    found.status(status);
    this.#seen(found, known);
  }

  /** The printer at an address: of several that were seen there, the one that is there now. */
  #at(uri: string): FoundPrinter | undefined {
    const there = this.printers.filter(({ known }) => known.candidate.uri === uri);
    return there.find(({ online }) => online) ?? there[0];
  }

  /** What the operator has set holds at once, whether the printer can be reached or not. */
  #applySettings(printer: FoundPrinter, provider: DiscoveryProvider, candidate: Candidate): void {
    const known = { ...printer.known, provider: provider.id, candidate };
    if (JSON.stringify(known) === JSON.stringify(printer.known)) return;
    printer.learn(known);
    this.#options.known.put(known, printer.seenAt);
    this.#tell('changed', printer);
  }

  #add(known: KnownPrinter, seenAt: number): FoundPrinter {
    const device = this.#options.device(known.candidate);
    const printer = new FoundPrinter(known, device, seenAt);
    device.onStatus = (status) => this.#observed(printer, status);
    this.#printers.set(known.id, printer);
    this.#tell('added', printer);
    return printer;
  }

  #seen(printer: FoundPrinter, known: KnownPrinter): void {
    const before = JSON.stringify(printer.known);
    const wasOnline = printer.online;
    printer.online = true;
    printer.seenAt = Date.now();
    printer.learn(known);
    printer.device.displaced = false;
    this.#options.known.put(known, printer.seenAt);
    if (!wasOnline) this.#tell('back', printer);
    else if (before !== JSON.stringify(known)) this.#tell('changed', printer);
    else this.#tellStatus(printer);
  }

  #offline(printer: FoundPrinter): void {
    if (!printer.online) return;
    printer.online = false;
    printer.status(null);
    // Whoever was there before it may be back.
    for (const { known, device } of this.printers) {
      if (known.candidate.uri === printer.known.candidate.uri) device.displaced = false;
    }
    this.#tell('offline', printer);
  }

  /** Another device is where this one was. An ID by that address has lost its meaning. */
  #leftAddress(printer: FoundPrinter): void {
    if (printer.known.identity === null) this.#gone(printer);
    else this.#offline(printer);
    printer.device.displaced = true;
  }

  #gone(printer: FoundPrinter): void {
    this.#printers.delete(printer.id);
    this.#options.known.forget(printer.id);
    printer.online = false;
    this.#tell('gone', printer);
  }

  #drop(provider: DiscoveryProvider, candidates: readonly Candidate[]): void {
    const listed = new Set(candidates.map(({ uri }) => uri));
    const tooOld = Date.now() - this.#options.timings.dropAfter;
    for (const printer of this.printers) {
      if (printer.known.provider !== provider.id || listed.has(printer.known.candidate.uri)) continue;
      if (provider.exhaustive || printer.seenAt < tooOld) this.#gone(printer);
      else this.#offline(printer);
    }
  }

  /** A job has read a status, or could not reach the device. */
  #observed(printer: FoundPrinter, status: Parameters<FoundPrinter['status']>[0]): void {
    if (status === null) {
      this.#offline(printer);
      return;
    }
    const wasOnline = printer.online;
    printer.online = true;
    printer.seenAt = Date.now();
    printer.status(status);
    if (!wasOnline) this.#tell('back', printer);
    else this.#tellStatus(printer);
  }

  readonly #told = new WeakMap<FoundPrinter, string>();

  #tellStatus(printer: FoundPrinter): void {
    const now = `${printer.state} ${printer.reasons.join()}`;
    if (this.#told.get(printer) !== now) this.#tell('changed', printer);
  }

  #tell(event: DiscoveryEvent, printer: FoundPrinter): void {
    this.#told.set(printer, `${printer.state} ${printer.reasons.join()}`);
    const level = event === 'changed' ? 'debug' : 'info';
    const { state, reasons } = printer;
    this.#options.logger[level]({ printer: printer.id, state, reasons }, `printer ${event}`);
    this.#options.onEvent(event, printer);
  }
}

function byAddress(candidate: Candidate): Pick<DeviceIdentity, 'evidence' | 'value'> {
  return { evidence: 'address', value: addressOf(candidate.uri) };
}

/** For a provider that does not heed its signal. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
