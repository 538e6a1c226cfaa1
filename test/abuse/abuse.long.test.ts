/**
 * The short form of `npm run abuse`: every attack once, at a fifth of its size. It looks at what is answered, for answers that
 * do not come at all, and for memory without bound. How long answers take is for `npm run abuse` on a machine that does
 * nothing else.
 */
import { expect, test } from 'vitest';
import { besiege } from './siege.ts';

const says =
  'every attack is answered as it should be, and none takes the service more memory than it may have';

test.each(['redis', 'gateway'] as const)(
  `%s: ${says}`,
  async (place) => {
    const told: string[] = [];
    const broken = await besiege({
      place,
      seconds: 0.5,
      share: 0.2,
      answer: Infinity,
      patience: Infinity,
      memory: 800 * 1024 * 1024,
      growth: 600 * 1024 * 1024,
      tell: (line) => told.push(line),
    });
    expect(broken, told.join('\n')).toEqual([]);
    expect(told.length).toBeGreaterThan(place === 'redis' ? 20 : 8);
  },
  600_000,
);
