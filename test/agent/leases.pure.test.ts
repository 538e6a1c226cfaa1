/** When an agent asks for its leases. The clocks are set by the test, and whoever answers is a stand-in: it must be away at chosen moments. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Leases } from '../../src/agent/lease/leases.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { logger } from '../kit/agent/site.ts';

const LEASE = 300_000;
const LANE = laneOf({ scope: null, printerId: 'serial-0a1b2c3d4e5f' });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('what could not be asked while the service was away is asked as soon as it is reached, and nothing else', async () => {
  let [asked, away] = [0, true];
  const leases = new Leases({
    queue: {
      async askLeases(_agent, asks) {
        asked += 1;
        if (away) throw new Error('away');
        return asks.map(({ lane }) => ({
          ...{ lane, granted: LEASE, wanted: false, canceled: [], held: false },
        }));
      },
      async giveLeaseBack() {},
    },
    ...{ agentId: 'agent-far-away', leaseMs: LEASE, logger },
  });
  leases.start();
  const lease = leases.of({
    ...{ lane: LANE, reached: () => true, busy: () => true, onServedElsewhere: () => undefined },
  });
  const granted = lease.next(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toBe(1);

  away = false;
  leases.reached();
  const term = await granted;
  expect(asked).toBe(2);
  leases.reached();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toBe(2);

  // A cut, while it has the lease.
  away = true;
  await vi.advanceTimersByTimeAsync(LEASE / 4);
  expect(asked).toBe(3);
  away = false;
  leases.reached();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toBe(4);
  expect(term?.ending.aborted).toBe(false);
  await leases.stop();
});
