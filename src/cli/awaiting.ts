/**
 * Waits for servers that are not there yet: after a power cut machines come up in any order, so a program
 * waits for its database and its queue, logs that, and goes on when they answer. A refusal (a wrong password,
 * a database that does not exist) is an error at once, because waiting does not help.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import {
  isConnectionError,
  openQueues,
  QueueError,
  type Queues,
  type QueuesOptions,
} from '../queue/index.ts';
import { explain } from './explain.ts';

/** Time without an answer before the first log line, and the time between two such lines, ms. */
const SILENT_MS = 1_500;
const SAY_AGAIN_MS = 30_000;
/** Between two attempts, ms. */
const RETRY_MS = 500;

/**
 * Repeats `attempt` until the server is there, and returns its result.
 * @param server as in `serverAt`
 * @throws whatever the server refuses with; when the signal is aborted
 */
export async function awaited<T>(
  server: string,
  attempt: () => Promise<T>,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<T> {
  let said = Number.NEGATIVE_INFINITY;
  const say = (reason: string) => {
    if (Date.now() - said < SAY_AGAIN_MS) return;
    said = Date.now();
    logger.warn({ server, reason }, `waiting for ${server}`);
  };
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const abort = () => aborted.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      const silent = setInterval(() => say('no answer yet'), SILENT_MS);
      try {
        const result = await Promise.race([attempt(), aborted.promise]);
        if (said > 0) logger.info({ server }, `${server} is there`);
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (!isAway(error)) throw error;
        say(explain(error));
      } finally {
        clearInterval(silent);
      }
      await pause(RETRY_MS, undefined, { signal });
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The queues, once their server is there. @throws as `awaited` */
export async function awaitedQueues(
  options: QueuesOptions & { redisUrl: string | undefined; databaseUrl: string | undefined },
  running: { logger: Logger; signal: AbortSignal },
): Promise<Queues> {
  const { redisUrl, databaseUrl } = options;
  const server = redisUrl === undefined ? serverAt('PostgreSQL', databaseUrl) : serverAt('Redis', redisUrl);
  // Within one attempt Redis is tried again and again, and its errors are logged once.
  const startTimeoutMs = redisUrl === undefined ? RETRY_MS : SAY_AGAIN_MS;
  return await awaited(server, () => openQueues({ ...options, ...running, startTimeoutMs }), running);
}

/** A server's name for people: `PostgreSQL at db:5432`, without the rest of its address. */
export function serverAt(kind: 'PostgreSQL' | 'Redis', address: string | undefined): string {
  const { hostname = '', port = '' } = URL.parse(address ?? '') ?? {};
  const usual = kind === 'Redis' ? '6379' : '5432';
  return hostname === '' ? kind : `${kind} at ${hostname}:${port || usual}`;
}

function isAway(error: unknown): boolean {
  if (error instanceof QueueError) return error.code === 'unavailable';
  return (
    isConnectionError(error) || (error instanceof Error && error.cause !== undefined && isAway(error.cause))
  );
}
