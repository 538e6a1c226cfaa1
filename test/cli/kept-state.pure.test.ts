/** What an agent at another site keeps of its service, where it takes longer to forget its jobs than a connection waits. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keptState } from '../../src/cli/enrolment.ts';
import { Directories } from '../kit/agent/site.ts';

const directories = new Directories();
afterAll(() => directories.remove());

test('an agent that is welcomed again while it forgets its jobs forgets them once, and keeps what it was given last', async () => {
  const dataDir = directories.make();
  const forgotten = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const kept = await keptState(dataDir, async () => {
    begun += 1;
    await forgotten[begun - 1]?.promise;
  });
  const both = [kept.keep('first', true), kept.keep('second', true)];
  expect(begun).toBe(1);
  // What is only one of them would be done long before the other one.
  forgotten[1]?.resolve();
  forgotten[0]?.resolve();
  await Promise.all(both);
  expect(begun).toBe(1);
  expect(kept.state).toBe('second');
  expect(await readFile(join(dataDir, 'gateway-state'), 'utf8')).toBe('second');
  // Another time it has to forget anew.
  await kept.keep('third', true);
  expect([begun, kept.state]).toEqual([2, 'third']);
});

test('a state that could not be kept stands in the way of no other', async () => {
  const dataDir = directories.make();
  let fails = true;
  const kept = await keptState(dataDir, async () => {
    if (fails) throw new Error('the data directory is in use');
  });
  await expect(kept.keep('first', true)).rejects.toThrow('in use');
  fails = false;
  await kept.keep('second', true);
  expect(kept.state).toBe('second');
});
