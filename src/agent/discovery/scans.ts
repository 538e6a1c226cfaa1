/** Scans each provider in its own loop, with its own time limit. So a provider that hangs or fails holds up no other. */
import { orAborted } from '../../../drivers/transports/pauses.ts';
import type { Logger } from '../../log.ts';
import { pause } from '../pause.ts';
import type { DiscoveryProvider, Sighting } from './provider.ts';

/** What one provider said when it was last scanned, or why the scan failed. */
export interface ProviderScan {
  provider: string;
  found: readonly Sighting[];
  error: unknown;
}

interface ScansOptions {
  providers: readonly DiscoveryProvider[];
  timings: { scan: number; near: number; scanTimeout: number };
  /** A provider's whole list. */
  onList(provider: DiscoveryProvider, found: readonly Sighting[]): void;
  /** A provider's scan is over, with or without a result. */
  onScan?: () => void;
  logger: Logger;
}

/** The pause after a slow list is this many times as long as the list took. */
const REST = 10;

export class Scans {
  readonly #options: ScansOptions;
  readonly #stopped = new AbortController();
  /** What each provider last said. */
  readonly last = new Map<string, ProviderScan>();
  #loops: Promise<void>[] = [];

  constructor(options: ScansOptions) {
    this.#options = options;
  }

  /** Every provider has been asked once. */
  get complete(): boolean {
    return this.last.size >= this.#options.providers.length;
  }

  /** The provider lists all there is, and its last scan has succeeded. */
  isExhaustive(provider: string): boolean {
    const exhaustive = this.#options.providers.some(({ id, exhaustive }) => exhaustive && id === provider);
    return exhaustive && this.last.get(provider)?.error === null;
  }

  start(): void {
    this.#loops = this.#options.providers.map((provider) => this.#loop(provider));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops);
  }

  async #loop(provider: DiscoveryProvider): Promise<void> {
    const { timings, onList, logger } = this.#options;
    const stopped = this.#stopped.signal;
    let news = new AbortController();
    provider.onNews = () => news.abort();
    while (!stopped.aborted) {
      news = new AbortController();
      const began = performance.now();
      const limit = AbortSignal.any([stopped, AbortSignal.timeout(timings.scanTimeout)]);
      let rest = timings.scan;
      try {
        const found = await orAborted(provider.find(limit), limit);
        this.last.set(provider.id, { provider: provider.id, found, error: null });
        onList(provider, found);
        const took = performance.now() - began;
        if (provider.near && !provider.fixed)
          rest = Math.min(timings.scan, Math.max(timings.near, REST * took));
      } catch (error) {
        if (stopped.aborted) return;
        this.last.set(provider.id, { provider: provider.id, found: [], error });
        logger.warn({ err: error, provider: provider.id }, 'scan failed');
      }
      this.#options.onScan?.();
      await pause(rest, stopped, news.signal);
    }
  }
}
