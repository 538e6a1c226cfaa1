import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { orAborted } from '../../drivers/transports/pauses.ts';

test.each(['before', 'meanwhile'])('what fails after it was given up (%s) ends no process', async (when) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const given = new AbortController();
  const late = Promise.withResolvers<never>();
  if (when === 'before') given.abort(new Error('given up'));
  const waiting = orAborted(late.promise, given.signal);
  if (when === 'meanwhile') given.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  late.reject(new Error('too late'));
  await setImmediate();
  await setImmediate();
  expect(unhandled).toEqual([]);
});
