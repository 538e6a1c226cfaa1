/** A request that is sent twice prints once, and a different request is never refused for the key of the first. */
import { expect, test } from 'vitest';
import { Attempts } from '../../web/service/attempts.ts';
import { NoAnswer, Refusal } from '../../web/service/call.ts';
import { newestOf } from '../../web/service/newest.ts';

/** Sends requests one after another; `answers` says what becomes of each. @returns the keys that were sent */
async function keysOf(
  attempts: Attempts,
  requests: readonly unknown[],
  answers: readonly (Error | string)[],
) {
  const keys: string[] = [];
  for (const [at, request] of requests.entries()) {
    const answer = answers[at];
    const sent = attempts.send(request, async (key) => {
      keys.push(key);
      if (answer instanceof Error) throw answer;
      return answer;
    });
    if (answer instanceof Error) await expect(sent).rejects.toBe(answer);
    else expect(await sent).toBe(answer);
  }
  return keys;
}

const lost = new NoAnswer('no answer');

test('the same request after a lost answer has its first key, and another one has a key of its own', async () => {
  const attempts = new Attempts();
  const one = { copies: 1 };
  const [first, changed, again] = await keysOf(attempts, [one, { copies: 2 }, one], [lost, 'b', 'a']);
  expect(changed).not.toBe(first);
  expect(again).toBe(first);
  expect(attempts.doubt.value).toBe(false);
});

test('a request that was queued gets a new key when it is sent once more', async () => {
  const [first, second] = await keysOf(new Attempts(), [{}, {}], ['a', 'b']);
  expect(second).not.toBe(first);
});

test('what may have been queued is told until the same request has its answer; a refusal is none', async () => {
  const attempts = new Attempts();
  const said = async (answer: Error | string) => {
    await keysOf(attempts, [{}], [answer]);
    return attempts.doubt.value;
  };
  expect(await said(new Refusal(400, 'payload-invalid', 'no'))).toBe(false);
  expect(await said(new Refusal(502, 'unknown', 'of a proxy'))).toBe(true);
  expect(await said(new Refusal(401, 'session-missing', 'over'))).toBe(true);
  expect(await said('a')).toBe(false);
});

test('while a request is on its way the same one has its key', async () => {
  const attempts = new Attempts();
  const keys: string[] = [];
  const send = async (key: string) => {
    keys.push(key);
    await Promise.resolve();
  };
  await Promise.all([attempts.send({}, send), attempts.send({}, send)]);
  expect(keys[1]).toBe(keys[0]);
  expect(attempts.doubt.value).toBe(false);
});

test('of two files that are read at once the one that was chosen last counts, whichever is read first', async () => {
  const ends = new Map<string, (failed?: Error) => void>();
  const read = newestOf(
    (name: string) =>
      new Promise<string>((resolve, reject) => {
        ends.set(name, (failed) => (failed === undefined ? resolve(name) : reject(failed)));
      }),
  );
  const files = ['a', 'b', 'c'].map((name) => read(name));
  ends.get('c')?.();
  ends.get('b')?.(new Error('no table'));
  ends.get('a')?.();
  expect(await Promise.all(files)).toEqual([undefined, undefined, 'c']);
});
