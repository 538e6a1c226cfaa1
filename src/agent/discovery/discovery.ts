/**
 * Finds what there is to print on. Providers list endpoints, and each endpoint is asked who is there. From the lists and the
 * answers follow which endpoints lead to the same printer, and the ID of that printer.
 *
 *   scans ─▶ sightings ─▶ endpoints, each is asked ─▶ merge ─▶ proposals
 *
 * Discovery only proposes. `../printer/printers.ts` knows what is being printed; so it decides which proposal becomes a
 * printer, and by which endpoint the printer is driven.
 */
import type { Transports } from '../../../drivers/transports/transports.ts';
import type { Logger } from '../../log.ts';
import type { Endpoint } from './endpoint.ts';
import { Endpoints, type EndpointsOptions } from './endpoints.ts';
import { toldAndSaid } from './evidence.ts';
import { chooseDriver, type Fingerprint } from './fingerprints.ts';
import type { KnownEndpoint, KnownPrinter } from './known.ts';
import { type FoundEndpoint, merge } from './merge.ts';
import type { DiscoveryProvider } from './provider.ts';
import { type ProviderScan, Scans } from './scans.ts';

interface DiscoveryOptions extends EndpointsOptions {
  /** What tells this computer from others: the agent's ID. */
  host: string;
  providers: readonly DiscoveryProvider[];
  /** The operator's own table of models. */
  fingerprints: readonly Fingerprint[];
  transports: Transports;
  timings: { scan: number; near: number; scanTimeout: number };
  /** A provider's scan is over, with or without a result. */
  onScan?: () => void;
  logger: Logger;
}

/** Endpoints that lead to one printer, and its ID. */
export type Proposal = ReturnType<typeof merge<FoundEndpoint & { endpoint: Endpoint }>>[number];

/** How long IDs wait for a new endpoint to answer, ms. After that they are made without its answer. */
const FIRST_ANSWER = 2_000;

export class Discovery {
  readonly endpoints: Endpoints;
  readonly #options: DiscoveryOptions;
  readonly #scans: Scans;
  #startedAt = 0;

  constructor(options: DiscoveryOptions) {
    const { transports, fingerprints } = options;
    this.#options = options;
    this.endpoints = new Endpoints(options);
    this.#scans = new Scans({
      ...options,
      onList: (provider, found) =>
        this.endpoints.list(provider, found, (sighting) => chooseDriver(sighting, transports, fingerprints)),
    });
  }

  /** What each provider last said. */
  get lastScans(): ProviderScan[] {
    return [...this.#scans.last.values()];
  }

  /** @param known printers of earlier runs: their endpoints say who last answered at each address */
  start(known: readonly KnownPrinter[]): void {
    for (const endpoint of known.flatMap(({ endpoints }) => endpoints)) this.endpoints.remember(endpoint);
    this.#startedAt = performance.now();
    this.#scans.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#scans.stop(), this.endpoints.stop()]);
    await Promise.all(this.#options.providers.map((provider) => provider.stop?.()));
  }

  /** Some providers or new endpoints have not been asked yet. So evidence that changes an ID may still come. */
  get isFirstLook(): boolean {
    if (performance.now() - this.#startedAt > this.#options.timings.scanTimeout) return false;
    return !this.#scans.complete || [...this.endpoints].some((endpoint) => endpoint.isNew(FIRST_ANSWER));
  }

  /** Its provider lists all there is, and does not list the endpoint any more. */
  isUnlisted({ provider, uri }: KnownEndpoint): boolean {
    return this.#scans.isExhaustive(provider) && !this.endpoints.at(uri)?.listed.has(provider);
  }

  /** @param known the printers that there are so far */
  propose(known: readonly KnownPrinter[]): Proposal[] {
    const seen = [...this.endpoints].flatMap((endpoint) =>
      [...endpoint.listed].map(([provider, { sighting }]) => ({
        provider,
        uri: endpoint.uri,
        id: sighting.entry?.id,
        evidence: endpoint.evidence(provider),
        endpoint,
      })),
    );
    const before = known.flatMap(({ id, endpoints }) =>
      endpoints.map(({ uri, told, said }) => ({ id, uri, evidence: toldAndSaid(told, said) })),
    );
    return merge(seen, this.#options, before);
  }
}
