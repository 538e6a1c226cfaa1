/**
 * One printer that takes bytes: at most one connection to it, used by one job or probe at a time.
 *
 * Many label printers take only one connection. Some take two, but mix up in print what comes over them. So the job under way
 * and the question "are you still there" (a probe) share this object: a job claims the device, and a probe gives way to it. A
 * connection stays open for a moment after its job, because the next job mostly follows at once.
 *
 * Whenever a connection is opened, the device is asked who it is. An address does not say which device is there: while the
 * printer was off, another device may have taken its place.
 */

import { type Connection, TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { DeviceDialect, DeviceHabits } from '../../../drivers/languages/language.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { DeviceAnswer } from '../discovery/endpoint.ts';
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
  /** How long an unknown device may hold half a label until the half counts as abandoned, ms. */
  unfinishedMs: number;
}

/** How often a device is asked while another agent serves it, ms. */
const ASIDE_EVERY = 60_000;
/** How old an answer may be if a job relies on it to begin, ms. Less than `BASE_MS` in `../job/sender.ts`. */
const LATELY_MS = 250;
/** How many unanswered questions make a device mute. A device that is starting up may be silent once. */
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
  /** The status that was last read. */
  #status: DeviceStatus | null = null;
  /** Where and when (ms) a job read the status; null once something else was written, or a probe has asked. */
  #said: { connection: Connection; asked: number } | null = null;
  /** When a job asked the last question that the device has answered, ms. */
  #asked = Number.NEGATIVE_INFINITY;
  /** When the device was last asked while another agent served it, ms. */
  #askedAside = Number.NEGATIVE_INFINITY;
  /** Nobody knows whether the last label that was sent arrived as a whole. */
  #broken = true;
  /** The most data that a label has had, bytes. */
  #mostData = 0;
  /** Since when the device has held half a label without saying who it is, ms. */
  #halfSince: number | null = null;
  answers = false;
  /** The device has told its counter. */
  counts = false;
  /** How many questions in a row the device has not answered. */
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
   * The device has never answered, though it was asked more than once. So a job does not ask it. Probes still ask it, when no
   * job has the device.
   */
  get mute(): boolean {
    return !this.answers && this.#silences >= MUTE_AFTER;
  }

  /** A job has asked the device, and had no answer. */
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

  /** Something other than a question is about to be written to the device. */
  writes(): void {
    this.#said = null;
  }

  /**
   * What the device said on this connection a moment ago: that it is at rest, and what it has counted. Only if nothing was
   * written since. Then a job that follows another one need not ask again. Null: the job has to ask.
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

  /** Gives the device back. Its connection is closed, unless another job follows soon. */
  release(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.drop(), this.#options.idleMs).unref();
  }

  /**
   * The open connection, or a new one to the expected device. Cuts short a probe under way. Only for the job that has the
   * device.
   * @throws TransportError; `device-unreachable` also if another device is at the address
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

  /** The open connection. Only for the job that has the device. @throws TransportError if the connection is gone */
  get open(): Connection {
    const open = this.#connection;
    if (open === null || open.closed.aborted)
      throw new TransportError('connection-lost', 'labels of another job were on it');
    return open;
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { dialect } = this.#options;
    const connection = await this.#options.open(this.#uri, signal);
    // A device that says nothing may hold half a label that somebody else has left since our last connection.
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
   * Makes the device forget half a label that somebody has begun: this agent on a connection that broke, another agent, or
   * anybody else. Otherwise our next label would be printed over it.
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
   * A label as it goes to the device. The same write may first tell the device to forget half a label of somebody else. If
   * nothing of ours is under way in the device, it may hold such a half, however lately it has answered; so it is always told.
   * While something of ours is under way, it is told only if it has not answered lately, or said that it holds half a label.
   * @param empty nothing of ours is under way in the device
   */
  apart(label: Uint8Array, { inert }: Connection, empty: boolean): Uint8Array {
    const abandon = this.dialect?.abandon;
    if (inert || abandon === undefined) return label;
    const whole = this.answers && this.#status?.unfinished !== true;
    const lately = performance.now() - this.#asked <= LATELY_MS;
    return !empty && whole && lately ? label : Buffer.concat([abandon, label]);
  }

  /**
   * Ends half a label in a language that has no command to forget it. After a connection that broke, this sends the data that
   * the broken-off label may still expect, before the first new label. Only for the job that has the device.
   * @param most the most data that a label of the job has, bytes
   */
  async endData(connection: Connection, most: number, signal: AbortSignal): Promise<void> {
    const { endData } = this.dialect ?? {};
    this.#mostData = Math.max(this.#mostData, most);
    if (!this.#broken || endData === undefined || connection.inert) return;
    this.writes();
    await connection.write(endData(this.#mostData), signal);
    this.#broken = false;
  }

  /** Like `drop`. If the transport can do it, bytes that are still on their way never reach the device. */
  async breakOff(): Promise<void> {
    this.#broken = true;
    this.#connection?.reset?.();
    await this.drop();
  }

  /** Closes the connection. What follows goes over a new one. */
  async drop(): Promise<void> {
    clearTimeout(this.#idle);
    const connection = this.#connection;
    this.#connection = null;
    this.#broken ||= connection?.closed.aborted === true;
    await connection?.close();
  }

  /**
   * Asks the device who it is and how it is. It is not asked while a job has a connection to it, or had one a moment ago. While
   * another agent serves it, it is asked once a minute at most. Does not throw if the device is not there.
   */
  async probe(signal: AbortSignal, aside = false): Promise<DeviceAnswer> {
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

  async #ask(signal: AbortSignal): Promise<DeviceAnswer> {
    const { dialect } = this.#options;
    const connection = await this.#options.open(this.#uri, signal);
    const canBeAsked = dialect?.identify !== undefined;
    const nothing = { reachable: true, canBeAsked, identity: null, said: {}, status: null } as const;
    try {
      if (dialect === null) return nothing;
      const identity =
        dialect.identify === undefined ? null : await orSilence(dialect.identify(connection, signal));
      // A late answer would be taken for the answer to the next question. So a device that was silent is asked no more.
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
   * A device that holds half a label takes some questions for a part of the label. It can say later who it is, so it must not
   * be taken for a device without a serial number. At first somebody may still be sending that label. If the half stays for
   * long, nobody is, and the device is told to forget it.
   * @throws TransportError, always
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

/** Error codes that mean: the device took the connection, but said nothing, or nothing that makes sense. */
const SILENCE = new Set(['query-timeout', 'reply-invalid', 'reply-too-long']);

async function orSilence<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TransportError && SILENCE.has(error.code)) return undefined;
    throw error;
  }
}
