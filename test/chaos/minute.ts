/** A minute of faults, for `npm test`; `npm run chaos` makes more of them. */
import { expect, test } from 'vitest';
import { type ChaosResult, chaos, explain } from './chaos.ts';
import type { Setup } from './site.ts';

export function testMinuteOfFaults(setup: Setup, minutes = 1): void {
  const timeout = (minutes + 9) * 60_000;
  test('no label is lost, doubled, spoiled or stuck under faults', { timeout }, async () => {
    const said: string[] = [];
    // Updated is null where the clone does not have the history.
    const enough = ({ out, faults, updated }: ChaosResult) => out > 100 && faults > 5 && updated !== 0;
    const result = await chaos({ minutes, seed: 8, setup, enough, say: (text) => said.push(text) });
    expect(result.violations, `${said.join('\n')}\n${explain(result)}`).toEqual([]);
  });
}
