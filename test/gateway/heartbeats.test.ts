/** Agents that say again that nothing has changed: what many say goes in one commit. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useGateway } from '../kit/queue/use-gateway.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const rows = z.array(z.object({ id: z.string(), commit: z.string() }));
const used = useGateway();
const open = useRawAgents();

test('the state of agents in which nothing has changed is published together, any other at once', async () => {
  const ids = Array.from({ length: 6 }, (_, at) => `agent-number-${at}`);
  const agents = await Promise.all(
    ids.map(async (id) => {
      const agent = await RawAgent.join(await used.gateway.enroll(id, null));
      open.push(agent);
      await agent.next('welcome');
      return { id, agent };
    }),
  );
  /** What was reported since the last time, and in which commit. Nobody takes the reports here. */
  const published = async () => {
    const sql = `WITH gone AS (DELETE FROM lanes.report RETURNING xmin::text AS commit, json::json->>'agentId' AS id)
      SELECT * FROM gone`;
    return rows.parse((await used.gateway.database.query(sql)).rows);
  };
  const say = async (version: (at: number) => string) => {
    await Promise.all(
      agents.map(async ({ id, agent }, at) => {
        const report = {
          ...{ kind: 'agent', agentId: id, name: id, version: version(at), tenantId: null, online: true },
          ...{ at: new Date().toISOString(), printers: [] },
        };
        agent.say({ kind: 'say', entries: [{ i: 1, what: 'told', report: JSON.stringify(report) }] });
        expect(await agent.next('answers')).toMatchObject({ answers: [{ ok: true }] });
      }),
    );
    return await published();
  };
  expect(await say(() => '1')).toHaveLength(ids.length);
  const same = await say(() => '1');
  expect(same.map(({ id }) => id).sort()).toEqual(ids);
  expect(new Set(same.map(({ commit }) => commit)).size).toBe(1);
  // One is another version now.
  const [changed, ...others] = (await say((at) => (at === 0 ? '2' : '1'))).toSorted((a, b) =>
    a.id.localeCompare(b.id),
  );
  expect(others.map(({ commit }) => commit)).not.toContain(changed?.commit);
  expect(new Set(others.map(({ commit }) => commit)).size).toBe(1);
});
