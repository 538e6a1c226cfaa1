/**
 * The short form of `npm run abuse`: every attack once, at a fifth of its size. It looks for seconds without
 * an answer and for memory without bound, so its limits need no fast machine; the limits of `npm run abuse`
 * are the tight ones.
 */
import { expect, test } from 'vitest';
import { besiege } from './siege.ts';

test('no attack keeps the service from answering, or takes it more memory than it may have', async () => {
  const told: string[] = [];
  const broken = await besiege({
    seconds: 0.5,
    share: 0.2,
    answer: 5_000,
    memory: 600 * 1024 * 1024,
    growth: 600 * 1024 * 1024,
    tell: (line) => told.push(line),
  });
  expect(broken, told.join('\n')).toEqual([]);
  expect(told.length).toBeGreaterThan(20);
}, 300_000);
