/** Who may be a stranger at the gateway, and who has to go for whom. */
import { expect, test } from 'vitest';
import { UNPROVEN, Unproven } from '../../src/server/gateway/unproven.ts';

/** @returns the numbers of those that had to go, in their order */
function full(networkOf: (n: number) => string) {
  const [strangers, gone] = [new Unproven(), [] as number[]];
  const leave = Array.from({ length: UNPROVEN.most }, (_, n) =>
    strangers.add({ terminate: () => void gone.push(n) }, networkOf(n), n),
  );
  return { strangers, gone, leave };
}

test('one from elsewhere takes the place of the oldest of the network that has most', () => {
  const { strangers, gone } = full((n) => (n < 50 ? 'a' : 'b'));
  for (const network of ['c', 'a']) {
    expect(strangers.hasRoom(network, 300)).toBe(true);
    strangers.add({ terminate: () => undefined }, network, 300);
  }
  expect(gone).toEqual([50, 51]);
});

test('one of the network that has most waits until the oldest of it has had a second', () => {
  const { strangers, gone } = full(() => 'a');
  expect([strangers.hasRoom('a', 300), strangers.hasRoom('a', 999)]).toEqual([false, false]);
  expect(gone).toEqual([]);
  expect([strangers.hasRoom('a', 1_000), gone]).toEqual([true, [0]]);
});

test('who has proved who it is, or has left, makes room', () => {
  const { strangers, gone, leave } = full(() => 'a');
  leave[7]?.();
  leave[7]?.();
  expect([strangers.hasRoom('a', 300), gone]).toEqual([true, []]);
});
