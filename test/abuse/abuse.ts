/**
 * `npm run abuse [-- --seconds 10 --share 1 --answer 100 --patience 5000 --memory 800 --growth 300 --place redis --only words
 * --rounds 1]`: sends hostile requests in large numbers to a real `platen up`. If anything broke, it says what and exits with 1.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { besiege, PLACES } from './siege.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    share: { type: 'string', default: '1' },
    answer: { type: 'string', default: '100' },
    // What an honest caller waits for is more than `/healthz`: a body that finds room, a check among those of the attacker.
    patience: { type: 'string', default: '5000' },
    memory: { type: 'string', default: '800' },
    growth: { type: 'string', default: '300' },
    place: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '1' },
  },
});
const { seconds, share, answer, patience, memory, growth, place, only, rounds } = z
  .object({
    seconds: z.coerce.number().min(0.1).max(3_600),
    share: z.coerce.number().min(0.01).max(1),
    answer: z.coerce.number().positive(),
    patience: z.coerce.number().positive(),
    memory: z.coerce.number().positive(),
    growth: z.coerce.number().positive(),
    place: z.enum(PLACES).optional(),
    only: z.string().optional(),
    rounds: z.coerce.number().int().min(1).max(10_000),
  })
  .parse(values);

const broken = await besiege({
  seconds,
  share,
  answer,
  patience,
  memory: memory * 1024 * 1024,
  growth: growth * 1024 * 1024,
  rounds,
  // SNMP's port is root's.
  alone: process.getuid?.() === 0,
  ...(place !== undefined && { place }),
  ...(only !== undefined && { only }),
  tell: (line) => console.log(line),
});
console.log(broken.length === 0 ? 'Nothing broke.' : `Broke:\n  ${broken.join('\n  ')}`);
process.exitCode = broken.length === 0 ? 0 : 1;
