/**
 * Chooses by which of its endpoints a printer is driven. These points decide, the first one first:
 *
 *   1. an endpoint that works is better than one that does not
 *   2. an endpoint that the operator wrote down is better than one that was found
 *   3. best is an endpoint where the printer itself answers; then one through a print server's queue, because the queue at
 *      least says that the printer took the bytes; then one that says nothing
 *   4. an encrypted endpoint is better than the same endpoint unencrypted, but not if anybody could show its certificate: see
 *      `encryption`
 *   5. the endpoint that the printer is driven by now is better than another one
 *
 * What a device says of itself over an open network is only a claim. So a printer that the configuration names is driven at the
 * named addresses, even if a device elsewhere says that it is this printer; unless the configuration lets the printer move.
 *
 * The printer changes to a better endpoint when no job is under way. During a job, it changes only if the present endpoint is
 * gone, and if the printer is certain to know the job at the other one. So a job never changes from or to a queue, which may
 * still hold labels of the job; nor from bytes to documents or back; nor, as bytes, to another language.
 */
import { isLoopback } from '../../../drivers/address.ts';
import type { TransportTraits } from '../../../drivers/transports/transport.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import type { Endpoint } from '../discovery/endpoint.ts';
import type { KnownEndpoint } from '../discovery/known.ts';
import type { ChosenDriver } from '../discovery/provider.ts';
import { CONFIGURED } from '../discovery/providers/configured.ts';

/**
 * The addresses at which a printer may be driven; null: it may be driven wherever it is found.
 * @param endpoints all endpoints that lead to the printer now
 * @param before the endpoints that the configuration named for the printer at the last merge, and still names
 */
export function boundTo(
  endpoints: Iterable<Endpoint>,
  before: readonly KnownEndpoint[],
): ReadonlySet<string> | null {
  const named = new Map(before.map(({ uri, driver }) => [uri, driver?.mayMove]));
  for (const { uri, listed } of endpoints) {
    const entry = listed.get(CONFIGURED);
    if (entry !== undefined) named.set(uri, entry.driver?.mayMove);
  }
  return named.size === 0 || [...named.values()].includes(true) ? null : new Set(named.keys());
}

/** The endpoint by which a new printer is driven; undefined: not enough is known of the printer yet. */
export function firstEndpoint(endpoints: Iterable<Endpoint>, transports: Transports): string | undefined {
  return bestEndpoint(
    [...endpoints].filter(({ ready }) => ready),
    undefined,
    transports,
  )?.uri;
}

/**
 * The endpoint by which a printer is driven from now on. `waits`: there is a better one, but a job is under way.
 * @param had the endpoint that the printer has been driven by
 * @param endpoints all endpoints that lead to the printer now
 */
export function nextEndpoint(
  had: KnownEndpoint & { driver: ChosenDriver },
  endpoints: ReadonlySet<Endpoint>,
  busy: () => boolean,
  transports: Transports,
): { uri: string; waits: boolean } {
  const { uri } = had;
  const now = [...endpoints].find((endpoint) => endpoint.uri === uri && endpoint.driver !== undefined);
  const best = bestEndpoint(endpoints, uri, transports);
  if (best?.driver === undefined || best.uri === uri || (now !== undefined && !best.reached)) {
    return { uri, waits: false };
  }
  const from = { driver: had.driver, queue: (had.told.queue ?? had.said.queue) !== undefined };
  const goesOn = !now?.reached && sameJobs(from, { driver: best.driver, queue: best.queue }, transports);
  const waits = !goesOn && busy();
  return { uri: waits ? uri : best.uri, waits };
}

/** @param now the endpoint that the printer is driven by */
function bestEndpoint(
  endpoints: Iterable<Endpoint>,
  now: string | undefined,
  transports: Transports,
): Endpoint | undefined {
  const all = [...endpoints];
  const rank = (endpoint: Endpoint) => {
    const has = endpoint.uri === now;
    const trusted = has || endpoint.vouched || sharesHost(endpoint, all);
    return [
      endpoint.reached ? 0 : 1,
      ...quality(endpoint),
      encryption(transports.traits(endpoint.uri), trusted),
      has ? 0 : 1,
    ];
  };
  return all.filter(({ driver }) => driver !== undefined).toSorted((a, b) => compare(rank(a), rank(b)))[0];
}

/** Whether a job that is under way at one of these endpoints may go on at the other. */
export function sameJobs(from: Driven, to: Driven, transports: Transports): boolean {
  return drivenAlike(from.driver, to.driver, transports) && !from.queue && !to.queue;
}

interface Driven {
  driver: ChosenDriver;
  /** The endpoint is a print server's queue. */
  queue: boolean;
}

/** Whether the same device object can serve both choices. */
export function drivenAlike(a: ChosenDriver, b: ChosenDriver, transports: Transports): boolean {
  const documents = transports.takesDocuments(a.uri);
  return documents === transports.takesDocuments(b.uri) && (documents || a.language === b.language);
}

function quality({ listed, answers, queue }: Endpoint): number[] {
  return [listed.has(CONFIGURED) ? 0 : 1, !answers ? 2 : queue ? 1 : 0];
}

/**
 * 0 is best. An encrypted endpoint is best only if it is trusted: the printer is already driven by it, its certificate was
 * known before, or another endpoint of the printer was reached at the same host, and nobody else can have that host's address.
 */
function encryption({ encrypted, encryptedAs }: Partial<TransportTraits> = {}, trusted: boolean): number {
  if (encrypted) return trusted ? 0 : 2;
  return encryptedAs === undefined ? 0 : 1;
}

/** Whether another endpoint was reached at the same host. Loopback does not count, because any program may answer there. */
function sharesHost(endpoint: Endpoint, all: readonly Endpoint[]): boolean {
  const { hostname } = new URL(endpoint.uri);
  const isThere = (other: Endpoint) =>
    other !== endpoint && other.reached && new URL(other.uri).hostname === hostname;
  return !isLoopback(hostname) && all.some(isThere);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [place, value] of a.entries()) {
    const other = b[place] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}
