/** A minute of faults, for `npm test`; `npm run chaos` makes more of them. */
import { expect, test } from 'vitest';
import { chaos, explain } from './chaos.ts';
import type { Setup } from './site.ts';

export function testMinuteOfFaults(setup: Setup, minutes = 1): void {
  const timeout = (minutes + 9) * 60_000;
  test('no label is lost, doubled, spoiled or stuck under faults', { timeout }, async () => {
    const said: string[] = [];
    const result = await chaos({ minutes, seed: 8, setup, say: (text) => said.push(text) });
    expect(result.violations, `${said.join('\n')}\n${explain(result)}`).toEqual([]);
    expect(result.out).toBeGreaterThan(100);
    expect(result.faults).toBeGreaterThan(5);
    // Null: the clone does not have the history.
    if (result.updated !== null) expect(result.updated).toBeGreaterThan(0);
  });
}
