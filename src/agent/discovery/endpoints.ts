/**
 * All endpoints that are listed now. Each is asked from time to time who is there:
 *
 *   a printer is driven by it, and it works    each scan (10 s), to see that it is still there
 *   works, but no printer is driven by it      every sixth scan
 *   cannot be reached                          each second if a provider that lists it is `near`, else each scan
 *   connects, but says nothing                 each second, until three questions in a row had no answer
 *
 * Endpoints that could not be reached come after the others, because each printer that is off takes the whole timeout.
 */
import { LRUCache } from 'lru-cache';
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { Logger } from '../../log.ts';
import { type DeviceAnswer, Endpoint, type KnownDevice } from './endpoint.ts';
import { addressOf } from './identity.ts';
import type { KnownEndpoint } from './known.ts';
import type { ChosenDriver, DiscoveryProvider, Sighting } from './provider.ts';
import { CONFIGURED } from './providers/configured.ts';

/** Devices asked at the same time. */
const AT_ONCE = 32;
/** For how many addresses that are no longer listed the last device is remembered. */
const MOST_LAST = 10_000;
/** A status that a job reads is passed on at least so often even if it has not changed, ms. */
const STILL_MS = 1_000;

export interface EndpointsOptions {
  timings: { scan: number; near: number };
  /** Asks the device at an endpoint who it is. The endpoint's driver is known. */
  probe(endpoint: Endpoint, driver: ChosenDriver, signal: AbortSignal): Promise<DeviceAnswer>;
  /** What is listed, reached or said has changed. So the endpoints may have to be merged into printers anew. */
  onNews(): void;
  /** The status at this endpoint was read. It has changed, or was last passed on a while ago. */
  onStatus(endpoint: Endpoint): void;
  logger: Logger;
}

export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #last = new LRUCache<string, KnownDevice>({ max: MOST_LAST });
  readonly #stopped = new AbortController();
  readonly #asking = new Set<Promise<void>>();
  #next: { at: number; timer: NodeJS.Timeout } | undefined;

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  [Symbol.iterator](): IterableIterator<Endpoint> {
    return this.#endpoints.values();
  }

  at(uri: string): Endpoint | undefined {
    return this.#endpoints.get(uri);
  }

  /** Keeps what a device said at an address before this run of the agent. */
  remember({ uri, said, identity, answers }: KnownEndpoint): void {
    if (identity !== null || !this.#last.has(uri)) this.#last.set(uri, { said, identity, answers });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#next?.timer);
    await Promise.all(this.#asking);
  }

  /** Takes over a provider's whole list. */
  list(
    { id, near = false }: Pick<DiscoveryProvider, 'id' | 'near'>,
    sightings: readonly Sighting[],
    chooseDriver: (sighting: Sighting) => ChosenDriver | undefined,
  ): void {
    let news = false;
    const listed = new Set(sightings.map(({ uri }) => uri));
    for (const [uri, endpoint] of this.#endpoints) {
      if (listed.has(uri) || !endpoint.listed.delete(id)) continue;
      news = true;
      if (endpoint.listed.size === 0) this.#forget(endpoint);
    }
    for (const sighting of sightings) {
      const endpoint = this.#endpoints.get(sighting.uri) ?? this.#begin(sighting.uri);
      const before = endpoint.listed.get(id);
      if (before?.sighting === sighting) continue;
      if (before !== undefined && who(before.sighting) === who(sighting)) {
        before.sighting = sighting;
        if (sighting.status !== undefined) this.#options.onStatus(endpoint);
        continue;
      }
      news = true;
      endpoint.listed.set(id, { sighting, near, driver: chooseDriver(sighting) });
      if (!endpoint.reached) endpoint.nextAt = 0;
    }
    if (news) this.#options.onNews();
    this.#askDue();
    this.#wake();
  }

  /** A job has read a status at this address; null: it could not connect. */
  observed(uri: string, status: DeviceStatus | null): void {
    const endpoint = this.#endpoints.get(uri);
    if (endpoint === undefined) return;
    const reached = status !== null;
    const news = endpoint.reached !== reached || (reached && !endpoint.answers);
    const now = performance.now();
    const tells = news || !isAlike(endpoint.status, status) || now - endpoint.toldAt > STILL_MS;
    endpoint.reached = reached;
    endpoint.status = status;
    endpoint.answers ||= reached;
    if (!reached) {
      endpoint.nextAt = Math.min(endpoint.nextAt, now + this.#rest(endpoint));
      this.#wake();
    }
    if (tells) endpoint.toldAt = now;
    if (news) this.#options.onNews();
    else if (tells) this.#options.onStatus(endpoint);
  }

  /**
   * Says which endpoints printers are driven by from now on. An endpoint that was a spare until now would be asked much later,
   * so its next question is brought forward.
   */
  drive(drives: (endpoint: Endpoint) => boolean): void {
    for (const endpoint of this) {
      const before = endpoint.driven;
      endpoint.driven = drives(endpoint);
      if (!endpoint.driven || before) continue;
      endpoint.nextAt = Math.min(endpoint.nextAt, performance.now() + this.#rest(endpoint));
    }
    this.#wake();
  }

  #begin(uri: string): Endpoint {
    const endpoint = new Endpoint(uri, this.#last.get(uri) ?? { said: {}, identity: null, answers: false });
    this.#endpoints.set(uri, endpoint);
    return endpoint;
  }

  #forget({ uri, said, identity, answers }: Endpoint): void {
    this.#endpoints.delete(uri);
    if (identity !== null) this.#last.set(uri, { said, identity, answers });
  }

  /** Sets the timer for the endpoint that is due next. It fires a little late, to ask others that are due soon after too. */
  #wake(): void {
    const { scan, near } = this.#options.timings;
    const now = performance.now();
    let due = now + scan;
    for (const { asking, driver, nextAt } of this.#endpoints.values()) {
      if (!asking && driver !== undefined) due = Math.min(due, Math.max(now, nextAt));
    }
    const at = due + near / 2;
    if (this.#stopped.signal.aborted || (this.#next !== undefined && this.#next.at <= at)) return;
    clearTimeout(this.#next?.timer);
    const ask = () => {
      this.#next = undefined;
      this.#askDue();
      this.#wake();
    };
    this.#next = { at, timer: setTimeout(ask, at - now) };
  }

  #askDue(): void {
    if (this.#stopped.signal.aborted) return;
    const now = performance.now();
    const due = [...this.#endpoints.values()].filter(
      (endpoint) => endpoint.nextAt <= now && !endpoint.asking && endpoint.driver !== undefined,
    );
    const off = (endpoint: Endpoint) => (endpoint.asked && !endpoint.reached ? 1 : 0);
    for (const endpoint of due.sort((a, b) => off(a) - off(b) || a.nextAt - b.nextAt)) {
      if (this.#asking.size >= AT_ONCE) return;
      const asking = this.#ask(endpoint).finally(() => {
        this.#asking.delete(asking);
        this.#askDue();
        this.#wake();
      });
      this.#asking.add(asking);
    }
  }

  /** Never rejects. */
  async #ask(endpoint: Endpoint): Promise<void> {
    endpoint.asking = true;
    try {
      await this.#askNow(endpoint);
    } catch (error) {
      endpoint.nextAt = performance.now() + this.#options.timings.scan;
      if (this.#stopped.signal.aborted) return;
      this.#options.logger.warn({ err: error, uri: addressOf(endpoint.uri) }, 'printer not examined');
    } finally {
      endpoint.asking = false;
    }
  }

  async #askNow(endpoint: Endpoint): Promise<void> {
    const { timings, probe, onNews, onStatus } = this.#options;
    const { driver, driven } = endpoint;
    if (driver === undefined) return;
    const result = await probe(endpoint, driver, this.#stopped.signal);
    if (result === null) {
      endpoint.asked ||= driven;
      endpoint.nextAt = performance.now() + (driven ? this.#rest(endpoint) : timings.near);
      return onStatus(endpoint);
    }
    const before = endpoint.news;
    const { asked, refused } = endpoint;
    endpoint.found(result);
    // No other warning tells people of a configured printer that was never there. Printers that were only found come and go.
    const expected = !asked && endpoint.listed.has(CONFIGURED);
    if (!result.reachable && (endpoint.refused ? !refused : expected)) {
      const what = endpoint.refused ? 'printer refused' : 'printer cannot be reached';
      const printerName = endpoint.driver?.name;
      this.#options.logger.warn({ err: result.error, printerName, uri: addressOf(endpoint.uri) }, what);
    }
    endpoint.nextAt = performance.now() + this.#rest(endpoint);
    if (before !== endpoint.news) onNews();
    else onStatus(endpoint);
  }

  #rest(endpoint: Endpoint): number {
    return endpoint.restFor(this.#options.timings);
  }
}

/** Whether people would be told the same for both. */
function isAlike(before: DeviceStatus | null, after: DeviceStatus | null): boolean {
  if (before === null || after === null) return before === after;
  const { state, reasons } = before;
  return state === after.state && reasons.join() === after.reasons.join();
}

/** The sighting without its status. The status can change with each scan while the printer stays the same. */
function who({ status: _, ...sighting }: Sighting): string {
  return JSON.stringify(sighting);
}
