/**
 * The longest texts that strangers may send are worked off at once. Linear work takes a fraction of a second here,
 * the square of the length minutes: the deadline between them needs no fast machine.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { TEXTS } from './hostile-texts.ts';

const DEADLINE = 20_000;

/** One for all of them, since each takes long to start; after one that failed there is another. */
let worker: Worker | undefined;
afterAll(() => worker?.terminate());

function newWorker(): Worker {
  return new Worker(new URL('./hostile-texts.ts', import.meta.url), {
    // The rendering of errors for people, and the test runner's own hooks, are of no use there.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 1_024 },
  });
}

test.each(Object.keys(TEXTS))('%s', async (name) => {
  worker ??= newWorker();
  try {
    worker.postMessage(name);
    const [done] = await once(worker, 'message', { signal: AbortSignal.timeout(DEADLINE) });
    expect(done).toBe(name);
  } catch (error) {
    await worker.terminate();
    worker = undefined;
    throw error;
  }
});
