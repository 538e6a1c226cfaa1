/**
 * One printer that takes bytes: at most one connection to it, used by one job or probe at a time.
 *
 * Many label printers take a single connection, and some of them print what two connections send mixed up. So
 * the job under way and the question "are you still there" share this object: a job claims the device, a probe
 * gives way to it. A connection outlives its job for a moment, since the next job mostly follows at once.
 *
 * Whenever a connection is opened the device is asked who it is. An address says nothing about what stands
 * there: while the printer was off, another may have taken its place.
 */

import { type Connection, TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { DeviceDialect, DeviceHabits } from '../../../drivers/languages/language.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { ProbeResult } from '../discovery/endpoint.ts';
import { evidenceOfIdentity } from '../discovery/evidence.ts';
import { printerIdOf } from '../discovery/identity.ts';
import type { LinkOptions, PrinterLink } from './link.ts';
import type { PrinterDevice } from './printer-device.ts';
import { isIdle } from './status.ts';

interface StreamDeviceOptions {
  uri: string;
  open(uri: string, signal: AbortSignal): Promise<Connection>;
  dialect: DeviceDialect | null;
  link(device: StreamDevice, options: LinkOptions): PrinterLink;
  /** How long a connection that no job uses stays open, ms. */
  idleMs: number;
  /** After which time half a label that an unknown device holds counts as left there, ms. */
  unfinishedMs: number;
}

/** How often a device is asked while another agent serves it, ms. */
const ASIDE_EVERY = 60_000;
/** How old an answer may be for a job to begin by it, ms: less than `BASE_MS` in `../job/sender.ts`. */
const LATELY_MS = 250;
/** Unanswered questions after which a device is mute: one that starts up may be silent once. */
const MUTE_AFTER = 2;

export class StreamDevice implements PrinterDevice {
  readonly kind = 'stream';
  readonly #options: StreamDeviceOptions;
  #uri: string;
  #connection: Connection | null = null;
  #idle: NodeJS.Timeout | undefined;
  #connecting = false;
  #probe: { abort: AbortController; done: Promise<unknown> } | null = null;

  expected: string | null = null;
  displaced = false;
  offline: readonly PrinterReason[] = ['offline'];
  /** As it was last read. */
  #status: DeviceStatus | null = null;
  /** Where and when (ms) the status was read; null once something was written there. */
  #said: { connection: Connection; asked: number } | null = null;
  /** When it was last asked and answered, ms. */
  #asked = Number.NEGATIVE_INFINITY;
  /** When it was last asked while another agent served it, ms. */
  #askedAside = Number.NEGATIVE_INFINITY;
  /** Nobody knows whether the last label that was sent arrived as a whole. */
  #broken = true;
  /** The most data that a label has had, bytes. */
  #mostData = 0;
  /** Since when it has held half a label and not said who it is, ms. */
  #halfSince: number | null = null;
  answers = false;
  /** It has told its counter. */
  counts = false;
  /** Questions in a row that it has not answered. */
  #silences = 0;
  readonly habits: DeviceHabits = {};
  onStatus: (status: DeviceStatus | null) => void = () => undefined;

  constructor(options: StreamDeviceOptions) {
    this.#options = options;
    this.#uri = options.uri;
  }

  get uri(): string {
    return this.#uri;
  }

  get confirms(): PrinterDevice['confirms'] {
    const status = this.#status;
    if (status === null) return this.answers ? null : 'nothing';
    return status.odometer !== null ? 'count' : status.labelsPending !== null ? 'pending' : 'nothing';
  }

  get dialect(): DeviceDialect | null {
    return this.#options.dialect;
  }

  moveTo(uri: string): void {
    this.#uri = uri;
  }

  /**
   * It has never answered, though it was asked more than once: a job does not ask it. It is asked again at each scan,
   * when no job has it.
   */
  get mute(): boolean {
    return !this.answers && this.#silences >= MUTE_AFTER;
  }

  /** A job has asked it, and it said nothing. */
  silent(): void {
    this.#silences++;
  }

  /** A job has read a status. */
  answered(status: DeviceStatus, said: { connection: Connection; asked: number }): void {
    this.answers = true;
    this.counts ||= status.odometer !== null;
    this.#status = status;
    this.#said = said;
    this.#asked = said.asked;
    this.onStatus(status);
  }

  /** Something other than a question is about to be written. */
  writes(): void {
    this.#said = null;
  }

  /**
   * What it said a moment ago on this connection, where nothing has been written since: that it is at rest,
   * and what it has counted. A job that comes after another one need not ask again then; null: it has to ask.
   */
  saidLately(connection: Connection): { status: DeviceStatus; asked: number } | null {
    const [status, said] = [this.#status, this.#said];
    if (status === null || said?.connection !== connection || connection.closed.aborted) return null;
    if (this.dialect?.abandon === undefined) return null;
    if (performance.now() - said.asked > LATELY_MS) return null;
    const certain = status.labelsPending === 0 && status.odometer !== null && !status.unfinished;
    return certain && isIdle(status) ? { status, asked: said.asked } : null;
  }

  link(options: LinkOptions): PrinterLink {
    return this.#options.link(this, options);
  }

  /** Gives the device back; its connection is closed unless another job follows soon. */
  release(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.drop(), this.#options.idleMs).unref();
  }

  /**
   * The open connection, or a new one to the device that is expected; a probe under way is cut short. For the
   * job that has the device.
   * @throws TransportError; `device-unreachable` too when another device is at the address
   */
  async connect(signal: AbortSignal): Promise<Connection> {
    clearTimeout(this.#idle);
    this.#connecting = true;
    try {
      this.#probe?.abort.abort();
      await this.#probe?.done;
      const open = this.#connection;
      if (open !== null && !open.closed.aborted) return open;
      this.#broken ||= open !== null;
      this.#connection = null;
      if (this.displaced) throw new TransportError('device-unreachable', 'another device is at its address');
      this.#connection = await this.#open(signal);
      return this.#connection;
    } finally {
      this.#connecting = false;
    }
  }

  /** The open connection, for the job that has the device. @throws TransportError where it is gone */
  get open(): Connection {
    const open = this.#connection;
    if (open === null || open.closed.aborted)
      throw new TransportError('connection-lost', 'labels of another job were on it');
    return open;
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { dialect } = this.#options;
    const connection = await this.#options.open(this.#uri, signal);
    // One that says nothing may hold half a label that somebody else has left since.
    this.#broken ||= !this.answers;
    try {
      await this.abandon(connection, signal);
      if (this.expected !== null && this.answers && dialect?.identify !== undefined) {
        const identity = await dialect.identify(connection, signal);
        if (identity === null) throw new TransportError('query-timeout', 'it did not say who it is');
        if (printerIdOf(identity) !== this.expected) {
          throw new TransportError('device-unreachable', 'another device answers at its address');
        }
      }
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * Makes the device forget half a label that somebody has begun: an earlier connection of this agent that
   * broke, another agent, anybody. Our own next label would be printed over it. For the job that has the
   * device.
   */
  async abandon(connection: Connection, signal: AbortSignal): Promise<void> {
    const abandon = this.dialect?.abandon;
    if (abandon === undefined || connection.inert) return;
    this.writes();
    await connection.write(abandon, signal);
  }

  distrust(): void {
    this.#broken = true;
  }

  /**
   * A label as it goes to the device. In the same write the device is told to forget half a label of somebody else's,
   * which it may hold as soon as it has nothing of ours, however lately it has answered. While it has something of ours,
   * it is told so only if its last answer is older, or said that there is such a half.
   * @param alone nothing of ours is under way there
   */
  apart(label: Uint8Array, { inert }: Connection, alone: boolean): Uint8Array {
    const abandon = this.dialect?.abandon;
    if (inert || abandon === undefined) return label;
    const whole = this.answers && this.#status?.unfinished !== true;
    const lately = performance.now() - this.#asked <= LATELY_MS;
    return !alone && whole && lately ? label : Buffer.concat([abandon, label]);
  }

  /**
   * The same where the language has no command for it: before the first label after a connection that broke,
   * sends the data that the broken-off label may still expect. For the job that has the device.
   * @param most bytes of data, at most, of one label
   */
  async endData(connection: Connection, most: number, signal: AbortSignal): Promise<void> {
    const { endData } = this.dialect ?? {};
    this.#mostData = Math.max(this.#mostData, most);
    if (!this.#broken || endData === undefined || connection.inert) return;
    this.writes();
    await connection.write(endData(this.#mostData), signal);
    this.#broken = false;
  }

  /** As `drop`; bytes still on their way never reach the device, where the transport can do that. */
  async breakOff(): Promise<void> {
    this.#broken = true;
    this.#connection?.reset?.();
    await this.drop();
  }

  /** Closes the connection. What follows is on a new one. */
  async drop(): Promise<void> {
    clearTimeout(this.#idle);
    const connection = this.#connection;
    this.#connection = null;
    this.#broken ||= connection?.closed.aborted === true;
    await connection?.close();
  }

  /**
   * Asks the device who and how it is, unless a job has a connection to it, or had until just now; while another
   * agent serves it, once a minute. Never throws for a device that is not there.
   */
  async probe(signal: AbortSignal, aside = false): Promise<ProbeResult> {
    const inUse = this.#connection !== null && !this.#connection.closed.aborted;
    if (inUse || this.#connecting || this.#probe !== null) return null;
    if (aside) {
      if (performance.now() - this.#askedAside < ASIDE_EVERY) return null;
      this.#askedAside = performance.now();
    }
    const abort = new AbortController();
    const asked = this.#ask(AbortSignal.any([signal, abort.signal]));
    this.#probe = { abort, done: asked.catch(() => undefined) };
    try {
      return await asked;
    } catch (error) {
      if (abort.signal.aborted) return null;
      if (error instanceof TransportError) return { reachable: false, error };
      throw error;
    } finally {
      this.#probe = null;
    }
  }

  async #ask(signal: AbortSignal): Promise<ProbeResult> {
    const { dialect } = this.#options;
    const connection = await this.#options.open(this.#uri, signal);
    const canBeAsked = dialect?.identify !== undefined;
    const nothing = { reachable: true, canBeAsked, identity: null, said: {}, status: null } as const;
    try {
      if (dialect === null) return nothing;
      const identity =
        dialect.identify === undefined ? null : await orSilence(dialect.identify(connection, signal));
      // A device that lets one question time out may answer it during the next one: ask no more.
      if (identity === undefined) {
        this.#silences++;
        return nothing;
      }
      const status = (await orSilence(dialect.status(connection, signal))) ?? null;
      this.#status = status ?? this.#status;
      this.counts ||= status !== null && status.odometer !== null;
      this.#said = null;
      this.#silences = identity === null && status === null ? this.#silences + 1 : 0;
      if (identity === null && status?.unfinished && this.expected === null)
        await this.#halfLabel(connection, signal);
      const said = identity === null ? {} : evidenceOfIdentity(identity);
      return { reachable: true, canBeAsked, identity, said, status };
    } finally {
      await connection.close();
    }
  }

  /**
   * A device that holds half a label takes some questions for a part of the label. It will say later who it
   * is, so it must not be taken for one that has no serial number. Somebody may be sending that label; after
   * a while nobody is.
   */
  async #halfLabel(connection: Connection, signal: AbortSignal): Promise<never> {
    this.#halfSince ??= performance.now();
    if (performance.now() - this.#halfSince >= this.#options.unfinishedMs) {
      await this.abandon(connection, signal);
      this.#halfSince = null;
    }
    throw new TransportError('query-timeout', 'it holds half a label, and does not say who it is');
  }
}

/** Codes of a device that took the connection but said nothing, or nothing that makes sense. */
const SILENCE = new Set(['query-timeout', 'reply-invalid', 'reply-too-long']);

async function orSilence<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TransportError && SILENCE.has(error.code)) return undefined;
    throw error;
  }
}
