/**
 * The short form of `npm run abuse`: every attack once, at a fifth of its size. It looks at what is answered, for answers that
 * do not come at all, and for memory without bound. How long answers take is for `npm run abuse` on a machine that does
 * nothing else.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { networksCanBeMade, openNetwork } from '../kit/programs/network.ts';
import { Programs } from '../kit/programs/programs.ts';
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
  1_200_000,
);

test.skipIf(!networksCanBeMade)(
  'so is it with what everybody on a network hears, in a network of its own, which only root may make',
  async () => {
    const network = openNetwork();
    const programs = new Programs();
    onTestFinished(async () => {
      await programs.end();
      network.close();
    });
    const place = '--place redis --only'.split(' ');
    const short = '--seconds 0.5 --share 0.2 --answer 1e9 --patience 1e9 --growth 600'.split(' ');
    const args = [join(import.meta.dirname, 'abuse.ts'), ...short, ...place, 'without end'];
    const siege = programs.start(process.execPath, args, { within: network.within });
    expect(await siege.exited(900_000), siege.said()).toBe(0);
    expect(siege.said().match(/^held .*(multicast DNS|SNMP)/gm)).toHaveLength(3);
  },
  1_200_000,
);
