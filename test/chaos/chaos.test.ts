/** A minute of faults on each set-up; `npm run chaos` makes more of them. */
import { expect, test } from 'vitest';
import { chaos, explain } from './chaos.ts';
import { SETUPS } from './site.ts';

test.each(SETUPS)(
  'no label is lost, doubled, spoiled or stuck under faults (%s)',
  async (setup) => {
    const said: string[] = [];
    const result = await chaos({ minutes: 1, seed: 8, setup, say: (text) => said.push(text) });
    expect(result.violations, `${said.join('\n')}\n${explain(result)}`).toEqual([]);
    expect(result.out).toBeGreaterThan(100);
    expect(result.faults).toBeGreaterThan(5);
  },
  600_000,
);
