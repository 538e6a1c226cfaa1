/** Waits that end in bounded time. What is waited for goes on: a command is not undone. */
import { QueueError } from './queue-error.ts';

/** Whether the promise resolves within `ms`. @throws what it rejects with in that time */
export async function isWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What the promise resolves with.
 * @param what names what was waited for, in the error
 * @throws QueueError `unavailable` after `ms`; what the promise rejects with in that time
 */
export async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  if (await isWithin(promise, ms)) return await promise;
  throw new QueueError('unavailable', `${what}: no answer within ${ms} ms`);
}
