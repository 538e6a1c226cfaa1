/**
 * Structured logs: one line per event, with the IDs of job, printer and tenant, never with a label's contents.
 *
 * Redaction is the second line of defence (the first is not to log such things at all): whatever object is
 * logged, the values under the names below come out as `[redacted]`.
 */
import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import { withoutCredentials } from './contract/without-credentials.ts';

export type { Logger } from 'pino';

const SECRET_NAMES = new Set([
  'authorization',
  'apiSecret',
  'clientSecret',
  'client_secret',
  'accessToken',
  'access_token',
  'adminToken',
  'password',
  'cookie',
  // Label contents.
  'data',
  'records',
  'record',
  'values',
]);
/** Levels of an object that are looked at. */
const DEPTH = 3;
const MASK = '[redacted]';
const MASKED = Object.fromEntries([...SECRET_NAMES].map((name) => [name, () => MASK]));

/** Somebody else is not there: where in our code that was found out says nothing, and it is logged again and again. */
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
 * The same object without what stands under those names; it itself, where there is nothing of the kind. pino's own redaction looks
 * each of the names up in each place, in twenty times the time, for every line.
 */
function redacted(object: object, depth = DEPTH): object {
  let changed: object | undefined;
  for (const [name, value] of Object.entries(object)) {
    // What an error shows, its serializer says.
    const within = depth > 1 && typeof value === 'object' && value !== null && !(value instanceof Error);
    const left = within ? redacted(value, depth - 1) : value;
    const shown = SECRET_NAMES.has(name) ? MASK : left;
    if (shown === value) continue;
    changed ??= Array.isArray(object) ? [...object] : { ...object };
    Reflect.set(changed, name, shown);
  }
  return changed ?? object;
}

/** Lines that are kept for one write, at most, in characters. */
const KEPT = 64 * 1024;

/**
 * The lines of one turn of the event loop go out in one write: each write wakes who reads them, which under load costs more than the
 * lines. What the program does not come back from (SIGKILL) costs the lines of that turn.
 */
class LinesOfTurn implements DestinationStream {
  readonly #to = pino.destination({ dest: 2, sync: true });
  #lines = '';

  constructor() {
    // A full disk behind it costs the lines and not the process.
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
let linesOfTurn: LinesOfTurn | undefined;
let elsewhere: DestinationStream | undefined;

/** From now on loggers of this process write there: a service on Windows has no stderr. */
export function logInto(destination: DestinationStream): void {
  elsewhere = destination;
}

function stderrLines(): DestinationStream {
  if (process.stderr.isTTY) {
    return pretty({ destination: 2, colorize: true, ignore: 'pid,hostname', sync: true });
  }
  linesOfTurn ??= new LinesOfTurn();
  return linesOfTurn;
}

/**
 * The process's logger. JSON lines on stderr, or a readable form when stderr is a terminal; stdout stays free
 * for a command's own output.
 */
export function createLogger(options: { level?: string; destination?: DestinationStream } = {}): Logger {
  const destination = options.destination ?? elsewhere ?? stderrLines();
  // A full disk behind it, or a terminal that is gone, costs the lines and not the process.
  if ('on' in destination && typeof destination.on === 'function') destination.on('error', () => undefined);
  return pino(
    {
      level: options.level ?? process.env['LOG_LEVEL'] ?? 'info',
      timestamp: stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      // Also of what a part of the program always logs (`child`), which the formatter does not see.
      serializers: { ...MASKED, err: errorForLog, error: errorForLog },
      formatters: { log: (object) => ({ ...redacted(object) }) },
    },
    destination,
  );
}
