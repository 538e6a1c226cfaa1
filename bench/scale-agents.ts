/**
 * Agents in a process of their own, for `scale.ts`: real agents, each with a connection of its own; several share a process
 * to save memory. Printers that are made here answer like a Zebra and print nothing. Writes `ready` once each agent has reported
 * to the queue that all its printers are there.
 */
import { once } from 'node:events';
import { pino } from 'pino';
import { Agent } from '../src/agent/agent.ts';
import { agentConfig } from '../src/agent/config.ts';
import { keptState, readEnrolment } from '../src/cli/enrolment.ts';
import { type AgentQueue, openGateway, openQueues } from '../src/queue/index.ts';
import { ownQueue } from '../test/kit/agent/own-queue.ts';
import { dataDirOf, scaleAgents } from './agents-apart.ts';
import { LabelSink } from './label-sink.ts';

const { directory, lanes, first, agents, printers } = scaleAgents.parse(JSON.parse(process.argv[2] ?? '{}'));
const logger = pino({ level: 'error' });
await using stack = new AsyncDisposableStack();
const addresses: string[] = [];
for (let at = 0; at < agents; at += 1) {
  const own = typeof printers === 'number' ? await made(first + at, printers) : (printers[at] ?? []);
  addresses.push(...own);
  if (lanes !== null) await startAgent(first + at, own, lanes);
}
process.stdout.write(lanes === null ? `${JSON.stringify(addresses)}\n` : 'ready\n');
await once(process, 'SIGTERM');

async function made(agent: number, count: number): Promise<string[]> {
  const own: string[] = [];
  for (let printer = 0; printer < count; printer += 1) {
    const sink = new LabelSink(`SC${String(agent).padStart(4, '0')}${String(printer).padStart(4, '0')}`);
    own.push(await sink.start());
    stack.defer(() => sink.stop());
  }
  return own;
}

/** Starts an agent; resolves once it has reported all its printers. */
async function startAgent(
  number: number,
  uris: readonly string[],
  at: { redisUrl: string } | 'enrolled',
): Promise<void> {
  const dataDir = dataDirOf(directory, number);
  const started = Promise.withResolvers<Agent>();
  const { queues, id } =
    at === 'enrolled'
      ? await atService(dataDir, started.promise)
      : { queues: await openQueues({ ...at, logger }), id: `agent-scale-${String(number).padStart(4, '0')}` };
  stack.defer(() => queues.close({ timeoutMs: 0 }));
  const queue = ownQueue(queues);
  const told = Promise.withResolvers<void>();
  const agent = new Agent({
    config: agentConfig.parse({ id, dataDir, printers: uris.map((uri) => ({ uri })) }),
    queue: {
      ...queue,
      publish: async (report, scope) => {
        const published = await queue.publish(report, scope);
        const there =
          report.kind === 'agent'
            ? report.printers.filter(({ reasons }) => !reasons.includes('offline'))
            : [];
        if (there.length === uris.length) told.resolve();
        return published;
      },
    },
    logger,
  });
  await agent.start();
  started.resolve(agent);
  stack.defer(() => agent.stop({ graceMs: 0 }));
  await told.promise;
}

async function atService(
  dataDir: string,
  agent: Promise<Agent>,
): Promise<{ queues: AgentQueue; id: string }> {
  const enrolment = await readEnrolment(dataDir);
  if (enrolment === undefined) throw new Error(`${dataDir}: it has not enrolled`);
  const kept = await keptState(dataDir, async () => (await agent).forgetJobs());
  return {
    queues: await openGateway({ agent: { ...enrolment, version: '0', kept }, logger }),
    id: enrolment.agentId,
  };
}
