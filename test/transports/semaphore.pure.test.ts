import { stat } from 'node:fs/promises';
import koffi from 'koffi';
import { expect, test } from 'vitest';
import { Semaphore } from '../../drivers/transports/document/semaphore.ts';

/** Calls that a test ends. */
function calls() {
  const running: PromiseWithResolvers<number>[] = [];
  const call = () => {
    const one = Promise.withResolvers<number>();
    running.push(one);
    return one.promise;
  };
  return { running, call };
}

test('so many run, the others wait in order, and one that fails gives its turn on', async () => {
  const { running, call } = calls();
  const semaphore = new Semaphore(2, 2);
  const results = [1, 2, 3, 4].map(() => semaphore.run(call));
  expect([running.length, semaphore.full]).toEqual([2, true]);
  running[1]?.resolve(1);
  expect(await results[1]).toBe(1);
  expect([running.length, semaphore.full]).toEqual([3, false]);
  running[0]?.reject(new Error('hung up'));
  await expect(results[0]).rejects.toThrow('hung up');
  expect(running).toHaveLength(4);
  running[3]?.resolve(3);
  running[2]?.resolve(2);
  expect(await Promise.all(results.slice(2))).toEqual([2, 3]);
  const after = [semaphore.run(call), semaphore.run(call)];
  expect(running).toHaveLength(6);
  for (const one of running.slice(4)) one.resolve(0);
  expect(await Promise.all(after)).toEqual([0, 0]);
});

test.runIf(process.platform === 'linux')('files are read while calls hang in a library', async () => {
  const poll = koffi.load('libc.so.6').func('int poll(void *fds, unsigned long count, int ms)');
  const semaphore = new Semaphore(3, 100);
  let returned = 0;
  const hanging = Array.from({ length: 4 }, () =>
    semaphore.run(
      () =>
        new Promise<void>((resolve) => {
          poll.async(null, 0, 1_000, () => {
            returned += 1;
            resolve();
          });
        }),
    ),
  );
  await stat('/');
  // None of them had to end for that.
  expect(returned).toBe(0);
  await Promise.all(hanging);
});
