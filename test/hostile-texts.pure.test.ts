/**
 * The longest texts that strangers may send are worked off at once. Linear work takes a fraction of a second here,
 * the square of the length minutes: the deadline between them needs no fast machine.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { TEXTS } from './hostile-texts.ts';

const DEADLINE = 20_000;

test.each(Object.keys(TEXTS))('%s', async (name) => {
  const worker = new Worker(new URL('./hostile-texts.ts', import.meta.url), {
    workerData: name,
    // The rendering of errors for people, and the test runner's own hooks, are of no use there.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 1_024 },
  });
  try {
    const [message] = await once(worker, 'message', { signal: AbortSignal.timeout(DEADLINE) });
    expect(message).toBe('done');
  } finally {
    await worker.terminate();
  }
});
