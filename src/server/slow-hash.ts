/**
 * Hashes secrets with scrypt in the thread pool. Each hash takes 32 MiB and tens of ms of a thread, so only
 * one runs at a time: a flood of wrong passwords takes neither the memory nor the threads that others need.
 */
import { scrypt } from 'node:crypto';

const MAX_MEMORY = 128 * 1024 * 1024;
const HASH_BYTES = 32;
/** Hashes that may wait. */
const MOST_WAITING = 64;

/** Too many hashes are waiting already. */
export class HashingBusy extends Error {
  override readonly name = 'HashingBusy';
}

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** @throws HashingBusy */
export async function slowHash(
  secret: string,
  salt: Buffer,
  cost: { N: number; r: number; p: number },
): Promise<Buffer> {
  if (waiting >= MOST_WAITING) throw new HashingBusy('too many secrets to be hashed at once');
  waiting += 1;
  const turn = last.then(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        scrypt(secret, salt, HASH_BYTES, { ...cost, maxmem: MAX_MEMORY }, (error, key) =>
          error === null ? resolve(key) : reject(error),
        );
      }),
  );
  last = turn.catch(() => undefined);
  try {
    return await turn;
  } finally {
    waiting -= 1;
  }
}
