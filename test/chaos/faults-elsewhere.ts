/** The faults of agents at other sites, of their lines, and of the instances that they join. */
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentElsewhere } from './agent-elsewhere.ts';
import type { Fault } from './fault-plan.ts';
import { KINDS, type Strike, WAYS } from './line.ts';
import type { PlatenProcess } from './platen-process.ts';
import type { Random } from './random.ts';

const none = async (): Promise<void> => {};
/** How long a frame is waited for at which something happens, ms. */
const ARMED_MS = 8_000;
/** In s. */
const HOUR = 3_600;

export function faultsElsewhere(
  agent: AgentElsewhere,
  services: readonly PlatenProcess[],
  random: Random,
): Fault[] {
  const { line, name } = agent;
  const struckAtFrame = (what: string, weight: number, how: () => Strike['how']): Fault => ({
    ...{ name: `${name}: ${what}`, weight },
    begin: async () => {
      const way = random.pick(WAYS);
      line.strikeAt({ way, kind: random.pick(KINDS[way]), how: how() });
      const over = AbortSignal.timeout(ARMED_MS);
      while (!over.aborted && line.strikesLater) await pause(20);
      line.strikeAt(undefined);
      return none;
    },
  });
  return [
    {
      name: `${name}: its line is cut`,
      weight: 2,
      begin: async () => {
        line.cut(true);
        await pause(random.between(0, 12_000));
        return async () => line.cut(false);
      },
    },
    struckAtFrame('its line is cut at a frame', 6, () => random.pick(['before', 'after'])),
    struckAtFrame('a frame is lost', 3, () => 'lost'),
    {
      name: `${name}: its line is silent one way`,
      weight: 2,
      begin: async () => {
        const way = random.pick(WAYS);
        line.silent[way] = true;
        await pause(random.between(500, 20_000));
        return async () => {
          line.silent[way] = false;
          line.flush();
        };
      },
    },
    {
      name: `${name}: its line is slow`,
      weight: 1,
      begin: async () => {
        line.slow = true;
        await pause(random.between(2_000, 15_000));
        return async () => {
          line.slow = false;
        };
      },
    },
    {
      name: `${name}: frames come twice, late, and not at all`,
      weight: 2,
      begin: async () => {
        line.troubled = { twice: 20, late: 10, lost: 3, most: random.pick([20, 500, 3_000]) };
        await pause(random.between(2_000, 10_000));
        return async () => {
          line.troubled = undefined;
        };
      },
    },
    {
      name: `${name}: frames of an earlier connection`,
      weight: 2,
      begin: async () => {
        for (let times = 0; times < 5; times++) {
          line.sayAgain((all) => random.pick(all));
          await pause(100);
        }
        return none;
      },
    },
    {
      name: `${name}: runs on a copy of its directory, too`,
      weight: 1,
      begin: async () => {
        agent.startCopy();
        await pause(random.between(1_000, 12_000));
        return () => agent.stopCopy();
      },
    },
    {
      name: `${name}: its directory is rolled back`,
      weight: 1,
      begin: async () => {
        await agent.rollBack();
        return none;
      },
    },
    {
      name: `${name}: revoked, and let in again`,
      weight: 1,
      begin: async () => {
        await agent.revoke(random.between(500, 6_000));
        return none;
      },
    },
    {
      name: `${name}: its clock is an hour wrong`,
      weight: 2,
      begin: async () => {
        agent.clock.set(random.pick([-HOUR, HOUR]));
        await pause(random.between(1_000, 15_000));
        return async () => agent.clock.set(0);
      },
    },
    ...(['SIGKILL', 'SIGTERM'] as const).map((signal) => ({
      name: `${signal} of both instances`,
      weight: 0.5,
      begin: async () => {
        await Promise.all(
          services.map((service) => (signal === 'SIGKILL' ? service.kill() : service.stop())),
        );
        await pause(random.between(0, 5_000));
        return async () => {
          for (const service of services) service.launch();
        };
      },
    })),
  ];
}
