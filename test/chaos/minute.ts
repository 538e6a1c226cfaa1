/** A minute of faults, for `npm test`; `npm run chaos` makes more of them. */
import { expect, test } from 'vitest';
import { chaos, explain } from './chaos.ts';
import type { Setup } from './site.ts';

export function testMinuteOfFaults(setup: Setup): void {
  test('no label is lost, doubled, spoiled or stuck under faults', { timeout: 600_000 }, async () => {
    const said: string[] = [];
    const result = await chaos({ minutes: 1, seed: 8, setup, say: (text) => said.push(text) });
    expect(result.violations, `${said.join('\n')}\n${explain(result)}`).toEqual([]);
    expect(result.out).toBeGreaterThan(100);
    expect(result.faults).toBeGreaterThan(5);
  });
}
