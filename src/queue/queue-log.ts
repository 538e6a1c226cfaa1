/**
 * Logs the queue's errors, and limits their number: while a server is away, every worker fails at every attempt. The same
 * reason is logged once in 30 s, with the count of repeats that were left out.
 */
import { reasonOf } from './queue-error.ts';

/** The part of a pino logger that is used here. */
export interface QueueLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const QUIET_MS = 30_000;

export class ErrorLogger {
  readonly #logger: QueueLogger;
  readonly #seen = new Map<string, { until: number; suppressed: number }>();

  constructor(logger: QueueLogger) {
    this.#logger = logger;
  }

  /** Reasons that differ only in ports, process IDs or job IDs count as the same. */
  report(message: string, error: unknown, fields: object = {}): void {
    const reason = reasonOf(error);
    const alike = reason.replaceAll(/[0-9a-f-]+/gi, (word) => (/\d/.test(word) ? '#' : word));
    const key = `${message} ${alike}`;
    const now = Date.now();
    const seen = this.#seen.get(key);
    if (seen !== undefined && now < seen.until) {
      seen.suppressed += 1;
      return;
    }
    if (this.#seen.size > 1_000) this.#seen.clear();
    this.#seen.set(key, { until: now + QUIET_MS, suppressed: 0 });
    const suppressed = seen === undefined || seen.suppressed === 0 ? {} : { suppressed: seen.suppressed };
    this.#logger.warn({ ...fields, reason, ...suppressed }, message);
  }
}
