/**
 * The identity and status of a ZPL printer, asked for on the connection that carries the labels.
 *
 * The queries travel in the same stream as the labels, so the answer to `~HS` counts every format that was sent before it.
 * There are two traps:
 * - Old firmware does not answer `~HS` at all while it is out of media or ribbon, or while the head is open (guide, `~HS`).
 *   Then `~HQES` is asked.
 * - An answer that comes after its question has timed out looks like the answer to the next question. An old "nothing pending"
 *   would then pass labels off as printed. So after a timeout the printer is asked twice, and only the second answer counts.
 *   The answers of SGD variables carry no name, so after a timeout these are not asked again on that connection.
 *
 * On a connection where variables were answered, `~HS` and the counter are asked for in one write, with one wait. If a device
 * answers only a part of that, it takes one query at a time, and is asked that way from then on (`DeviceHabits`). Some printers
 * mix the data of two connections. There the second query may end up in a label that another sender is just beginning. So after
 * an `~HS` that reports a partial format, the counter is not asked for.
 *
 * Source: ZPL II Programming Guide, `~HI`, `~HS`, `~HQ`, and the SGD commands named below.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { millimetres } from '../../../src/contract/dots.ts';
import type { PrinterReason } from '../../../src/contract/printer.ts';
import { type Connection, TransportError } from '../../connection.ts';
import type { DeviceIdentity, DeviceStatus, Moment } from '../../device.ts';
import type { DeviceDialect, DeviceHabits } from '../language.ts';
import {
  type ErrorStatus,
  framesArrived,
  type HostIdentification,
  type HostStatus,
  parseErrorStatus,
  parseHostIdentification,
  parseHostStatus,
  parseSerialNumber,
  parseValues,
  valuesArrived,
  wholeNumber,
} from './replies.ts';

const IDENTITY_VARIABLES = [
  'device.unique_id',
  'device.friendly_name',
  'head.resolution.in_dpi',
  'ezpl.print_width',
  'zpl.label_length',
];
const ODOMETER = 'odometer.total_label_count';

/** Dots per inch, for what `~HI` calls dots per mm. */
const DPI = { 6: 152, 8: 203, 12: 300, 24: 600 } as const;

/** How long late answers may take to arrive before the second query, ms. */
const SETTLE = 200;

/** Connections on which an `~HS` was not answered. */
const owesStatus = new WeakSet<Connection>();
/** Connections on which an SGD variable was not answered. */
const withoutVariables = new WeakSet<Connection>();
/** Connections on which variables were answered. */
const withVariables = new WeakSet<Connection>();
/** Connections on which the answer to a query for the counter may still come. */
const owesCount = new WeakSet<Connection>();
/** Connections on which the last `~HS` reported a partial format. */
const half = new WeakSet<Connection>();

/** The label counter as last read on a connection. */
const counted = new WeakMap<Connection, number | null>();

/**
 * `~JX` cancels a format that has arrived only in part, and no other. It also works inside the data of `^FD` and `^GFA`, which
 * it ends (guide, `^GF`). It does not work inside binary data (`^GFB`, `~DY`), but we never send that.
 */
const abandon = new TextEncoder().encode('~JX\r\n');

/** `~JA` cancels the formats that wait and the rest of a batch, and clears the buffer (guide, `~JA`). */
const forget = new TextEncoder().encode('~JA\r\n');

export const zplDevice = { abandon, forget, identify, status } satisfies DeviceDialect;

async function identify(connection: Connection, signal: AbortSignal): Promise<DeviceIdentity | null> {
  const host = await ifAnswered(identification(connection, signal));
  const values = await variables(connection, IDENTITY_VARIABLES, signal);
  const [uniqueId = null, name = null, inDpi = null, printWidth = null, labelLength = null] = values ?? [];
  const serial = believable(uniqueId) ?? (host ? believable(await serialNumber(connection, signal)) : null);
  if (serial === null) return null;
  const dpi = wholeNumber(inDpi) || (host?.dpmm && DPI[host.dpmm]) || undefined;
  const mm = (dots: string | null): number | undefined => {
    const count = wholeNumber(dots);
    return count && dpi ? Math.round(100 * millimetres(count, dpi)) / 100 : undefined;
  };
  const width = mm(printWidth);
  const height = mm(labelLength);
  return {
    evidence: 'serial',
    value: serial,
    ...(host && { model: host.model }),
    ...(name !== null && { name }),
    ...(dpi !== undefined && { dpi }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
}

interface HostAndCount {
  /** Undefined: the printer did not answer. */
  host: HostStatus | undefined;
  odometer: number | null;
  /** So long after `~HS` the counter arrived, where both were asked for in one write. */
  ms?: number;
}

async function status(
  connection: Connection,
  signal: AbortSignal,
  habits?: DeviceHabits,
): Promise<DeviceStatus> {
  const before = counted.get(connection);
  const atOnce = mayBoth(connection, habits);
  const { host, odometer, ms = 0 } = await hostAndCount(connection, signal, habits);
  if (host === undefined) {
    const errors = await ask(connection, '~HQES\r\n', framesArrived(1), parseErrorStatus, signal);
    return { ...fromErrorStatus(errors), odometer };
  }
  if (host.partialFormat) return { ...fromHostStatus(host), unfinished: true, odometer: null };
  const described = fromHostStatus(host);
  // If the counter has moved, a label may have come out since `~HS` was answered, so `~HS` is asked again below.
  if (odometer === null || odometer === before || described.labelsPending === 0)
    return { ...described, odometer };
  const together = mayBoth(connection, habits);
  const again: HostAndCount & { host: HostStatus } = together
    ? await both(connection, signal, habits)
    : { host: await hostStatus(connection, signal), odometer: null };
  if (again.host.partialFormat) return { ...fromHostStatus(again.host), unfinished: true, odometer: null };
  const rest = fromHostStatus(again.host);
  if (rest.labelsPending === 0)
    return { ...rest, odometer: together ? again.odometer : await labelCount(connection, signal) };
  const moments: Moment[] = atOnce ? [{ ...described, odometer, ms }] : [];
  if (again.odometer !== null) moments.push({ ...rest, odometer: again.odometer, ms: again.ms ?? 0 });
  return { ...rest, odometer, moments };
}

/** Asks `~HS`, then the counter. */
async function hostAndCount(
  connection: Connection,
  signal: AbortSignal,
  habits: DeviceHabits | undefined,
): Promise<HostAndCount> {
  if (mayBoth(connection, habits)) return await both(connection, signal, habits);
  const host = await ifAnswered(hostStatus(connection, signal));
  // The printer would take an SGD command for data of the unfinished format.
  if (host?.partialFormat === true) return { host, odometer: null };
  return { host, odometer: await labelCount(connection, signal) };
}

function mayBoth(connection: Connection, habits: DeviceHabits | undefined): habits is DeviceHabits {
  if (habits === undefined || habits.oneAtATime) return false;
  const owes = [withoutVariables, owesStatus, owesCount, half].some((those) => those.has(connection));
  return withVariables.has(connection) && !owes;
}

/** Asks `~HS` and the counter in one write. @throws TransportError if one of the two is not answered */
async function both(
  connection: Connection,
  signal: AbortSignal,
  habits: DeviceHabits,
): Promise<HostAndCount & { host: HostStatus }> {
  const whole = framesArrived(3);
  const value = valuesArrived(1);
  let some = false;
  let since: number | undefined;
  const complete = (reply: Uint8Array) => {
    some = true;
    if (!whole(reply)) return false;
    since ??= performance.now();
    return value(reply) || parseHostStatus(reply).partialFormat;
  };
  try {
    const question = Buffer.from(`~HS\r\n${getvar(ODOMETER)}`, 'latin1');
    const reply = await connection.query(question, complete, { signal });
    const ms = performance.now() - (since ?? 0);
    const host = parseHostStatus(reply);
    if (heldHalf(connection, host)) {
      // The answer to the query for the counter may still come, but late.
      owesCount.add(connection);
      return { host, odometer: null };
    }
    const [odometer = null] = parseValues(reply, 1);
    return { host, odometer: remember(connection, odometer), ms };
  } catch (error) {
    owesStatus.add(connection);
    withoutVariables.add(connection);
    if (some && error instanceof TransportError && error.code === 'query-timeout') habits.oneAtATime = true;
    throw error;
  }
}

async function labelCount(connection: Connection, signal: AbortSignal): Promise<number | null> {
  if (owesCount.delete(connection)) await wait(SETTLE, undefined, { signal });
  const [odometer = null] = (await variables(connection, [ODOMETER], signal)) ?? [];
  return remember(connection, odometer);
}

function remember(connection: Connection, odometer: string | null): number | null {
  const count = wholeNumber(odometer);
  counted.set(connection, count);
  return count;
}

function heldHalf(connection: Connection, { partialFormat }: HostStatus): boolean {
  if (partialFormat) half.add(connection);
  else half.delete(connection);
  return partialFormat;
}

/** What stops a printer, by the flags of `~HS` or `~HQES`. */
function stopsOf(flags: Omit<ErrorStatus, 'mediaLow'>): PrinterReason[] {
  const stops: PrinterReason[] = [];
  if (flags.mediaOut) stops.push('media-empty');
  if (flags.ribbonOut) stops.push('marker-supply-empty');
  if (flags.headOpen) stops.push('cover-open');
  if (flags.paused) stops.push('paused');
  if (flags.other) stops.push('other');
  return stops;
}

function fromHostStatus(host: HostStatus): Omit<DeviceStatus, 'odometer'> {
  const stops = stopsOf({ ...host, headOpen: host.headUp, other: host.overTemperature });
  const notes: PrinterReason[] = [];
  if (host.labelWaiting) notes.push('label-waiting');
  if (host.bufferFull) notes.push('spool-area-full');
  // The printer counts formats, each of which has at least one label, and the remaining labels of the format that it is
  // printing. If it has a partial format, a full buffer or a label that was not taken yet, it is not done either.
  const counted = host.formatsInBuffer + host.labelsRemaining;
  const busy = host.partialFormat || host.bufferFull || host.labelWaiting;
  const [labelsPending, formatsPending] = counted === 0 && busy ? [1, 1] : [counted, host.formatsInBuffer];
  const state = stops.length > 0 ? 'stopped' : labelsPending > 0 ? 'processing' : 'idle';
  return { state, reasons: [...stops, ...notes], labelsPending, formatsPending };
}

/** `~HQES` counts nothing. So it stays unknown what is pending, and whether a printer without errors is idle. */
function fromErrorStatus(errors: ErrorStatus): Omit<DeviceStatus, 'odometer'> {
  const stops = stopsOf(errors);
  const notes: PrinterReason[] = errors.mediaLow ? ['media-low'] : [];
  return {
    state: stops.length > 0 ? 'stopped' : 'unknown',
    reasons: [...stops, ...notes],
    labelsPending: null,
  };
}

async function hostStatus(connection: Connection, signal: AbortSignal): Promise<HostStatus> {
  const once = () => ask(connection, '~HS\r\n', framesArrived(3), parseHostStatus, signal);
  try {
    if (owesStatus.has(connection)) {
      await once();
      await wait(SETTLE, undefined, { signal });
    }
    const answer = await once();
    owesStatus.delete(connection);
    heldHalf(connection, answer);
    return answer;
  } catch (error) {
    // The query was aborted or took too long, so an answer may still be on its way.
    owesStatus.add(connection);
    throw error;
  }
}

function identification(connection: Connection, signal: AbortSignal): Promise<HostIdentification> {
  return ask(connection, '~HI\r\n', framesArrived(1), parseHostIdentification, signal);
}

async function serialNumber(connection: Connection, signal: AbortSignal): Promise<string | null> {
  const answer = ask(connection, '~HQSN\r\n', framesArrived(1), parseSerialNumber, signal);
  return (await ifAnswered(answer)) ?? null;
}

/** The values of SGD variables, in order. Null: this printer, or this connection, answers none. */
async function variables(
  connection: Connection,
  names: readonly string[],
  signal: AbortSignal,
): Promise<(string | null)[] | null> {
  if (withoutVariables.has(connection)) return null;
  const question = names.map(getvar).join('');
  const parse = (reply: Uint8Array) => parseValues(reply, names.length);
  try {
    const values = await ask(connection, question, valuesArrived(names.length), parse, signal);
    withVariables.add(connection);
    return values;
  } catch (error) {
    withoutVariables.add(connection);
    if (unanswered(error)) return null;
    throw error;
  }
}

function getvar(name: string): string {
  return `! U1 getvar "${name}"\r\n`;
}

async function ask<T>(
  connection: Connection,
  question: string,
  complete: (reply: Uint8Array) => boolean,
  parse: (reply: Uint8Array) => T,
  signal: AbortSignal,
): Promise<T> {
  return parse(await connection.query(Buffer.from(question, 'latin1'), complete, { signal }));
}

/** The answer; undefined if the device said nothing, or nothing that makes sense. Any other failure is thrown on. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (unanswered(error)) return undefined;
    throw error;
  }
}

function unanswered(error: unknown): boolean {
  return (
    error instanceof TransportError &&
    (error.code === 'query-timeout' || error.code === 'reply-invalid' || error.code === 'reply-too-long')
  );
}

/** A serial number that tells printers apart, or null. Boards without a serial number have `000000` and the like. */
function believable(serial: string | null): string | null {
  return serial !== null && !/^(.)\1*$/.test(serial) ? serial : null;
}
