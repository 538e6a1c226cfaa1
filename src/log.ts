/**
 * Structured logs: one line per event, with the IDs of job, printer and tenant, never with a label's contents.
 *
 * Redaction is the second line of defence (the first is not to log such things at all): whatever object is
 * logged, the values under the names below come out as `[redacted]`.
 */
import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import { withoutCredentials } from './words/without-credentials.ts';

export type { Logger } from 'pino';

const SECRET_NAMES = new Set([
  'authorization',
  'apiSecret',
  'printNodeKey',
  'clientSecret',
  'client_secret',
  'accessToken',
  'access_token',
  'adminToken',
  'password',
  'cookie',
  // Label contents.
  'data',
  'content',
  'records',
  'record',
  'values',
]);
/** Levels of an object that are looked at. */
const DEPTH = 3;
const MASK = '[redacted]';
const MASKED = Object.fromEntries([...SECRET_NAMES].map((name) => [name, () => MASK]));

/** The peer is away: our stack says nothing about that, and the error is logged again and again. */
const NOBODY_THERE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  // Of ours: `TransportError`, `QueueError`.
  'device-unreachable',
  'connect-timeout',
  'connection-lost',
  'query-timeout',
  'write-timeout',
  'unavailable',
]);

function errorForLog(error: Error): object {
  const plain = stdSerializers.err(error);
  const code = 'code' in error ? error.code : undefined;
  return {
    type: plain.type,
    message: withoutCredentials(plain.message),
    ...(!NOBODY_THERE.has(String(code)) && { stack: withoutCredentials(plain.stack) }),
    ...(code !== undefined && { code }),
  };
}

/**
 * Masks the values of secret names in a copy of the object; returns the object itself if it has none. pino's
 * own redaction looks up each name in each place, which takes twenty times as long for every line.
 */
function redacted(object: object, depth = DEPTH): object {
  let changed: object | undefined;
  for (const [name, value] of Object.entries(object)) {
    // An error's serializer decides what the log shows of it.
    const within = depth > 1 && typeof value === 'object' && value !== null && !(value instanceof Error);
    const left = within ? redacted(value, depth - 1) : value;
    const shown = SECRET_NAMES.has(name) ? MASK : left;
    if (shown === value) continue;
    changed ??= Array.isArray(object) ? [...object] : { ...object };
    Reflect.set(changed, name, shown);
  }
  return changed ?? object;
}

/** Most characters of lines that are kept for one write. */
const KEPT = 64 * 1024;

/**
 * Writes the lines of one turn of the event loop at once: each write wakes the reader of the lines, which
 * under load costs more than the lines. A death without an `exit` event (SIGKILL) loses the lines of that
 * turn.
 */
class LinesOfTick implements DestinationStream {
  readonly #to = pino.destination({ dest: 2, sync: true });
  #lines = '';

  constructor() {
    // A full disk behind it loses lines, and does not end the process.
    this.#to.on('error', () => undefined);
    process.on('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.#lines === '') setImmediate(() => this.flushSync());
    this.#lines += line;
    if (this.#lines.length > KEPT) this.flushSync();
  }

  /** pino calls it after a line of level fatal. */
  flushSync(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#to.write(lines);
  }
}

/** One for all loggers of the process, whose lines stay in order. */
let linesOfTick: LinesOfTick | undefined;
let elsewhere: DestinationStream | undefined;

/** From now on loggers of this process write there: a service on Windows has no stderr. */
export function logInto(destination: DestinationStream): void {
  elsewhere = destination;
}

function stderrLines(): DestinationStream {
  if (process.stderr.isTTY) {
    return pretty({ destination: 2, colorize: true, ignore: 'pid,hostname', sync: true });
  }
  linesOfTick ??= new LinesOfTick();
  return linesOfTick;
}

/**
 * The process's logger. JSON lines on stderr, or a readable form when stderr is a terminal; stdout stays free
 * for a command's own output.
 */
export function createLogger(options: { level?: string; destination?: DestinationStream } = {}): Logger {
  const destination = options.destination ?? elsewhere ?? stderrLines();
  // A full disk behind it, or a terminal that is gone, loses lines, and does not end the process.
  if ('on' in destination && typeof destination.on === 'function') destination.on('error', () => undefined);
  return pino(
    {
      level: options.level ?? process.env['LOG_LEVEL'] ?? 'info',
      timestamp: stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      // These also mask what a part of the program always logs (`child`), which the formatter does not see.
      serializers: { ...MASKED, err: errorForLog, error: errorForLog },
      formatters: { log: (object) => ({ ...redacted(object) }) },
    },
    destination,
  );
}
