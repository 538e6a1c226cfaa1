/**
 * All ways to printers that are listed now, and what is found at the end of each.
 *
 * A way is a URI, whoever lists it. Those whose language is known are opened and asked who is there:
 *
 *   it is driven, and works          asked each scan (10 s): that it is still there
 *   works, and is not driven         asked every sixth scan
 *   cannot be reached                asked each second where the list is near, each scan elsewhere
 *   connects, says nothing           asked at three seconds, before its address is all there is to know
 *
 * No way of a printer that has a job under way is asked but the one that is driven, which gives way to the job:
 * many printers take one connection, and the asking must not slow the printing. Those that cannot be reached
 * wait behind those that can: a site's printers that are off are all waited for to the end.
 */
import type { DeviceIdentity, DeviceStatus } from '../../../drivers/device.ts';
import type { UnreachedPrinter } from '../../contract/printer.ts';
import { type Logger, withoutCredentials } from '../../log.ts';
import type { Timings } from '../config.ts';
import { pause } from '../pause.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { contradict, type Evidence, toldAndSaid } from './evidence.ts';
import { addressOf } from './identity.ts';
import type { KnownWay } from './known-printers.ts';
import type { Candidate, DiscoveryProvider, Finding } from './provider.ts';
import { CONFIGURED } from './providers/configured.ts';

/** Times that a device which says nothing is asked before its address is all there is to know. */
const ASKED = 3;
/** Devices asked at the same time. */
const AT_ONCE = 32;
/** Addresses that nobody lists any more of which it is known who was there. */
const MOST_LAST = 10_000;
/** Scans between two questions to a way that works and is not driven. */
const SPARE = 6;

export interface ListedWay {
  finding: Finding;
  near: boolean;
  candidate: Candidate | undefined;
}

/** What the device at an address said of itself when it last did. It stays while the address says nothing. */
type Said = Pick<KnownWay, 'said' | 'identity' | 'answers'>;

export class Way {
  readonly uri: string;
  readonly #begun = performance.now();
  /** By provider. */
  readonly listed = new Map<string, ListedWay>();
  said: Evidence;
  identity: DeviceIdentity | null;
  answers: boolean;
  /** It took a connection when it was last asked. */
  reached = false;
  status: DeviceStatus | null = null;
  /** Why it was not reached when it was last asked, for a person. */
  unreached: string | null = null;
  /** It shows another certificate than its printer is known by. */
  refused = false;
  /** It shows the certificate that its printer was known by before it was asked, or that is configured. */
  vouched = false;
  /** How often it has connected and said nothing. */
  silent = 0;
  asked = false;
  asking = false;
  /** `performance.now()` */
  nextAt = 0;
  /** Asks it while no printer is driven by it. */
  spare: PrinterDevice | undefined;

  constructor(uri: string, { said, identity, answers }: Said) {
    this.uri = uri;
    this.said = said;
    this.identity = identity;
    this.answers = answers;
  }

  /** How it is driven: as the operator wrote it down, or as whoever lists it first. */
  get candidate(): Candidate | undefined {
    const all = [...this.listed.values()].flatMap(({ candidate }) => candidate ?? []);
    return this.listed.get(CONFIGURED)?.candidate ?? all[0];
  }

  /** It is a print server's queue. */
  get queue(): boolean {
    return [...this.listed.keys()].some((provider) => this.evidence(provider).queue !== undefined);
  }

  /** Of one that the configuration names, while nothing is known of who is there: why. */
  get neverReached(): UnreachedPrinter | undefined {
    const named = this.listed.get(CONFIGURED)?.finding.entry;
    if (named === undefined || this.unreached === null) return undefined;
    return {
      uri: addressOf(this.uri),
      ...(named.name !== undefined && { name: named.name }),
      why: withoutCredentials(this.unreached).slice(0, 500),
    };
  }

  /** It is about to be asked for the first time. @param ms how long that may take */
  isNew(ms: number): boolean {
    return !this.asked && this.candidate !== undefined && performance.now() - this.#begun < ms;
  }

  /** Others tell that another device is there than the one that has last said something. */
  get isAnothers(): boolean {
    return [...this.listed.values()].some(({ finding }) => contradict(finding.evidence, this.said));
  }

  forget(): void {
    this.said = {};
    this.identity = null;
    this.answers = false;
  }

  evidence(provider: string): Evidence {
    return toldAndSaid(this.listed.get(provider)?.finding.evidence ?? {}, this.said);
  }

  /** There is enough to know of it to call it a printer. */
  get ready(): boolean {
    if (!this.reached || this.candidate === undefined) return false;
    const named = [...this.listed.values()].some(({ finding: { entry, evidence } }) => {
      const { serial, uuid, deviceId, mac, queue } = evidence;
      return [entry?.id, serial, uuid, deviceId, mac, queue].some((one) => one !== undefined);
    });
    return this.identity !== null || named || this.silent >= ASKED;
  }
}

export interface WaysOptions {
  timings: Pick<Timings, 'scan' | 'near'>;
  device(candidate: Candidate): PrinterDevice;
  /** The device of the printer that is driven by this way. */
  driven(way: Way): PrinterDevice | undefined;
  /** A job is under way on the printer that this way leads to. */
  busy(way: Way): boolean;
  /** Something is listed, reached or said that was not before (or the reverse): printers may be others. */
  onNews(): void;
  /** The status at this way was asked. */
  onStatus(way: Way): void;
  logger: Logger;
}

export class Ways {
  readonly #options: WaysOptions;
  readonly #ways = new Map<string, Way>();
  readonly #last = new Map<string, Said>();
  readonly #stopped = new AbortController();
  readonly #asking = new Set<Promise<void>>();
  #ticking: Promise<void> = Promise.resolve();

  constructor(options: WaysOptions) {
    this.#options = options;
  }

  [Symbol.iterator](): IterableIterator<Way> {
    return this.#ways.values();
  }

  at(uri: string): Way | undefined {
    return this.#ways.get(uri);
  }

  /** What was said there before the agent was started. */
  remember({ uri, said, identity, answers }: KnownWay): void {
    if (identity !== null || !this.#last.has(uri)) this.#last.set(uri, { said, identity, answers });
  }

  start(onTick: () => void): void {
    this.#ticking = (async () => {
      while (!this.#stopped.signal.aborted) {
        onTick();
        this.#askDue();
        await pause(this.#options.timings.near, this.#stopped.signal);
      }
    })();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#ticking, ...this.#asking]);
    await Promise.all([...this.#ways.values()].map((way) => way.spare?.drop()));
  }

  /** Takes over a provider's whole list. */
  list(
    { id, near = false }: Pick<DiscoveryProvider, 'id' | 'near'>,
    findings: readonly Finding[],
    candidateOf: (finding: Finding) => Candidate | undefined,
  ): void {
    let news = false;
    const listed = new Set(findings.map(({ uri }) => uri));
    for (const [uri, way] of this.#ways) {
      if (listed.has(uri) || !way.listed.delete(id)) continue;
      news = true;
      if (way.listed.size === 0) this.#forget(way);
    }
    for (const finding of findings) {
      const way = this.#ways.get(finding.uri) ?? this.#begin(finding.uri);
      const before = way.listed.get(id);
      if (before !== undefined && who(before.finding) === who(finding)) {
        before.finding = finding;
        if (finding.status !== undefined) this.#options.onStatus(way);
        continue;
      }
      news = true;
      way.listed.set(id, { finding, near, candidate: candidateOf(finding) });
      void way.spare?.drop();
      way.spare = undefined;
      if (!way.reached) way.nextAt = 0;
    }
    if (news) this.#options.onNews();
    this.#askDue();
  }

  /** A job has read a status there, or could not connect. */
  observed(uri: string, status: DeviceStatus | null): void {
    const way = this.#ways.get(uri);
    if (way === undefined) return;
    const reached = status !== null;
    const news = way.reached !== reached || (reached && !way.answers);
    way.reached = reached;
    way.status = status;
    way.answers ||= reached;
    if (!reached) way.nextAt = Math.min(way.nextAt, performance.now() + this.#again(way));
    if (news) this.#options.onNews();
    else this.#options.onStatus(way);
  }

  /** The device is the one that a printer is driven with from now on. */
  takeSpare(way: Way): PrinterDevice | undefined {
    const { spare } = way;
    way.spare = undefined;
    return spare;
  }

  #begin(uri: string): Way {
    const way = new Way(uri, this.#last.get(uri) ?? { said: {}, identity: null, answers: false });
    this.#ways.set(uri, way);
    return way;
  }

  #forget(way: Way): void {
    const { uri, said, identity, answers } = way;
    this.#ways.delete(uri);
    if (identity !== null) this.#last.set(uri, { said, identity, answers });
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= MOST_LAST) break;
      this.#last.delete(oldest);
    }
    void way.spare?.drop();
  }

  #askDue(): void {
    const now = performance.now();
    const due = [...this.#ways.values()].filter(
      (way) => way.nextAt <= now && !way.asking && way.candidate !== undefined,
    );
    const off = (way: Way) => (way.asked && !way.reached ? 1 : 0);
    for (const way of due.sort((a, b) => off(a) - off(b) || a.nextAt - b.nextAt)) {
      if (this.#asking.size >= AT_ONCE || this.#stopped.signal.aborted) return;
      const asking = this.#ask(way).finally(() => {
        this.#asking.delete(asking);
        this.#askDue();
      });
      this.#asking.add(asking);
    }
  }

  /** Never rejects. */
  async #ask(way: Way): Promise<void> {
    way.asking = true;
    try {
      await this.#askNow(way);
    } catch (error) {
      way.nextAt = performance.now() + this.#options.timings.scan;
      if (this.#stopped.signal.aborted) return;
      this.#options.logger.warn({ err: error, uri: addressOf(way.uri) }, 'printer not examined');
    } finally {
      way.asking = false;
    }
  }

  async #askNow(way: Way): Promise<void> {
    const { timings, device, driven, busy, onNews, onStatus, logger } = this.#options;
    const { candidate } = way;
    if (candidate === undefined) return;
    const driving = driven(way);
    if (driving === undefined && busy(way)) {
      way.nextAt = performance.now() + timings.near;
      return;
    }
    if (driving === undefined) way.spare ??= device(candidate);
    const asked = driving ?? way.spare;
    const probe = (await asked?.probe(this.#stopped.signal)) ?? null;
    const before = newsOf(way);
    // Nothing else would tell of one that was never there. Those that are found come and go.
    const expected = !way.asked && way.listed.has(CONFIGURED);
    way.asked = true;
    if (probe !== null && !probe.reachable) {
      const refused = probe.error.code === 'certificate-unknown';
      if (refused ? !way.refused : expected) {
        const what = refused ? 'printer refused' : 'printer cannot be reached';
        logger.warn({ err: probe.error, uri: addressOf(way.uri) }, what);
      }
      way.reached = false;
      way.unreached = probe.error.message;
      way.refused = refused;
      way.status = null;
      way.silent = 0;
    } else if (probe !== null) {
      way.reached = true;
      way.vouched = probe.vouched ?? false;
      way.unreached = null;
      way.refused = false;
      // One that used to answer and does not is busy or broken: unknown, and not to be taken for idle.
      way.status = probe.status;
      way.answers ||= probe.identity !== null || probe.status !== null;
      if (probe.identity !== null) {
        way.silent = 0;
        way.identity = probe.identity;
        way.said = probe.said;
      } else {
        way.silent += asked?.canBeAsked === false ? ASKED : 1;
        if (way.silent >= ASKED && way.isAnothers) way.forget();
      }
    }
    way.nextAt = performance.now() + this.#again(way, driving !== undefined);
    if (before !== newsOf(way)) onNews();
    else onStatus(way);
  }

  /** How long until it is asked again, ms. */
  #again(way: Way, driven = false): number {
    const { scan, near } = this.#options.timings;
    if (!way.reached) return [...way.listed.values()].some((one) => one.near) ? near : scan;
    if (way.identity === null && way.silent < ASKED) return near;
    return driven ? scan : scan * SPARE;
  }
}

/** How it is changes with each scan; who it is does not. */
function who({ status: _, ...finding }: Finding): string {
  return text(finding);
}

/** What other printers may follow from. */
function newsOf({ reached, unreached, refused, vouched, identity, said, answers, ready }: Way): string {
  return text([reached, unreached !== null, refused, vouched, identity, said, answers, ready]);
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
