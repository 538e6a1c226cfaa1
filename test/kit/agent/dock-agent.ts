/** An agent of another site in this process, at one printer of small labels. */
import { Agent } from '../../../src/agent/agent.ts';
import type { RawAgentConfig } from '../../../src/agent/config.ts';
import type { Enrolment } from '../../../src/cli/enrolment.ts';
import type { AgentQueue } from '../../../src/queue/index.ts';
import { logger, QUICK, testDrivers } from './site.ts';

/** @param queue its lanes, over the gateway */
export async function startDockAgent(
  { name, scope }: Pick<Enrolment, 'name' | 'scope'>,
  queue: AgentQueue,
  printer: { uri: string; name?: string },
  config: RawAgentConfig,
): Promise<Agent> {
  const agent = new Agent({
    config: {
      ...{ name, tenantId: scope, timings: QUICK, ...config },
      printers: [{ name: 'Dock', dpi: 203, width: 50, height: 25, ...printer }],
    },
    ...{ queue, drivers: testDrivers, logger },
  });
  await agent.start();
  return agent;
}
