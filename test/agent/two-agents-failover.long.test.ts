/**
 * Two agents at one printer that counts, and the Redis that has their lease and their notes dies in the middle of a job, with
 * a replica that Sentinels put in its place: every label is out once, in its order, whoever has the lease by then.
 */
import type { ChildProcess } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { expected, jobFor } from '../kit/agent/site.ts';
import { LONG, ONE, OTHER, SHORT, startWanted, useTwoAgents } from '../kit/agent/two-agents-site.ts';
import { kill } from '../kit/agent/use-site.ts';
import { type BackendCase, onRedis } from '../kit/servers/backends.ts';
import { SentinelSite } from '../kit/servers/redis-fleet.ts';

/**
 * The master dies in the middle of what this agent does, and what it has acknowledged by then has come to its replica. Where it
 * had not, another agent could not know of labels that were sent: docs/deployment.md says so.
 */
async function killMaster(fleet: SentinelSite, agent: ChildProcess): Promise<void> {
  const { admin, program } = await fleet.masterOf();
  agent.kill('SIGSTOP');
  // What the agent had on its way is taken by the first of them at the latest, and comes before the second.
  for (const key of ['first', 'second']) await admin.set(key, '');
  expect(Number(await admin.call('WAIT', 1, 10_000))).toBe(1);
  program.kill('SIGKILL');
}

function onSentinels(): { backend: BackendCase; fleet: SentinelSite } {
  const fleet = new SentinelSite();
  const redis = onRedis();
  const backend = {
    ...redis,
    open: async () => {
      const opened = await redis.open();
      await fleet.start();
      const close = async () => {
        await fleet.stop();
        await opened.close();
      };
      return { ...opened, redisUrl: fleet.url, close };
    },
  };
  return { backend, fleet };
}

describe.each([
  { name: 'the lease outlasts the failover: the same agent goes on', lease: LONG, by: [ONE], dies: false },
  {
    name: 'the lease ends meanwhile: whoever has the next one goes on',
    lease: SHORT,
    by: [ONE, OTHER],
    dies: false,
  },
  {
    name: 'the agent that prints dies with the master: the other goes on',
    lease: SHORT,
    by: [OTHER],
    dies: true,
  },
])('$name', ({ lease, by, dies }) => {
  const { backend, fleet } = onSentinels();
  const two = useTwoAgents(backend);
  const { site } = two;

  test('no label is lost or doubled', async () => {
    const one = await startWanted(two, () => two.startProcess(ONE, lease));
    await two.startOther(lease);
    const jobs = [jobFor(two.printerId, 60), jobFor(two.printerId, 5, 3), jobFor(two.printerId, ['a', 'b'])];
    await site.queues.enqueue(...jobs);
    await two.printer.printed(6);
    await killMaster(fleet, one);
    if (dies) await kill(one);
    else one.kill('SIGCONT');
    const ends = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
    expect(ends.map(({ status }) => status)).toEqual(jobs.map(() => 'printed'));
    for (const { agentId } of ends) expect(by).toContain(agentId);
    expect(two.printer.labels).toEqual(jobs.flatMap(expected));
  });
});
