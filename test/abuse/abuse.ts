/**
 * `npm run abuse [-- --seconds 10 --share 1 --answer 100 --memory 800 --growth 300 --only words --rounds 1]`: sends hostile requests
 * in large numbers to a real `platen up`. If anything broke, it says what and exits with 1.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { besiege } from './siege.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    share: { type: 'string', default: '1' },
    answer: { type: 'string', default: '100' },
    memory: { type: 'string', default: '800' },
    growth: { type: 'string', default: '300' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '1' },
  },
});
const { seconds, share, answer, memory, growth, only, rounds } = z
  .object({
    seconds: z.coerce.number().min(0.1).max(3_600),
    share: z.coerce.number().min(0.01).max(1),
    answer: z.coerce.number().positive(),
    memory: z.coerce.number().positive(),
    growth: z.coerce.number().positive(),
    only: z.string().optional(),
    rounds: z.coerce.number().int().min(1).max(10_000),
  })
  .parse(values);

const broken = await besiege({
  seconds,
  share,
  answer,
  // What an honest caller waits for is more than `/healthz`: a body that finds room, a check among those of the attacker.
  patience: 5_000,
  memory: memory * 1024 * 1024,
  growth: growth * 1024 * 1024,
  rounds,
  // SNMP's port is root's.
  alone: process.getuid?.() === 0,
  ...(only === undefined ? {} : { only }),
  tell: (line) => console.log(line),
});
console.log(broken.length === 0 ? 'Nothing broke.' : `Broke:\n  ${broken.join('\n  ')}`);
process.exitCode = broken.length === 0 ? 0 : 1;
