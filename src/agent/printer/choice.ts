/**
 * Chooses by which of its endpoints a printer is driven. The best is, in this order:
 *
 *   1. one that works
 *   2. one that the operator wrote down
 *   3. one over which the printer itself answers; then one through a print server's queue, which at least says
 *      that the printer took the bytes; then one that says nothing
 *   4. one that is encrypted, before the same unencrypted; but not because of a certificate that anybody could
 *      show: see `encryption`
 *   5. the one that the printer is driven by now
 *
 * What a device says of itself over an open network is a claim. A printer that the configuration names is driven at
 * the addresses named, whoever says elsewhere that it is this printer, unless the configuration lets it move.
 *
 * A better endpoint is taken when no job is under way. During a job, another one is taken only when the
 * present one is gone, and only where the printer at its end is certain to know the job: never through a
 * queue, which may still hold labels of the job, and never by documents instead of bytes, or in another
 * language.
 */
import { isLoopback } from '../../../drivers/address.ts';
import type { TransportTraits } from '../../../drivers/transports/transport.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import type { Endpoint } from '../discovery/endpoint.ts';
import type { KnownEndpoint } from '../discovery/known.ts';
import type { DriverChoice } from '../discovery/provider.ts';
import { CONFIGURED } from '../discovery/providers/configured.ts';

/**
 * Where a printer may be driven; null: wherever it is found.
 * @param endpoints all that lead to it now
 * @param before what the configuration named for it at the last merge, and still names
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

/** By which endpoint a printer that is new is driven; undefined: nobody has said enough of it yet. */
export function firstEndpoint(endpoints: Iterable<Endpoint>, transports: Transports): string | undefined {
  return bestEndpoint(
    [...endpoints].filter(({ ready }) => ready),
    undefined,
    transports,
  )?.uri;
}

/**
 * By which endpoint a printer is driven from now on; `waits`: there is a better one, once no job is under way.
 * @param had the endpoint that it has
 * @param endpoints all that lead to it now
 */
export function nextEndpoint(
  had: KnownEndpoint & { driver: DriverChoice },
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

/** @param now the endpoint that the printer has */
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

/** Whether a job that is under way by one of them may go on by the other. */
export function sameJobs(from: Driven, to: Driven, transports: Transports): boolean {
  return drivenAlike(from.driver, to.driver, transports) && !from.queue && !to.queue;
}

interface Driven {
  driver: DriverChoice;
  /** The endpoint is a print server's queue. */
  queue: boolean;
}

/** Whether the same device object can serve both. */
export function drivenAlike(a: DriverChoice, b: DriverChoice, transports: Transports): boolean {
  const documents = transports.takesDocuments(a.uri);
  return documents === transports.takesDocuments(b.uri) && (documents || a.language === b.language);
}

function quality({ listed, answers, queue }: Endpoint): number[] {
  return [listed.has(CONFIGURED) ? 0 : 1, !answers ? 2 : queue ? 1 : 0];
}

/**
 * 0 is best. An encrypted endpoint counts as such where it is trusted: it drives the printer already, its
 * certificate was known before, or another endpoint of the printer is at the same host, which nobody else can
 * have.
 */
function encryption({ encrypted, encryptedAs }: Partial<TransportTraits> = {}, trusted: boolean): number {
  if (encrypted) return trusted ? 0 : 2;
  return encryptedAs === undefined ? 0 : 1;
}

/** Whether another endpoint was reached at the same host. At a loopback address, any program may answer. */
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
