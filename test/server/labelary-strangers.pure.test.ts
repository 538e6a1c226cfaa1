/** How many requests of Labelary's interface are taken, of whom. */
import Fastify from 'fastify';
import pino from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CheckPool } from '../../src/rendering/check-pool.ts';
import { labelaryRoutes } from '../../src/server/labelary/routes.ts';
import { Strangers } from '../../src/server/labelary/strangers.ts';

const status = (error: unknown) => (error instanceof Error ? Reflect.get(error, 'status') : undefined);
const statusOf = async (asked: Promise<void>) => asked.then(() => 200, status);

afterEach(() => {
  vi.useRealTimers();
});

describe('in a second', () => {
  test('ten of one network, and as many of another', async () => {
    vi.useFakeTimers();
    const strangers = new Strangers(undefined);
    const asked = [];
    for (let at = 0; at < 12; at += 1) asked.push(await statusOf(strangers.count('192.0.2.1', undefined)));
    expect(asked).toEqual([...Array(10).fill(200), 429, 429]);
    expect(await statusOf(strangers.count('192.0.2.2', undefined))).toBe(200);
    vi.advanceTimersByTime(1_001);
    expect(await statusOf(strangers.count('192.0.2.1', undefined))).toBe(200);
  });

  test('guesses of a key count, too', async () => {
    vi.useFakeTimers();
    const strangers = new Strangers('a-key-of-24-characters-or-more');
    const asked = [];
    for (let at = 0; at < 11; at += 1)
      asked.push(await statusOf(strangers.count('192.0.2.1', `guess ${at}`)));
    expect(asked).toEqual([...Array(10).fill(401), 429]);
  });
});

test('in hand: four of one network, sixteen of all', () => {
  const strangers = new Strangers(undefined);
  const ends: (() => void)[] = [];
  const begin = (network: string) => {
    try {
      ends.push(strangers.begin(network));
      return 200;
    } catch (error) {
      return status(error);
    }
  };
  expect([1, 2, 3, 4, 5].map(() => begin('a'))).toEqual([200, 200, 200, 200, 429]);
  ends.shift()?.();
  expect([begin('a'), begin('a')]).toEqual([200, 429]);
  expect([...'bbbbccccdddd'].map(begin)).toEqual(Array(12).fill(200));
  expect(begin('e')).toBe(503);
  // What was refused holds no place.
  ends.shift()?.();
  expect([begin('e'), begin('e')]).toEqual([200, 503]);
});

test('a key is asked for before the body is read', async () => {
  const app = Fastify();
  const checks = new CheckPool({ threads: 2, logger: pino({ level: 'silent' }) });
  const key = 'a-key-of-24-characters-or-more';
  await app.register(labelaryRoutes, { checks, config: { on: true, key } });
  const ask = (sent: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: '/labelary/v1/printers/9dpmm/labels/4x6/0/',
      headers: { 'content-type': 'text/plain', ...sent },
      payload: 'x'.repeat(2 * 1024 * 1024),
    });
  const answers = [];
  for (const sent of [{}, { 'x-api-key': `${key}0` }, { 'x-api-key': key }]) answers.push(await ask(sent));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 413]);
  expect(answers[0]?.payload).toBe('ERROR: the header X-API-Key is missing or wrong');
  await app.close();
  await checks.stop();
});
